"""Fleets on a real Dask cluster of several processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nigari.fleet import aio
from nigari.fleet.cluster import ClusterWorkers
from nigari.fleet.runs.plan_fleet import FleetPlan
from nigari.fleet.runs.results import FleetResult, UnitFinished, UnitStarted, UnitStatus
from nigari.fleet.work.tasks import TaskOptions
from tests.cli.process import ROOT, environment, nigari
from tests.fleet.trees import reading, write_tree

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.real,
    pytest.mark.filterwarnings("default"),  # of the libraries of Dask
]


class States(BaseHTTPRequestHandler):
    """A server that keeps states and locks them."""

    contents: dict[str, bytes] = {}  # noqa: RUF012 - shared by all requests
    locks: dict[str, bytes] = {}  # noqa: RUF012 - as above
    refused: set[str] = set()  # noqa: RUF012 - as above

    def do_GET(self) -> None:
        content = self.contents.get(self.path)
        self._answer(200 if content else 404, content or b"")

    def do_POST(self) -> None:
        path, body = self.path.partition("?")[0], self._body()
        if path in self.refused:
            self._answer(403)
            return
        self.contents[path] = body
        self._answer(200)

    def do_LOCK(self) -> None:
        body = self._body()
        held = self.locks.setdefault(self.path, body)
        self._answer(200 if held == body else 423, held)

    def do_UNLOCK(self) -> None:
        self._body()
        self.locks.pop(self.path, None)
        self._answer(200)

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _answer(self, status: int, content: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@pytest.fixture
def states() -> Iterator[str]:
    """The address of a server for states."""
    States.contents, States.locks, States.refused = {}, {}, set()
    server = ThreadingHTTPServer(("127.0.0.1", 0), States)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


class Machines:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._begin("scheduler", "scheduler", "--port", "0", "--no-dashboard")
        self.address = self._told("scheduler", "Scheduler at:").split()[-1]
        for name in ("one", "two"):
            self.add(name)

    def add(self, name: str) -> None:
        scratch = ("--local-directory", str(self._directory / name))
        flags = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name)
        self._begin(name, "worker", self.address, *flags, *scratch)

    def _begin(self, name: str, kind: str, *arguments: str) -> None:
        with open(self._directory / f"{name}.log", "wb") as log:
            self.processes[name] = subprocess.Popen(
                (sys.executable, "-m", "distributed.cli.dask_" + kind, *arguments),
                env=environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}"),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _told(self, name: str, text: str) -> str:
        for _ in range(600):
            for line in (self._directory / f"{name}.log").read_text().splitlines():
                if text in line:
                    return line
            time.sleep(0.1)
        raise AssertionError((self._directory / f"{name}.log").read_text())

    def kill(self, name: str) -> None:
        """The end of a machine: the whole group of processes."""
        process = self.processes.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        for name in list(self.processes):
            self.kill(name)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    directory = tmp_path / "machines"
    directory.mkdir()
    found = Machines(directory)
    yield found
    found.close()


def _unit(states: str, name: str, needs: str = "", command: str = "true") -> str:
    read = f"""data "terraform_remote_state" "up" {{
  backend = "http"
  config  = {{ address = "{states}/{needs}" }}
}}
"""
    given = f"data.terraform_remote_state.up.outputs.{needs}" if needs else '"first"'
    return f"""
terraform {{
  backend "http" {{
    address      = "{states}/{name}"
    lock_address = "{states}/{name}"
    unlock_address = "{states}/{name}"
  }}
}}
{read if needs else ""}
module "m" {{
  source = "../modules/m"
  input  = {given}
}}
resource "terraform_data" "said" {{
  input = module.m.text
  provisioner "local-exec" {{ command = "echo {name} $PASSED >> $JOURNAL && {command}" }}
}}
output "{name}" {{ value = terraform_data.said.id }}
"""


_MODULE = """
variable "input" {}
output "text" { value = templatefile("${path.module}/t.tpl", { x = var.input }) }
"""


def _tree(root: Path, states: str, slow: str = "true") -> Path:
    return write_tree(
        root,
        {
            "a/main.tf": _unit(states, "a"),
            "b/main.tf": _unit(states, "b", "a", slow),
            "c/main.tf": _unit(states, "c", "b"),
            "x/main.tf": _unit(states, "x"),
            "modules/m/main.tf": _MODULE,
            "modules/m/t.tpl": "<${x}>",
        },
    )


class Work:
    """A fleet whose work is done by the machines."""

    def __init__(self, root: Path, machines: Machines) -> None:
        self.root = root
        self.journal = root.parent / "done"
        self._address = machines.address

    def open(self) -> aio.Fleet:
        environ = environment(JOURNAL=str(self.journal), PASSED="passed", SECRET="hunter2")
        return aio.open(
            self.root,
            environ=environ,
            workers=lambda found: ClusterWorkers(
                self._address, found, pass_env=["JOURNAL", "PASSED"], environ=environ
            ),
        )

    def lines(self) -> list[str]:
        return self.journal.read_text().split("\n")[:-1] if self.journal.exists() else []


def test_a_fleet_is_planned_and_applied_elsewhere(
    tmp_path: Path, states: str, machines: Machines
) -> None:
    work = Work(_tree(tmp_path / "fleet", states), machines)

    async def whole() -> tuple[FleetPlan, FleetResult, FleetPlan]:
        async with work.open() as fleet:
            plan = await fleet.plan()
            result = await fleet.apply(plan)
            return plan, result, await fleet.plan(keep=False)

    plan, result, after = asyncio.run(whole())
    assert not plan.has_failed, [each.result.diagnostics for each in plan.units.values()]
    assert plan.totals == (4, 0, 0)
    assert not result.has_failed, [each.diagnostics for each in result.units.values()]
    assert after.changed == []
    assert sorted(work.lines()) == ["a passed", "b passed", "c passed", "x passed"]
    assert [each[0] for each in work.lines() if each[0] != "x"] == ["a", "b", "c"]
    # Nothing has been made here: workers have their own copies, without what is hidden.
    assert not (work.root / "a" / ".terraform").exists()
    copies = list((tmp_path / "machines").glob("*/**/nigari-fleet/*/modules/m/t.tpl"))
    assert copies


def test_a_local_state_stays_here(tmp_path: Path, machines: Machines) -> None:
    root = write_tree(tmp_path / "fleet", {"a/main.tf": 'resource "terraform_data" "x" {}'})
    work = Work(root, machines)

    async def whole() -> FleetPlan:
        async with work.open() as fleet:
            return await fleet.plan(keep=False)

    (problem,) = asyncio.run(whole()).units["a"].result.diagnostics
    assert problem.summary == "State that other machines cannot reach"


def _killing(work: Work, machines: Machines, victim: str | None) -> FleetResult:
    """Apply, and have a machine killed that is applying unit b."""

    async def whole() -> FleetResult:
        async with work.open() as fleet:
            plan = await fleet.plan()
            applying = asyncio.create_task(fleet.apply(plan))
            for _ in range(1200):
                if any(line.startswith("b") for line in work.lines()):
                    break
                await asyncio.sleep(0.05)
            machines.kill(victim or _busy(machines))
            return await asyncio.wait_for(applying, 120)

    return asyncio.run(whole())


def _busy(machines: Machines) -> str:
    """The machine on which the provisioner of b runs."""
    for name in ("one", "two"):
        pid = machines.processes[name].pid
        found = subprocess.run(
            ("pgrep", "-g", str(pid), "-f", "sleep 4"), capture_output=True, check=False
        )
        inner = subprocess.run(("pgrep", "-P", str(pid)), capture_output=True, check=False)
        if found.stdout or inner.stdout:
            return name
    raise AssertionError("nobody is busy")


def test_a_lost_machine_does_not_repeat_an_apply(
    tmp_path: Path, states: str, machines: Machines
) -> None:
    work = Work(_tree(tmp_path / "fleet", states, "sleep 4"), machines)
    result = _killing(work, machines, None)
    assert result.units["b"].status is UnitStatus.LOST
    assert result.units["c"].status is UnitStatus.SKIPPED
    assert result.units["x"].is_done
    assert [line[0] for line in work.lines()].count("b") == 1
    # The lock of the backend says that somebody was there; who has looked removes it.
    assert States.locks
    States.locks.clear()

    async def go_on() -> FleetResult:
        async with work.open() as fleet:
            begun = fleet.unfinished()
            assert begun is not None
            return await fleet.resume(begun)

    result = asyncio.run(go_on())
    assert not result.has_failed, [each.diagnostics for each in result.units.values()]
    lines = [line[0] for line in work.lines()]
    assert (lines.count("a"), lines.count("c"), lines.count("x")) == (1, 1, 1)


def test_a_state_that_could_not_be_stored_comes_back(
    tmp_path: Path, states: str, machines: Machines
) -> None:
    work = Work(_tree(tmp_path / "fleet", states), machines)
    States.refused = {"/b"}

    async def apply() -> FleetResult:
        async with work.open() as fleet:
            begun = fleet.unfinished()
            return await (fleet.apply() if begun is None else fleet.resume(begun))

    result = asyncio.run(apply())
    assert result.units["b"].status is UnitStatus.FAILED
    (kept,) = (work.root / "b").glob("errored.b-*.tfstate")
    assert any(str(kept) in each.detail for each in result.units["b"].diagnostics)
    # It is here and nowhere else, and stored before the apply goes on.
    assert not list((tmp_path / "machines").glob("*/**/errored*"))
    States.refused = set()
    result = asyncio.run(apply())
    assert not result.has_failed, [each.diagnostics for each in result.units.values()]
    assert not list(work.root.glob("*/errored*"))
    assert Counter(line[0] for line in work.lines()) == {"a": 1, "b": 1, "c": 1, "x": 1}


def test_the_scheduler_is_killed(tmp_path: Path, states: str, machines: Machines) -> None:
    work = Work(_tree(tmp_path / "fleet", states, "sleep 4"), machines)
    result = _killing(work, machines, "scheduler")
    assert result.units["b"].status is UnitStatus.LOST
    assert result.units["c"].status is UnitStatus.SKIPPED


def _wide(root: Path, states: str) -> Path:
    """Twenty units, of which the second ten need one of the first ten each."""
    units = {
        f"u{n}/main.tf": _unit(states, f"u{n}", "" if n < 10 else f"u{n - 10}") for n in range(20)
    }
    write_tree(root, units)
    return write_tree(root, {"modules/m/main.tf": _MODULE, "modules/m/t.tpl": "<${x}>"})


def _planning(
    work: Work,
    enough: int,
    meanwhile: Callable[[asyncio.Task[FleetPlan]], object],
    options: TaskOptions | None = None,
) -> FleetPlan:
    """Plan, and have something happen once so many units are planned and another one has begun."""

    async def whole() -> FleetPlan:
        is_time = asyncio.Event()
        finished: list[str] = []

        def listen(event: UnitStarted | UnitFinished) -> None:
            if isinstance(event, UnitFinished):
                finished.append(event.unit)
            elif len(finished) >= enough:
                is_time.set()

        async with work.open() as fleet:
            plan = fleet.plan(options=options or TaskOptions(), keep=False, listen=listen)
            planning = asyncio.create_task(plan)
            await asyncio.wait_for(is_time.wait(), 240)
            meanwhile(planning)
            return await asyncio.wait_for(planning, 240)

    return asyncio.run(whole())


@pytest.mark.parametrize("enough", [0, 6])
def test_a_lost_machine_while_planning(
    tmp_path: Path, states: str, machines: Machines, enough: int
) -> None:
    work = Work(_wide(tmp_path / "fleet", states), machines)
    # A machine that dies while it holds a lock keeps it, since this backend knows no better.
    options = TaskOptions(lock=False)
    plan = _planning(work, enough, lambda _: machines.kill("one"), options)
    # What the machine had planned already, and others still need, is planned again as well.
    assert not plan.has_failed, [each.result.diagnostics for each in plan.units.values()]
    assert plan.totals == (20, 0, 0)


def test_the_scheduler_is_killed_while_planning(
    tmp_path: Path, states: str, machines: Machines
) -> None:
    work = Work(_wide(tmp_path / "fleet", states), machines)
    plan = _planning(work, 3, lambda _: machines.kill("scheduler"))
    found = Counter(each.result.status for each in plan.units.values())
    assert found[UnitStatus.DONE] >= 3
    assert found[UnitStatus.LOST] > 0
    assert set(found) <= {UnitStatus.DONE, UnitStatus.LOST, UnitStatus.SKIPPED}


def test_an_interruption_begins_nothing_more(
    tmp_path: Path, states: str, machines: Machines
) -> None:
    work = Work(_wide(tmp_path / "fleet", states), machines)
    plan = _planning(work, 2, lambda planning: planning.cancel())
    found = Counter(each.result.status for each in plan.units.values())
    assert found[UnitStatus.DONE] >= 2
    assert found[UnitStatus.SKIPPED] >= 10
    assert set(found) == {UnitStatus.DONE, UnitStatus.SKIPPED}


_GIVEN = """
unit "first" {
  directory = "a"
}
unit "second" {
  directory = "b"
  variables = { given = "${file("word")} ${unit.first.outputs.known}" }
}
unit "third" {
  directory  = "c"
  depends_on = [unit.second]
}
"""


def _simple(states: str, name: str, rest: str) -> str:
    return f"""
terraform {{
  backend "http" {{ address = "{states}/{name}" }}
}}
{rest}
"""


def test_outputs_travel_from_worker_to_worker(
    tmp_path: Path, states: str, machines: Machines
) -> None:
    """Values of `fleet.hcl` are worked out where the unit is planned, with the files it reads."""
    root = write_tree(
        tmp_path / "fleet",
        {
            "fleet.hcl": _GIVEN,
            "word": "hello",
            "a/main.tf": _simple(states, "a", 'output "known" { value = "world" }'),
            "b/main.tf": _simple(
                states, "b", 'variable "given" {}\noutput "said" { value = var.given }'
            ),
            "c/main.tf": _simple(states, "c", ""),
        },
    )
    work = Work(root, machines)

    async def planned() -> FleetPlan:
        async with work.open() as fleet:
            return await fleet.plan(keep=False)

    plan = asyncio.run(planned())
    assert not plan.has_failed, [each.result.diagnostics for each in plan.units.values()]
    outputs = plan.units["second"].result.outputs
    assert outputs is not None
    assert outputs["said"].to_python() == "hello world"
    # A failure is passed on as such, and what is wrong with fleet.hcl is reported where it is written.
    write_tree(root, {"fleet.hcl": _GIVEN.replace("outputs.known", "outputs.unknown")})
    plan = asyncio.run(planned())
    assert plan.units["first"].result.is_done
    (problem,) = plan.units["second"].result.diagnostics
    assert problem.subject is not None
    assert problem.subject.filename == "fleet.hcl"
    third = plan.units["third"].result
    assert (third.status, third.because_of) == (UnitStatus.SKIPPED, "second")


# -- the command line --------------------------------------------------------------------------------

_OWN = """
from distributed import LocalCluster


class Small(LocalCluster):
    def __init__(self) -> None:
        super().__init__(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        )
"""


def _local(root: Path) -> dict[str, str]:
    """A fleet with states in local files, and a module with a cluster of one's own."""
    write_tree(
        root,
        {
            "a/main.tf": _noted("a", '"first"'),
            "b/main.tf": reading("a", "../a/terraform.tfstate")
            + _noted("b", "data.terraform_remote_state.a.outputs.a"),
            "python/own_cluster.py": _OWN,
        },
    )
    return {"PYTHONPATH": f"{root / 'python'}:{ROOT / 'src'}"}


def _noted(name: str, given: str) -> str:
    return f"""
resource "terraform_data" "made" {{
  input = {given}
  provisioner "local-exec" {{ command = "echo {name} >> ../made" }}
}}
output "{name}" {{ value = terraform_data.made.id }}
"""


def test_a_cluster_of_ones_own_that_shares_files(tmp_path: Path) -> None:
    settings = _local(tmp_path)
    flags = ("-cluster=own_cluster:Small", "-cluster-shares-files")
    done = nigari("fleet", "apply", "-auto-approve", *flags, cwd=tmp_path, settings=settings)
    assert done.code == 0, done.out + done.err
    assert (tmp_path / "made").read_text().split() == ["a", "b"]
    # Nothing was sent anywhere: the states are where they would be without a cluster.
    assert (tmp_path / "b" / "terraform.tfstate").exists()
    done = nigari("fleet", "plan", "-detailed-exitcode", cwd=tmp_path, settings=settings)
    assert done.code == 0, done.out + done.err
    # Without the option, a state in a local file is out of reach.
    done = nigari("fleet", "plan", flags[0], cwd=tmp_path, settings=settings)
    assert done.code == 1
    assert "-cluster-shares-files" in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        ("own_cluster:Large", "Cannot create the cluster"),
        ("no_such_module:Small", "Cannot create the cluster"),
        ("tcp://127.0.0.1:9", "Cannot reach the cluster"),
    ],
)
def test_clusters_that_are_not_there(tmp_path: Path, cluster: str, said: str) -> None:
    settings = {**_local(tmp_path), "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s"}
    flags = ("-auto-approve", f"-cluster={cluster}", "-cluster-shares-files")
    done = nigari("fleet", "apply", *flags, cwd=tmp_path, settings=settings)
    assert done.code == 1
    assert said in done.err
    assert not (tmp_path / "made").exists()

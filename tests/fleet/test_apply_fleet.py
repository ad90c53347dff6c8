"""Applying plans of fleets: order, failures, going on."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

import nigari
from nigari import SessionError
from nigari.fleet import aio
from nigari.fleet.runs.apply_fleet import refuse
from nigari.fleet.runs.journal import Journal
from nigari.fleet.runs.results import FleetResult, UnitResult, UnitStatus
from nigari.fleet.units.unit import fleet_directory
from nigari.fleet.work.tasks import TaskOptions
from nigari.plan.model.changes import PlanMode
from tests.cli.process import command, environment
from tests.cli.process import nigari as run
from tests.fleet.trees import DECLARED, reading, write_tree


def _unit(name: str, needs: str = "", command: str = "true") -> str:
    """A unit that leaves a line in a file when it is made, and one when it is destroyed."""
    given = f"data.terraform_remote_state.up.outputs.{needs}" if needs else '"first"'
    read = reading("up", f"../{needs}/terraform.tfstate") if needs else ""
    return f"""
{read}
resource "terraform_data" "made" {{
  input = {given}
  provisioner "local-exec" {{ command = "echo made {name} >> ../journal && {command}" }}
  provisioner "local-exec" {{
    when    = destroy
    command = "echo destroyed {name} >> ../journal"
  }}
}}
output "{name}" {{ value = terraform_data.made.id }}
"""


CHAIN = {
    "a/main.tf": _unit("a"),
    "b/main.tf": _unit("b", "a"),
    "c/main.tf": _unit("c", "b"),
    "x/main.tf": _unit("x"),
}


def _journal(root: Path) -> list[str]:
    path = root / "journal"
    return path.read_text().split("\n")[:-1] if path.exists() else []


def _apply(root: Path, mode: PlanMode = PlanMode.NORMAL) -> FleetResult:
    async def whole() -> FleetResult:
        async with aio.open(root, jobs=2) as fleet:
            plan = await fleet.plan(None, TaskOptions(mode))
            return await fleet.apply(plan)

    return asyncio.run(whole())


def _statuses(result: FleetResult) -> dict[str, str]:
    return {name: each.status.value for name, each in result.units.items()}


def test_units_are_applied_after_what_they_need(tmp_path: Path) -> None:
    write_tree(tmp_path, CHAIN)
    assert not _apply(tmp_path).has_failed
    made = _journal(tmp_path)
    assert sorted(made) == ["made a", "made b", "made c", "made x"]
    assert [each for each in made if each != "made x"] == ["made a", "made b", "made c"]
    ids = {name: nigari.open(tmp_path / name).outputs[name].to_python() for name in "abc"}
    stored = nigari.open(tmp_path / "b").state.resources["terraform_data.made"]
    assert str(ids["a"]) in stored.json


def test_destroy_is_in_reverse(tmp_path: Path) -> None:
    write_tree(tmp_path, CHAIN)
    _apply(tmp_path)
    (tmp_path / "journal").unlink()
    assert not _apply(tmp_path, PlanMode.DESTROY).has_failed
    destroyed = [each for each in _journal(tmp_path) if each != "destroyed x"]
    assert destroyed == ["destroyed c", "destroyed b", "destroyed a"]


def test_a_failure_stops_what_depends_on_it_and_apply_goes_on(tmp_path: Path) -> None:
    write_tree(tmp_path, {**CHAIN, "b/main.tf": _unit("b", "a", "test -e ../fixed")})
    result = _apply(tmp_path)
    assert _statuses(result) == {"a": "done", "b": "failed", "c": "skipped", "x": "done"}
    assert result.units["c"].because_of == "b"
    write_tree(tmp_path, {"fixed": ""})

    async def go_on() -> FleetResult:
        async with aio.open(tmp_path, jobs=2) as fleet:
            begun = fleet.unfinished()
            assert begun is not None
            assert (begun.done, begun.units) == (2, 4)
            return await fleet.resume(begun, approve=_note)

    asked: list[str] = []

    async def _note(one: UnitResult, _: str) -> bool:
        asked.append(one.unit)
        return True

    assert not asyncio.run(go_on()).has_failed
    # What failed is there and tainted: to replace it was not agreed to.
    assert asked == ["b"]
    assert _journal(tmp_path).count("made a") == 1
    assert _journal(tmp_path).count("made c") == 1
    assert aio.open(tmp_path).unfinished() is None


def test_variables_that_were_wrong_are_set_right(tmp_path: Path) -> None:
    guarded = _unit("b", "a", "test ${var.good} = true") + 'variable "good" { type = bool }\n'
    write_tree(tmp_path, {**CHAIN, "b/main.tf": guarded, "b/terraform.tfvars": "good = false"})
    assert _statuses(_apply(tmp_path))["b"] == "failed"
    write_tree(tmp_path, {"b/terraform.tfvars": "good = true"})
    done = run("fleet", "apply", "-auto-approve", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    assert _journal(tmp_path).count("made a") == 1


def test_a_destroy_does_not_go_on_with_an_apply(tmp_path: Path) -> None:
    write_tree(tmp_path, {**CHAIN, "b/main.tf": _unit("b", "a", "false")})
    assert _apply(tmp_path).has_failed
    done = run("fleet", "destroy", "-auto-approve", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    assert "made c" not in _journal(tmp_path)
    assert "destroyed a" in _journal(tmp_path)
    assert aio.open(tmp_path).unfinished() is None


def test_what_is_not_agreed_to_is_not_done(tmp_path: Path) -> None:
    write_tree(tmp_path, {**CHAIN, "a/main.tf": _unit("a", "", "test -e ../fixed")})
    assert _apply(tmp_path).has_failed
    write_tree(tmp_path, {"fixed": "", "b/more.tf": 'resource "terraform_data" "more" {}'})

    async def go_on() -> FleetResult:
        async with aio.open(tmp_path, jobs=2) as fleet:
            begun = fleet.unfinished()
            assert begun is not None
            return await fleet.resume(begun, approve=refuse)

    result = asyncio.run(go_on())
    assert _statuses(result)["a"] == UnitStatus.UNAPPROVED.value
    assert _statuses(result)["b"] == "skipped"
    assert "made b" not in _journal(tmp_path)


def test_a_saved_plan_is_applied_as_it_was_saved(tmp_path: Path) -> None:
    write_tree(tmp_path, DECLARED)
    assert run("fleet", "init", cwd=tmp_path).code == 0
    done = run("fleet", "plan", "-out=fleet.plan", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "4 to add" in done.out
    # Whatever has become of the configuration since.
    write_tree(tmp_path, {"network/more.tf": 'resource "terraform_data" "more" {}'})
    done = run("fleet", "apply", "fleet.plan", cwd=tmp_path)
    assert done.code == 0, done.err + done.out
    done = run("fleet", "plan", cwd=tmp_path)
    assert "Plan: 2 to add" in done.out
    done = run("fleet", "apply", "fleet.plan", cwd=tmp_path)
    assert "already applied" in done.err


def test_a_plan_whose_state_has_changed_is_refused(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/main.tf": _unit("a")})

    async def whole() -> FleetResult:
        async with aio.open(tmp_path, jobs=1) as fleet:
            plan = await fleet.plan()
            await nigari.aio.open(tmp_path / "a").apply()
            return await fleet.apply(plan)

    result = asyncio.run(whole())
    (problem,) = result.units["a"].diagnostics
    assert "the state has changed" in problem.detail


def test_asking_on_the_command_line(tmp_path: Path) -> None:
    write_tree(tmp_path, CHAIN)
    done = run("fleet", "apply", cwd=tmp_path, stdin="no\n")
    assert done.code == 1
    assert not _journal(tmp_path)
    done = run("fleet", "apply", cwd=tmp_path, stdin="yes\n")
    assert done.code == 0, done.err
    assert len(_journal(tmp_path)) == 4
    done = run("fleet", "apply", cwd=tmp_path)
    assert "No changes in 4 units" in done.out


def test_nobody_else_applies_at_the_same_time(tmp_path: Path) -> None:
    from nigari.file_lock import FileLock
    from nigari.fleet.runs.journal import exclusive

    write_tree(tmp_path, {"a/main.tf": _unit("a")})
    with exclusive(str(tmp_path)) as lock:
        assert lock is FileLock.HELD
        with pytest.raises(SessionError, match="Another process is applying"):
            _apply(tmp_path)


# -- faults ----------------------------------------------------------------------------------------

_SLOW = {**CHAIN, "b/main.tf": _unit("b", "a", "sleep 2")}


def _until(condition: Path, text: str) -> None:
    for _ in range(600):
        if condition.exists() and text in condition.read_text():
            return
        time.sleep(0.05)
    raise AssertionError(f"{text} never happened")


def _start(root: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command("fleet", *arguments),
        cwd=root,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _children(pid: int) -> list[int]:
    done = subprocess.run(("pgrep", "-P", str(pid)), capture_output=True, check=False)
    return [int(each) for each in done.stdout.split()]


def _worker_of(pid: int, root: Path) -> int:
    """The worker whose log is that of unit b."""
    for child in _children(pid):
        for link in (f"/proc/{child}/fd/1",):
            if "/logs/b-" in os.readlink(link):
                return child
    raise AssertionError("no worker has unit b")


def _go_on(root: Path) -> Mapping[str, int]:
    """Go on until everything is done; how often each thing was made."""
    done = run("fleet", "apply", "-auto-approve", "-lock-timeout=20s", cwd=root)
    assert done.code == 0, done.out + done.err
    plan = run("fleet", "plan", "-detailed-exitcode", cwd=root)
    assert plan.code == 0, plan.out
    lines = _journal(root)
    return {name: lines.count(f"made {name}") for name in "abcx"}


def test_the_program_is_killed(tmp_path: Path) -> None:
    write_tree(tmp_path, _SLOW)
    process = _start(tmp_path, "apply", "-auto-approve", "-jobs=2")
    _until(tmp_path / "journal", "made b")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    # The worker finishes what is under way and stores it.
    made = _go_on(tmp_path)
    assert made == {"a": 1, "b": 1, "c": 1, "x": 1}


def test_a_worker_is_killed(tmp_path: Path) -> None:
    write_tree(tmp_path, _SLOW)
    process = _start(tmp_path, "apply", "-auto-approve", "-jobs=2")
    _until(tmp_path / "journal", "made b")
    os.kill(_worker_of(process.pid, tmp_path), signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"worker process ended" in out
    assert b"c: not begun, because b failed" in out
    made = _go_on(tmp_path)
    # Nobody knows whether what was under way was made: what the state does not have is made again.
    assert (made["a"], made["c"], made["x"]) == (1, 1, 1)


def test_an_interruption(tmp_path: Path) -> None:
    write_tree(tmp_path, _SLOW)
    process = _start(tmp_path, "apply", "-auto-approve", "-jobs=2")
    _until(tmp_path / "journal", "made b")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 1
    assert "made c" not in _journal(tmp_path)
    # The provisioner that was under way is stopped, so that its object is made again.
    assert _go_on(tmp_path) == {"a": 1, "b": 2, "c": 1, "x": 1}


def test_a_worker_is_killed_while_planning(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"u{n}/main.tf": _unit(f"u{n}") for n in range(30)})
    process = _start(tmp_path, "plan", "-jobs=1")
    deadline = time.monotonic() + 20
    while not _children(process.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.4)
    for child in _children(process.pid):
        os.kill(child, signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    assert b"Plan: 30 to add" in out


def test_a_torn_journal_is_read(tmp_path: Path) -> None:
    directory = Path(fleet_directory(str(tmp_path))) / "id"
    journal = Journal(str(directory))
    journal.begin("id", ["a", "b"], False)
    journal.start("a")
    journal.finish("a", "done")
    journal.start("b")
    journal.close()
    with open(directory / "journal.jsonl", "a") as file:
        file.write('{"event": "do')
    again = Journal(str(directory))
    assert (again.state("a"), again.state("b"), again.has_ended) == ("done", "start", False)
    again.begin("id", ["a", "b"], False)
    again.finish("b", "done")
    again.end()
    again.close()
    assert Journal(str(directory)).has_ended


def test_units_that_wait_do_not_begin_after_an_interruption(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"u{n}/main.tf": _unit(f"u{n}", "", "sleep 2") for n in range(6)})
    process = _start(tmp_path, "apply", "-auto-approve", "-jobs=1")
    _until(tmp_path / "journal", "made")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert len(_journal(tmp_path)) == 1, out


def test_a_held_lock(tmp_path: Path) -> None:
    write_tree(tmp_path, CHAIN)
    holder = subprocess.Popen(
        command("apply", "-auto-approve"),
        cwd=write_tree(tmp_path / "x", {"slow.tf": _SLEEPER, "hold": ""}),
        env=environment(),
        stdout=subprocess.DEVNULL,
    )
    _until(tmp_path / "x" / "slow", "begun")
    done = run("fleet", "apply", "-auto-approve", cwd=tmp_path)
    (tmp_path / "x" / "hold").unlink()
    holder.wait(timeout=60)
    assert done.code == 1
    assert "x/terraform.tfstate" in done.err or "lock" in done.err
    # The others do not wait for it.
    assert {"made a", "made b", "made c"} <= set(_journal(tmp_path))
    assert run("fleet", "apply", "-auto-approve", cwd=tmp_path).code == 0


_SLEEPER = """
resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "echo begun > slow && while [ -e hold ]; do sleep 0.1; done"
  }
}
"""


def test_a_broken_backend(tmp_path: Path) -> None:
    broken = 'terraform {\n  backend "local" {\n    path = "nowhere/x/terraform.tfstate"\n  }\n}\n'
    files = {**CHAIN, "x/backend.tf": broken}
    write_tree(tmp_path, files)
    assert run("fleet", "init", cwd=tmp_path).code == 0
    write_tree(tmp_path, {"x/nowhere": "a file, and no directory"})
    done = run("fleet", "apply", "-auto-approve", cwd=tmp_path)
    assert done.code == 1
    assert {"made a", "made b", "made c"} <= set(_journal(tmp_path))
    assert "made x" not in _journal(tmp_path)
    (tmp_path / "x" / "nowhere").unlink()
    done = run("fleet", "apply", "-auto-approve", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    assert sorted(_journal(tmp_path)) == ["made a", "made b", "made c", "made x"]


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, CHAIN)
    count, sync = 0, os.fsync

    def fail_later(file: int) -> None:
        nonlocal count
        count += 1
        if count > 3:
            raise OSError(28, "No space left on device")
        sync(file)

    async def whole() -> FleetResult:
        async with aio.open(tmp_path, jobs=1) as fleet:
            plan = await fleet.plan()
            monkeypatch.setattr(os, "fsync", fail_later)
            return await fleet.apply(plan)

    result = asyncio.run(whole())
    monkeypatch.undo()
    problems = [each for unit in result.units.values() for each in unit.diagnostics]
    assert "No space left on device" in problems[0].detail
    made = len(_journal(tmp_path))
    assert 0 < made < 4
    assert run("fleet", "apply", "-auto-approve", cwd=tmp_path).code == 0
    assert sorted(_journal(tmp_path)) == ["made a", "made b", "made c", "made x"]

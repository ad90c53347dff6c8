"""Sessions: the whole life of a directory from Python, away from the process's own directory."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path

import pytest

import nigari
from nigari import aio, cty
from nigari.audience import set_command_line
from nigari.backends.locking import LockInfo
from nigari.backends.stores.inmem.store import InMemoryStore, forget_all
from nigari.cli.command import Terminal
from nigari.cli.main import run
from nigari.diagnostics import Diagnostic, Severity
from nigari.events import Event, Failed, Finished, ProvisionerOutput, Started
from nigari.session import Session
from nigari.workspace.session.failure import SessionError

MAIN = """
variable "env" {
  default = "dev"
}

resource "terraform_data" "a" {
  input            = "in ${var.env}"
  triggers_replace = var.env
}

output "where" {
  value = terraform_data.a.output
}

output "secret" {
  value     = "hidden"
  sensitive = true
}
"""


@pytest.fixture
def infra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a configuration, while the process is in another one."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "nothing.tfrc").touch()
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "nothing.tfrc"))
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = tmp_path / "infra"
    found.mkdir()
    (found / "main.tf").write_text(MAIN)
    return found


def commanded(directory: Path, *arguments: str) -> tuple[int, str]:
    """What the command line prints for the same directory."""
    terminal = Terminal(StringIO(), StringIO(), StringIO(), dict(os.environ))
    here = Path.cwd()
    try:
        status = run([f"-chdir={directory}", *arguments], terminal)
    finally:
        os.chdir(here)
    assert isinstance(terminal.stdout, StringIO)
    return status, terminal.stdout.getvalue()


def _until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        time.sleep(0.01)


def test_the_whole_life(infra: Path) -> None:
    events: list[Event] = []
    with nigari.open(infra, {"env": "prod"}) as session:
        session.init()
        assert session.validate() == ()
        plan = session.plan()
        assert str(plan.summary) == "1 to add, 0 to change, 0 to destroy"
        assert [(each.address, each.action) for each in plan.changes] == [
            ("terraform_data.a", "create")
        ]
        result = session.apply(plan, listen=events.append)
        assert result.outputs["where"].to_python() == "in prod"
        assert session.outputs["secret"].to_python() == "hidden"
        assert list(session.state.resources) == ["terraform_data.a"]
        assert session.state.resources["terraform_data.a"].attributes["input"] == {
            "value": "in prod",
            "type": "string",
        }
        assert session.plan().is_empty
        assert str(session.destroy().state) == repr(session.state)
        assert not session.state.resources
    assert [str(type(each).__name__) for each in events] == ["Started", "Finished"]
    assert isinstance(events[1], Finished)
    assert (events[1].address, events[1].action) == ("terraform_data.a", "create")
    assert not list(Path.cwd().iterdir()), "nothing is written where the process is"


def test_a_change_says_why(infra: Path) -> None:
    nigari.open(infra, {"env": "a"}).apply()
    (change,) = nigari.open(infra, {"env": "b"}).plan().changes
    assert change.action == "replace"
    assert change.steps == ("delete", "create")
    assert change.destroys
    assert change.replaced_because == ("triggers_replace",)
    assert change.why == "because triggers_replace cannot be changed in place"
    assert change.reason == "replace_because_cannot_update"
    assert change.before.attribute("input").to_python() == "in a"
    assert not change.after.attribute("id").is_known
    assert repr(change) == f"<replace terraform_data.a, {change.why}>"


PATHS = """
resource "terraform_data" "p" {
  input = {
    file  = file("text")
    abs   = abspath("text")
    cwd   = path.cwd
    root  = path.root
    found = fileset(path.module, "*.txt")
  }
  provisioner "local-exec" {
    command = "echo run > made.txt"
  }
}
"""


def test_everything_is_relative_to_the_directory(infra: Path) -> None:
    (infra / "main.tf").write_text(PATHS)
    (infra / "text").write_text("content")
    (infra / "a.txt").touch()
    result = nigari.open("../infra").apply()
    value = result.state.resources["terraform_data.p"].attributes["input"]
    assert isinstance(value, dict)
    assert value["value"] == {
        "file": "content",
        "abs": str(infra / "text"),
        "cwd": str(infra),
        "root": ".",
        "found": ["a.txt"],
    }
    assert (infra / "made.txt").read_text() == "run\n"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "in environment"),
        ({"var_files": ["values.tfvars"]}, "in file"),
        ({"var_files": ["values.tfvars"], "variables": {"env": "caller"}}, "in caller"),
    ],
)
def test_where_values_come_from(infra: Path, more: dict[str, object], expected: str) -> None:
    Path("values.tfvars").write_text('env = "file"\n')
    environ = {**os.environ, "TF_VAR_env": "environment"}
    session = nigari.open(infra, environ=environ, **more)  # type: ignore[arg-type]
    assert session.plan().outputs["where"].is_known is False
    assert session.apply().outputs["where"].to_python() == expected


def test_the_environment_is_a_parameter(infra: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_VAR_env", "of the process")
    assert nigari.open(infra, environ={}).apply().outputs["where"].to_python() == "in dev"


def test_values_are_asked_for_only_where_someone_answers(infra: Path) -> None:
    (infra / "more.tf").write_text('variable "needed" {\n  description = "Why."\n}\n')
    asked: list[tuple[str, str]] = []

    def answer(name: str, description: str) -> str:
        asked.append((name, description))
        return "x"

    nigari.open(infra, ask=answer).plan()
    assert asked == [("var.needed", "Why.")]
    with pytest.raises(nigari.SessionError, match="No value for variable"):
        nigari.open(infra).plan()


def test_a_failure_has_the_diagnostics(infra: Path) -> None:
    (infra / "more.tf").write_text('output "x" {\n  value = local.nothing\n}\n')
    with pytest.raises(SessionError) as failure:
        nigari.open(infra).plan()
    (error,) = failure.value.errors
    assert error.subject is not None
    assert error.subject.filename == "more.tf"
    assert "value = local.nothing" in str(failure.value)
    assert "<pre" in failure.value._repr_html_()
    assert repr(error) == f"<error: {error.summary} at more.tf:2,11-24>"
    again: SessionError = pickle.loads(pickle.dumps(failure.value))
    assert str(again) == str(failure.value)


def test_warnings_are_on_the_result(infra: Path) -> None:
    (infra / "more.tf").write_text(
        'check "c" {\n  assert {\n    condition     = var.env == "x"\n    error_message = "Bad."\n  }\n}\n'
    )
    plan = nigari.open(infra).plan()
    assert [each.severity for each in plan.warnings] == [Severity.WARNING]


def test_options_that_contradict_each_other(infra: Path) -> None:
    session = nigari.open(infra)
    for options in (
        {"destroy": True, "refresh_only": True},
        {"targets": ["a.b"], "excludes": ["c.d"]},
        {"refresh_only": True, "refresh": False},
        {"replace": ["a.b"], "destroy": True},
    ):
        with pytest.raises(ValueError, match=r"cannot be used|nothing to do"):
            session.plan(**options)


def test_targets_and_replacement(infra: Path) -> None:
    (infra / "more.tf").write_text('resource "terraform_data" "b" {}\n')
    session = nigari.open(infra)
    chosen = session.plan(targets=["terraform_data.b"])
    assert [each.address for each in chosen.changes] == ["terraform_data.b"]
    session.apply()
    again = session.plan(replace=["terraform_data.b"])
    assert [(each.address, each.why) for each in again.changes] == [
        ("terraform_data.b", "because that was requested")
    ]
    with pytest.raises(nigari.SessionError, match="address"):
        session.plan(targets=["no address"])


# -- saved plans ----------------------------------------------------------------------------------


def test_a_plan_that_was_saved(infra: Path) -> None:
    plan = nigari.open(infra, {"env": "saved"}).plan()
    plan.save("kept.out")
    assert (infra / "kept.out").exists(), "names are relative to the session's directory"
    read = nigari.read_plan(infra / "kept.out", infra)
    assert read.to_json() == plan.to_json()
    assert nigari.open(infra).apply(read).outputs["where"].to_python() == "in saved"


def test_plans_pass_between_python_and_the_command_line(infra: Path) -> None:
    nigari.open(infra, {"env": "python"}).plan().save("plan.out")
    status, shown = commanded(infra, "show", "-json", "plan.out")
    assert status == 0
    assert json.loads(shown) == nigari.read_plan(infra / "plan.out", infra).to_json()
    assert commanded(infra, "apply", "plan.out")[0] == 0
    assert commanded(infra, "plan", "-out=other.out", "-var=env=shell")[0] == 0
    plan = nigari.open(infra).read_plan("other.out")
    assert nigari.open(infra).apply(plan).outputs["where"].to_python() == "in shell"


def test_a_stale_plan_is_refused(infra: Path) -> None:
    session = nigari.open(infra)
    plan = session.plan()
    session.apply()
    with pytest.raises(nigari.SessionError, match="state has changed"):
        session.apply(plan)


# -- the state ------------------------------------------------------------------------------------


def test_editing_the_state(infra: Path) -> None:
    session = nigari.open(infra)
    session.apply()
    assert session.state_move("terraform_data.a", "terraform_data.b") == (
        ("terraform_data.a", "terraform_data.b"),
    )
    session.taint("terraform_data.b")
    assert session.state.resources["terraform_data.b"].is_tainted
    session.untaint("terraform_data.b")
    pulled = session.state_pull()
    assert session.state_remove("terraform_data.b") == ("terraform_data.b",)
    with pytest.raises(nigari.SessionError, match="Older snapshot"):
        session.state_push(pulled)
    session.state_push(pulled, force=True)
    session.import_("terraform_data.a", "known")
    assert list(session.state.resources) == ["terraform_data.a", "terraform_data.b"]
    with pytest.raises(nigari.SessionError, match="already in use"):
        session.import_("terraform_data.a", "known")
    with pytest.raises(nigari.SessionError):
        session.state_remove("terraform_data.c")


def test_refreshing_changes_only_the_state(infra: Path) -> None:
    session = nigari.open(infra, {"env": "a"})
    session.apply()
    assert nigari.open(infra, {"env": "b"}).refresh().outputs["where"].to_python() == "in a"


def test_workspaces(infra: Path) -> None:
    session = nigari.open(infra)
    session.new_workspace("one")
    assert (session.workspace, session.workspaces()) == ("one", ("default", "one"))
    other = nigari.open(infra, {"env": "default"}, workspace="default")
    other.apply()
    assert not session.outputs
    session.select_workspace("default")
    assert session.outputs["where"].to_python() == "in default"
    session.delete_workspace("one")
    with pytest.raises(nigari.SessionError):
        session.select_workspace("none")
    session.select_workspace("two", create=True)
    assert session.workspace == "two"


def test_a_lock_that_was_left_behind_is_removed(tmp_path: Path) -> None:
    forget_all()
    (tmp_path / "main.tf").write_text(
        'terraform {\n  backend "inmem" {}\n}\noutput "a" { value = 1 }\n'
    )
    session = nigari.open(tmp_path)
    session.init()
    left = LockInfo("dead", "apply", who="somebody")
    asyncio.run(InMemoryStore().lock("default", left))
    with pytest.raises(nigari.SessionError, match="state lock"):
        session.apply()
    with pytest.raises(nigari.SessionError, match="not locked with this ID"):
        session.force_unlock("other")
    session.force_unlock("dead")
    assert session.apply().outputs["a"].to_python() == 1


def test_a_locked_state(infra: Path) -> None:
    (infra / "main.tf").write_text(
        'resource "terraform_data" "a" {\n  provisioner "local-exec" {\n'
        '    command = "touch begun; while [ -e begun ]; do sleep 0.05; done"\n  }\n}\n'
    )
    begun = infra / "begun"
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(nigari.open(infra).apply)
        try:
            _until(lambda: begun.exists() or slow.done())
            with pytest.raises(nigari.SessionError, match="state lock"):
                nigari.open(infra).plan()
            assert nigari.open(infra, lock=False).plan().changes
        finally:
            begun.unlink(missing_ok=True)
        assert list(slow.result().state.resources) == ["terraform_data.a"]


def test_a_state_that_can_be_stored_nowhere(infra: Path) -> None:
    (infra / "main.tf").write_text(
        'resource "terraform_data" "a" {\n  provisioner "local-exec" {\n'
        f'    command = "rm -rf {infra}; touch {infra}"\n  }}\n}}\n'
    )
    set_command_line(False)
    with pytest.raises(nigari.SessionError, match="unsaved_state") as failure:
        nigari.open(infra).apply()
    assert failure.value.unsaved_state is not None
    assert json.loads(failure.value.unsaved_state)["resources"][0]["name"] == "a"


# -- loops, threads and cancelling ------------------------------------------------------------------


def test_inside_a_running_loop(infra: Path) -> None:
    async def notebook() -> object:
        return nigari.open(infra).apply().outputs["where"].to_python()

    assert asyncio.run(notebook()) == "in dev"


def test_sessions_in_threads_do_not_touch_each_other(tmp_path: Path, infra: Path) -> None:
    places = [tmp_path / f"place{number}" for number in range(4)]
    for place in places:
        place.mkdir()
        (place / "main.tf").write_text(MAIN + PATHS)
        (place / "text").write_text(place.name)

    def work(place: Path) -> object:
        state = nigari.open(place, {"env": place.name}).apply().state
        value = state.resources["terraform_data.p"].attributes["input"]
        assert isinstance(value, dict)
        found = value["value"]
        assert isinstance(found, dict)
        return state.outputs["where"].to_python(), found["file"]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, places))
    assert results == [(f"in {place.name}", place.name) for place in places]


def test_coroutines(infra: Path) -> None:
    async def whole() -> object:
        async with aio.open(infra, {"env": "aio"}) as session:
            plan = await session.plan()
            await session.apply(plan)
            assert (await session.state).serial > 0
            return (await session.outputs)["where"].to_python()

    assert asyncio.run(whole()) == "in aio"


CHAIN = """
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "touch begun; sleep 0.5; touch ended"
  }
}

resource "terraform_data" "b" {
  input = terraform_data.a.id
}
"""


def test_a_cancelled_apply_stores_what_was_done(infra: Path) -> None:
    (infra / "main.tf").write_text(CHAIN)

    async def whole() -> list[str]:
        session = aio.open(infra)
        task = asyncio.create_task(session.apply())
        await asyncio.to_thread(_until, (infra / "begun").exists)
        task.cancel()
        with pytest.raises((asyncio.CancelledError, SessionError)):
            await task
        return list((await session.state).resources)

    assert asyncio.run(whole()) == ["terraform_data.a"]


def test_events_of_provisioners_and_failures(infra: Path) -> None:
    (infra / "main.tf").write_text(
        'resource "terraform_data" "a" {\n  provisioner "local-exec" {\n'
        '    command = "echo out; false"\n  }\n}\n'
    )
    events: list[Event] = []
    with pytest.raises(SessionError):
        nigari.open(infra).apply(listen=events.append)
    kinds = [type(each) for each in events]
    assert kinds == [Started, Started, ProvisionerOutput, ProvisionerOutput, Failed, Failed]
    assert str(events[3]) == "terraform_data.a (local-exec): out"


def test_a_listener_that_fails_stops_nothing(infra: Path) -> None:
    def listen(_: Event) -> None:
        raise ValueError("for a test")

    session = nigari.open(infra)
    with pytest.raises(ValueError, match="for a test"):
        session.apply(listen=listen)
    assert list(session.state.resources) == ["terraform_data.a"]


# -- what it looks like -----------------------------------------------------------------------------


def test_what_prompts_and_notebooks_show(infra: Path) -> None:
    session = nigari.open(infra)
    plan = session.plan()
    assert repr(session) == f"<session in {infra}>"
    assert repr(plan) == "<plan: 1 to add, 0 to change, 0 to destroy>"
    assert "terraform_data.a" in plan._repr_html_()
    session.apply(plan)
    assert repr(session.outputs["secret"]) == "<secret = (sensitive)>"
    assert repr(session.state.resources["terraform_data.a"]) == "<terraform_data.a>"


ROUNDS = """\
resource "terraform_data" "a" {
  input = "x"
}
resource "terraform_data" "b" {
  for_each = toset([terraform_data.a.id])
}
output "n" {
  value = length(terraform_data.b)
}
"""


def test_rounds_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(ROUNDS)
    session = nigari.open(tmp_path)
    seen = []
    for round_ in session.rounds():
        assert round_.applied is None
        seen.append((round_.number, str(round_.plan.summary), len(round_.plan.deferred)))
    assert seen == [
        (1, "1 to add, 0 to change, 0 to destroy", 2),
        (2, "1 to add, 0 to change, 0 to destroy", 0),
    ]
    assert round_.applied is not None
    assert round_.applied.outputs["n"].value == cty.number(1)
    assert [each.number for each in session.rounds()] == [1]


def test_who_leaves_the_loop_leaves_the_round_undone(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(ROUNDS)
    session = nigari.open(tmp_path)
    for _ in session.rounds():
        break
    assert not session.state.resources
    for round_ in session.rounds():
        done = round_.apply()
        assert round_.apply() is done
        break
    assert list(session.state.resources) == ["terraform_data.a"]
    # The lock is free again.
    assert session.plan().summary.add == 1


def test_a_plan_with_something_left(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(ROUNDS)
    session = nigari.open(tmp_path)
    with pytest.raises(SessionError, match="-allow-deferral"):
        session.plan()
    plan = session.plan(allow_deferral=True)
    left = plan.deferred[1]
    assert (left.address, left.kind, left.waits_for) == (
        "terraform_data.b[*]",
        "resource",
        ("terraform_data.a",),
    )
    plan.save(tmp_path / "p")
    assert session.read_plan(tmp_path / "p").deferred == plan.deferred
    session.apply(plan)
    assert list(session.state.resources) == ["terraform_data.a"]


def test_rounds_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'resource "terraform_data" "a" {\n  for_each = toset([uuid()])\n}\n'
    )
    with pytest.raises(SessionError, match="Rounds without progress"):
        list(nigari.open(tmp_path).rounds())


def test_rounds_as_coroutines_and_inside_a_running_loop(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(ROUNDS)

    async def work() -> list[int]:
        async with aio.open(tmp_path) as session:
            numbers = [each.number async for each in session.rounds(most=1)]
        return numbers + [each.number for each in nigari.open(tmp_path).rounds()]

    assert asyncio.run(work()) == [1, 1]


def _methods(kind: type) -> dict[str, Callable[..., object]]:
    return {
        name: member
        for name, member in vars(kind).items()
        if not name.startswith("_") and inspect.isfunction(member)
    }


def test_both_sessions_offer_the_same() -> None:
    assert _methods(Session).keys() == _methods(aio.Session).keys()
    for name, method in _methods(Session).items():
        other = _methods(aio.Session)[name]
        own, theirs = inspect.signature(method), inspect.signature(other)
        assert own.parameters == theirs.parameters, name
        # What gives one thing after the other does so in its own way.
        assert own.return_annotation == theirs.return_annotation or name == "rounds", name
        assert method.__doc__ == other.__doc__, name
    assert inspect.signature(nigari.open).parameters == inspect.signature(aio.open).parameters


def test_diagnostics_read_well() -> None:
    assert repr(Diagnostic(Severity.ERROR, "Bad thing")) == "<error: Bad thing>"


def test_ctrl_c_while_an_event_loop_waits(infra: Path) -> None:
    (infra / "main.tf").write_text(CHAIN)

    def press() -> None:
        _until((infra / "begun").exists)
        os.kill(os.getpid(), signal.SIGINT)

    async def notebook() -> None:
        threading.Thread(target=press, daemon=True).start()
        with pytest.raises(SessionError, match="Stopped early"):
            nigari.open(infra).apply()

    asyncio.run(notebook())
    assert list(nigari.open(infra).state.resources) == ["terraform_data.a"]


def test_what_a_session_gives_can_be_copied_and_pickled(infra: Path) -> None:
    session = nigari.open(infra, {"env": "prod"}, environ={})
    plan = session.plan()
    again: nigari.Plan = pickle.loads(pickle.dumps(plan))
    assert copy.deepcopy(plan) is plan
    assert (again.changes, again.outputs, again.mode) == (plan.changes, plan.outputs, plan.mode)
    assert again.to_json()["resource_changes"] == plan.to_json()["resource_changes"]
    applied = session.apply(again)
    assert pickle.loads(pickle.dumps(applied)) == copy.deepcopy(applied) == applied
    other: Session = pickle.loads(pickle.dumps(session))
    assert other.state == session.state == applied.state
    assert pickle.loads(pickle.dumps(session.outputs)) == session.outputs == other.outputs
    assert other.plan().is_empty
    assert pickle.loads(pickle.dumps(session.environments)) == session.environments


def test_a_path_is_not_a_plan(infra: Path) -> None:
    with pytest.raises(TypeError, match="not a str: read_plan reads saved ones"):
        nigari.open(infra).apply("plan.out")  # type: ignore[arg-type]


def test_the_caller_sets_what_is_not_declared(infra: Path) -> None:
    with pytest.raises(SessionError, match='The caller sets "other"'):
        nigari.open(infra, {"other": 1}).plan()

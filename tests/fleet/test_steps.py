"""What steps pass on to each other, and what each makes of it."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path

import pytest

from nigari.backends.backend_address import StateIdentity
from nigari.cty.types import STRING
from nigari.cty.values import Value, string, unknown
from nigari.diagnostics import Diagnostic, Severity
from nigari.fleet.units.unit import Unit
from nigari.fleet.units.unit_values import UnitValues
from nigari.fleet.work.inputs import needs_of
from nigari.fleet.work.steps import Passed, Step, passed, take_step
from nigari.fleet.work.tasks import Kind, Task, TaskOptions, TaskOutcome, TaskStatus
from tests.fleet.trees import DECLARED, surveyed

_UNIT = Unit("net", "net", "/fleet/net")
_WRONG = Diagnostic(Severity.ERROR, "Wrong", "Because.")


@pytest.mark.parametrize(
    ("kind", "outcome", "expected"),
    [
        (
            Kind.PLAN,
            TaskOutcome(TaskStatus.DONE, outputs={"id": string("1")}),
            Passed("net", {"id": string("1")}),
        ),
        (Kind.PLAN, TaskOutcome(TaskStatus.DONE), Passed("net", {})),
        (Kind.OUTPUT, TaskOutcome(TaskStatus.DONE), Passed("net", None)),
        (Kind.PLAN, TaskOutcome(TaskStatus.FAILED, (_WRONG,)), Passed("net", because_of="net")),
        (Kind.PLAN, TaskOutcome(TaskStatus.LOST), Passed("net", because_of="net")),
        (
            Kind.PLAN,
            TaskOutcome(TaskStatus.SKIPPED, because_of="root"),
            Passed("net", because_of="root"),
        ),
        (
            Kind.OUTPUT,
            TaskOutcome(TaskStatus.FAILED, (_WRONG,)),
            Passed("net", diagnostics=(_WRONG,)),
        ),
        (Kind.OUTPUT, TaskOutcome(TaskStatus.LOST), Passed("net", because_of="net")),
    ],
)
def test_what_is_passed_on(kind: Kind, outcome: TaskOutcome, expected: Passed) -> None:
    assert passed(kind, _UNIT, outcome) == expected


def _taken(root: Path, before: Passed) -> tuple[TaskOutcome, list[Task]]:
    """What an app comes to that is given an output of its network, elsewhere."""
    found = surveyed(root, DECLARED)
    name = 'app["dev"]'
    needs = needs_of(found.graph, name, found.units, must_exist=True)
    step = Step(Task(Kind.PLAN, found.units[name], TaskOptions()), (), needs)
    sent_step, values = pickle.loads(pickle.dumps((step, found.definition.values)))
    assert isinstance(values, UnitValues)
    done: list[Task] = []

    async def do(task: Task) -> TaskOutcome:
        done.append(task)
        return TaskOutcome(TaskStatus.DONE)

    outcome = asyncio.run(take_step(sent_step, {before.unit: before}, values, do))
    return outcome, done


_NETWORK = 'network["dev"]'


@pytest.mark.parametrize(("given", "is_known"), [(string("vpc-1"), True), (unknown(STRING), False)])
def test_values_come_from_what_was_passed_on(tmp_path: Path, given: Value, is_known: bool) -> None:
    outcome, (task,) = _taken(tmp_path, Passed(_NETWORK, {"vpc_id": given}))
    assert task.variables == {"vpc_id": given}
    assert outcome.status is TaskStatus.DONE
    assert bool(outcome.inputs) is is_known


@pytest.mark.parametrize(
    ("before", "status", "blamed", "said"),
    [
        (Passed(_NETWORK, because_of="root"), TaskStatus.SKIPPED, "root", []),
        (Passed(_NETWORK, diagnostics=(_WRONG,)), TaskStatus.FAILED, "", ["Wrong"]),
        (Passed(_NETWORK, None), TaskStatus.FAILED, "", ["No outputs yet"]),
        (Passed(_NETWORK, {}), TaskStatus.FAILED, "", ["Unsupported attribute"]),
    ],
)
def test_nothing_is_done_without_what_is_needed(
    tmp_path: Path, before: Passed, status: TaskStatus, blamed: str, said: list[str]
) -> None:
    outcome, done = _taken(tmp_path, before)
    assert not done
    assert (outcome.status, outcome.because_of) == (status, blamed)
    assert [each.summary for each in outcome.diagnostics] == said


def test_states_that_are_read_are_passed_on_as_planned(tmp_path: Path) -> None:
    from tests.fleet.trees import NETWORK, reading

    files = {"net/main.tf": NETWORK, "app/main.tf": reading("net", "../net/terraform.tfstate")}
    graph = surveyed(tmp_path, files).graph
    needs = needs_of(graph, "app", {"net", "app"}, must_exist=True)
    ((name, state),) = needs.states
    assert name == "net"
    assert isinstance(state, StateIdentity)
    # A unit that is not worked with is read from where it is stored, as without a fleet.
    assert needs_of(graph, "app", {"app"}, must_exist=True).states == ()

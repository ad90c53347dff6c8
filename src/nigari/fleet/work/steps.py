"""Steps: the tasks of a whole run that can be repeated, and what they pass on to each other.

A step says which others come before it and how its inputs follow from their outputs, so that the code that
does a run can be handed all of it at once. Who that is, and where, is not known here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from nigari.diagnostics import Diagnostic, Diagnostics
from nigari.fleet.units.unit import Unit, seen_from_root, seen_from_unit
from nigari.fleet.units.unit_values import UnitValues
from nigari.fleet.work.inputs import UnitNeeds
from nigari.fleet.work.tasks import (
    Kind,
    Outputs,
    Task,
    TaskOutcome,
    TaskStatus,
    with_causes,
)
from nigari.record import record, replace

StepKey = tuple[Kind, str]
"""The kind of work, and the name of the unit."""


@record
class Step:
    """A task whose values come from the steps before it."""

    task: Task
    after: tuple[StepKey, ...] = ()
    needs: UnitNeeds | None = None
    """The inputs from other units; None if the task has its values already."""

    @property
    def key(self) -> StepKey:
        """The key of a step in its run."""
        return self.task.kind, self.task.unit.name


@record
class Passed:
    """The outputs of a step for those after it."""

    unit: str
    outputs: Outputs | None = None
    because_of: str = ""
    """The unit that is to blame where nothing can come after it."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """The diagnostics of a state whose outputs could not be read, as seen from the fleet."""


Steps = Mapping[StepKey, Step]
"""The steps of a run, each after all that it comes after."""


class Watch(Protocol):
    """The observer of a run."""

    @property
    def is_stopped(self) -> bool:
        """Return whether to start no further units."""
        ...

    def begun(self, key: StepKey) -> None:
        """A worker has begun a step."""
        ...

    def ended(self, key: StepKey, outcome: TaskOutcome) -> None:
        """A step is done with, or given up."""
        ...


def passed(kind: Kind, unit: Unit, outcome: TaskOutcome) -> Passed:
    """The meaning of a step's outcome for those after it."""
    is_plan = kind is Kind.PLAN
    if outcome.status is TaskStatus.DONE:
        outputs = outcome.outputs
        return Passed(unit.name, with_causes(outputs or {}, unit.name) if is_plan else outputs)
    if is_plan or outcome.status is not TaskStatus.FAILED:
        return Passed(unit.name, because_of=outcome.because_of or unit.name)
    # Only a state was to be read; the step that needed it reports the failure.
    reported = seen_from_root(outcome.diagnostics, unit)
    return Passed(unit.name, diagnostics=tuple(reported))


async def take_step(
    step: Step,
    before: Mapping[str, Passed],
    values: UnitValues,
    do: Callable[[Task], Awaitable[TaskOutcome]],
) -> TaskOutcome:
    """Do the task of a step with what those before it, by the names of their units, have passed on."""
    blamed = next((each.because_of for each in before.values() if each.because_of), "")
    if blamed:
        return skipped_task(blamed)
    unread = [each for found in before.values() for each in found.diagnostics]
    if unread:
        reported = seen_from_unit(unread, step.task.unit)
        return TaskOutcome(TaskStatus.FAILED, tuple(reported))
    if step.needs is None:
        return await do(step.task)
    diags = Diagnostics()
    outputs = {name: each.outputs for name, each in before.items()}
    inputs = step.needs.inputs(values, outputs, diags)
    if diags.has_errors:
        reported = seen_from_unit(diags.in_order(), step.task.unit)
        return TaskOutcome(TaskStatus.FAILED, tuple(reported))
    task = replace(step.task, variables=inputs.variables, planned=inputs.planned)
    outcome = await do(task)
    return replace(outcome, inputs=inputs.digest if inputs.is_known else "")


def skipped_task(because_of: str = "") -> TaskOutcome:
    """The outcome of a task that no worker has begun."""
    return TaskOutcome(TaskStatus.SKIPPED, because_of=because_of)

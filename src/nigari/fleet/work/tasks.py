"""Tasks: one thing to do with one unit, as data that can be sent to another process, and what has
come of it.

A task says all that doing it takes; what it needs of other units are values in it. Nothing here
knows who does it or in which order.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from nigari.backends.backend_address import StateIdentity
from nigari.cty.paths import transform
from nigari.cty.unknown import Unknown
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic, Severity
from nigari.fleet.units.unit import Unit
from nigari.fleet.units.unit_values import output_cause
from nigari.lang.marks import SENSITIVE
from nigari.plan.model.changes import PlanMode
from nigari.record import record
from nigari.workspace.session.plan_result import Summary

LOCK_TIMEOUT: Final = 10.0
"""Seconds that units wait for a lock. Some backends lock more than one state for a moment, so that
units of one fleet would be in each other's way.
"""

Outputs = Mapping[str, Value]
"""Root outputs by name, marked where they are sensitive, unknown where only apply can tell."""

# Never changed. Unlike mapping proxies they can be sent to another process.
_NOTHING: Final[Mapping[str, Value]] = {}
_NO_STATES: Final[Mapping[StateIdentity, Outputs]] = {}
_NO_SOURCES: Final[Mapping[str, bytes]] = {}
_NO_REPORT: Final[Mapping[str, object]] = {}


class Kind(Enum):
    """The kinds of tasks."""

    INIT = "init"
    VALIDATE = "validate"
    PLAN = "plan"
    APPLY = "apply"
    OUTPUT = "output"
    TEST = "test"
    WORKSPACES = "workspaces"


class TaskStatus(Enum):
    """The status of a task."""

    DONE = "done"
    FAILED = "failed"
    UNAPPROVED = "needs approval"
    """The plan differs from the one that was agreed to, so that nothing was done."""
    INTERRUPTED = "interrupted"
    SKIPPED = "skipped"
    """Something that it needs has failed, or everything was stopped before its turn."""
    LOST = "lost"
    """The worker is gone, and it is not known how far it came."""


@record
class TaskOptions:
    """The options of a command for all of its tasks."""

    mode: PlanMode = PlanMode.NORMAL
    refresh: bool = True
    parallelism: int = 10
    lock: bool = True
    lock_timeout: float = LOCK_TIMEOUT
    upgrade: bool = False
    reconfigure: bool = False
    lockfile_readonly: bool = False
    backend: bool = True
    """True if init sets up the backend."""
    backend_config: tuple[str, ...] = ()
    """The backend configuration for init, as `-backend-config` takes it."""


@record
class Task:
    """One thing to do with one unit."""

    kind: Kind
    unit: Unit
    options: TaskOptions
    variables: Mapping[str, Value] = _NOTHING
    planned: Mapping[StateIdentity, Outputs] = _NO_STATES
    """The future states of other units, for `terraform_remote_state`."""
    plan: str = ""
    """The file that a plan is written to, or that has the plan to apply."""
    agreed: str = ""
    """A file with the plan that was agreed to, where another has to be made to be applied."""
    log: str = ""
    """The path of the progress file."""

    @property
    def is_repeatable(self) -> bool:
        """Return whether an interrupted task can be repeated safely."""
        return self.kind is not Kind.APPLY


@record
class ChangeLine:
    """A change of one object, in short."""

    address: str
    action: str
    why: str


@record
class Changes:
    """The size of a plan."""

    add: int
    change: int
    destroy: int
    import_: int
    forget: int
    outputs: int
    """The number of outputs that change."""
    lines: tuple[ChangeLine, ...]
    drift: tuple[str, ...]
    is_empty: bool
    """True if there are no changes."""
    is_news: bool
    """True if the refreshed state differs from the stored one, for example because another unit's
    output changed. Applying stores it, even if nothing else changes.
    """
    invoke: int = 0
    """The number of actions that run."""

    @property
    def summary(self) -> str:
        """In the words that plans end with."""
        return str(
            Summary(self.add, self.change, self.destroy, self.import_, self.forget, self.invoke)
        )


@record
class TaskOutcome:
    """The outcome of a task."""

    status: TaskStatus
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, bytes] = _NO_SOURCES
    """The files that the diagnostics are about."""
    changes: Changes | None = None
    outputs: Outputs | None = None
    """Those that the state has, or, after a plan, will have; None where there is no state."""
    seconds: float = 0.0
    report: Mapping[str, object] = _NO_REPORT
    """The further results, as JSON data."""
    inputs: str = ""
    """The digest of the inputs of the task; empty if they were not all known."""
    because_of: str = ""
    """The unit that is to blame where the task was skipped."""
    unsaved: bytes | None = None
    """A state that could not be stored and is in no file that the program can see."""


def not_stored(error: OSError) -> Diagnostic:
    """Report that plans, logs or the journal cannot be written."""
    where = f"{error.filename}: " if error.filename else ""
    return Diagnostic(
        Severity.ERROR,
        "Cannot write the files of the fleet",
        f"Plans, logs and the journal of a fleet are kept in .nigari in its directory, which cannot be "
        f"written to: {where}{error.strerror}. Free some disk space or change the permissions, and run "
        "the command again.",
    )


def with_causes(outputs: Outputs, unit: str) -> dict[str, Value]:
    """Outputs whose unknown parts say whose they are."""
    return {name: _caused(value, unit, name) for name, value in outputs.items()}


def _caused(value: Value, unit: str, name: str) -> Value:
    if value.is_wholly_known:
        return value
    cause = (output_cause(unit, name),)
    return transform(
        value, lambda _, part: part.with_causes(cause) if isinstance(part.data, Unknown) else part
    )


def as_stored(outputs: Outputs) -> dict[str, Value]:
    """Outputs as `terraform_remote_state` gives them, which knows of no secrets."""
    return {name: value.unmark_deep()[0] for name, value in outputs.items()}


def marked_output(value: Value, is_sensitive: bool) -> Value:
    """The value of an output with no other mark than the one that it is a secret."""
    plain = value.unmark_deep()[0]
    return plain.mark(SENSITIVE) if is_sensitive else plain

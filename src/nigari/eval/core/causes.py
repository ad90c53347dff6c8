"""Causes: reasons for which a value is not known yet.

A cause travels with an unknown value from where it arose to where someone needs the value. It
names the root: a missing variable, a resource, an expansion that is not known. How the value came
from there to here is worked out afterwards, only when it must be shown (`explain`).
"""

from __future__ import annotations

from enum import Enum

from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.cty.unknown import MAX_CAUSES, Unknown
from nigari.cty.values import HAS_UNKNOWN, Value
from nigari.diagnostics import Range
from nigari.hcl.expressions import SYNTAX_FAULT
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Phase(Enum):
    """When a value is known, from the earliest on."""

    STATIC = "static"
    PLAN = "plan"
    APPLY = "apply"


class CauseKind(Enum):
    """The kind of object that made a value unknown."""

    MISSING_VARIABLE = "missing variable"
    MISSING_ARGUMENT = "missing argument"
    NEVER_STATIC = "variable that is not const"
    RESOURCE = "resource"
    PLANNED = "planned object"
    """A part of an object that is known only once it has been made."""
    EACH = "for_each"
    COUNT = "count"
    IMPURE_FUNCTION = "impure function"
    PROVIDER_FUNCTION = "provider function"
    RUN_TIME = "run time"
    OTHER_STATE = "output of another configuration"
    MODULE = "module"
    NO_INSTANCES = "no instances"
    INSTANCE = "differs between instances"
    DEFERRED = "deferred"
    REPORTED = "reported"


@record
class UnknownCause:
    """The root of an unknown value."""

    kind: CauseKind
    module: ModuleAddr
    """The module that declares the object; for an expansion, the module that has the call."""
    name: str
    """The name of the object there: `var.key`, `aws_vpc.main`, `module.net` for its `each`."""
    range: Range | None = None
    known_at: Phase = Phase.PLAN

    @property
    def text(self) -> str:
        """The name with its module."""
        return self.name if self.module.is_root else f"{self.name} of {self.module}"


REPORTED: Final = UnknownCause(CauseKind.REPORTED, ROOT_MODULE, "an error")
"""The value is unknown because of an error that has been reported: no more errors about it."""


def causes_within(value: Value) -> list[UnknownCause]:
    """The causes of the unknown parts of a value, each once."""
    found: dict[UnknownCause, None] = {}
    pending = [value]
    while pending:
        current = pending.pop()
        if not current.flags & HAS_UNKNOWN:
            continue
        data = current.data
        if isinstance(data, Unknown):
            for cause in data.causes:
                if isinstance(cause, UnknownCause):
                    found[cause] = None
                elif cause is SYNTAX_FAULT:
                    found[REPORTED] = None
        elif isinstance(data, dict):
            pending.extend(data.values())
        elif isinstance(data, tuple):
            pending.extend(data)
    return list(found)


def caused_by(value: Value, unknown: Value) -> Value:
    """An unknown value that is so for the reasons that parts of another one are."""
    return unknown.with_causes(tuple(causes_within(value)[:MAX_CAUSES]))

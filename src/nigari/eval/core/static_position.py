"""Places that need a value now: module sources and versions, backend arguments, provider keys.

A slot looks at the result, not at the syntax: a wholly known value that is allowed is fine, even
where an untaken branch mentions a resource. Where the value is not known, the cause decides: an
expansion that is merely pending, or a variable that can be asked for, is requested
of the run, which starts afresh with it; anything else is reported, with the way it took.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from nigari.addrs.keys import InstanceKey
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import STRING
from nigari.cty.values import Value
from nigari.eval.core.causes import CauseKind, UnknownCause, causes_within
from nigari.eval.core.instances import FAILED, Frame, Origin
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.worklist import Need
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from nigari.diagnostics import Cause


RequestValue: TypeAlias = Callable[[UnknownCause], bool]
"""Requests what would make a value known; False if nothing would."""


@record
class StaticPosition:
    """One place and what it takes."""

    what: str
    """The position's name in messages, such as "source of module.a"."""
    frame: Frame
    expr: Expression
    request: RequestValue
    data: InstanceData = NO_INSTANCE_DATA
    takes_secrets: bool = False

    @property
    def origin(self) -> Origin:
        """The expression where it belongs."""
        compiled = self.frame.instance.compiled.expression(self.expr)
        return Origin(self.frame, compiled, self.data)


def fill(slot: StaticPosition) -> Value | list[Need] | None:
    """The known value for a slot, unmarked; None where that has been reported or requested."""
    value = _evaluate(slot)
    if not isinstance(value, Value):
        return value
    value, marks = value.unmark_deep()
    if marks and not slot.takes_secrets:
        from nigari.lang.marks import EPHEMERAL, SENSITIVE

        if SENSITIVE in marks or EPHEMERAL in marks:
            _report_secret(slot, "sensitive" if SENSITIVE in marks else "ephemeral")
            return None
    if value.is_wholly_known:
        return value
    explain_unknown(slot, value)
    return None


def _evaluate(slot: StaticPosition) -> Value | list[Need]:
    """The value of an expression. Literals need no scope, and most static positions have one, so
    that a configuration without the providers it requires is reported without what evaluates.
    """
    if slot.frame.instance.compiled.is_written_out(slot.expr):
        diags = slot.frame.run.diags
        errors = diags.error_count
        value = slot.expr.value(Scope(), diags)
        return FAILED if diags.error_count > errors else value
    from nigari.eval.core.scope import evaluate_origin

    return evaluate_origin(slot.origin)


def fill_instances(
    slot: StaticPosition, argument: str
) -> Mapping[InstanceKey, InstanceData] | list[Need]:
    """The instances that a `for_each` or `count` slot asks for. Only keys need to be known and
    harmless: the elements of a map may be anything. Where resources decide, planning will tell, and
    one deferred instance stands for all until then.
    """
    from nigari.eval.core.expansion import Asked, expand_count, expand_for_each
    from nigari.eval.core.scope import scope_of

    origin = slot.origin
    value = _evaluate(slot)
    if not isinstance(value, Value):
        return value
    expand = expand_count if argument == "count" else expand_for_each
    scope = partial(scope_of, origin.frame, origin.compiled, origin.data)
    expansion = expand(value, Asked(slot.expr, scope, slot.frame.run.diags))
    if expansion.deferred_by is not None:
        if any(cause.kind not in _LATER for cause in causes_within(expansion.deferred_by)):
            explain_unknown(slot, expansion.deferred_by)
            return {}
    return expansion.instances


def explain_unknown(slot: StaticPosition, value: Value) -> None:
    """Request what would make a value known, or report why it is not."""
    causes = causes_within(value)
    if any(cause.kind is CauseKind.REPORTED for cause in causes):
        return
    for cause in causes:
        if slot.request(cause):
            return
    _report_unknown(slot, causes)


def fill_text(slot: StaticPosition, takes_null: bool = False) -> str | list[Need] | None:
    """The text for a slot that takes a string."""
    value = fill(slot)
    if not isinstance(value, Value):
        return value
    try:
        value = convert(value, STRING)
    except CtyError:
        _report_type(slot, value)
        return None
    if value.is_null:
        if not takes_null:
            _report_null(slot)
        return None
    return value.as_string()


def _report_type(slot: StaticPosition, value: Value) -> None:
    slot.frame.run.diags.error(
        "String required",
        f"The {slot.what} must be a string, not {value.type.friendly_name()}.",
        slot.expr.range,
    )


def _report_null(slot: StaticPosition) -> None:
    slot.frame.run.diags.error(
        "Null before planning", f"The {slot.what} is null. A string is required.", slot.expr.range
    )


def _report_secret(slot: StaticPosition, word: str) -> None:
    slot.frame.run.diags.error(
        f"{word.capitalize()} value before planning",
        f"The {slot.what} is stored on disk and shown, so it cannot come from {_A[word]} {word} "
        "value.",
        slot.expr.range,
    )


_A = {"sensitive": "a", "ephemeral": "an"}


def _report_unknown(slot: StaticPosition, causes: list[UnknownCause]) -> None:
    """One error for a slot; its causes show the chain to each missing value."""
    from nigari.eval.core.explain import chain, way_to

    frames: list[Cause] = []
    roots: list[str] = []
    for cause in causes:
        way = way_to(cause, slot.origin)
        links = chain(slot.what, cause, way)[1]
        roots.append(links[0].text)
        # Where the slot itself uses the last thing on the way is what the error points at.
        frames.extend(links[: max(len(way), 1)])
    diags, place = slot.frame.run.diags, slot.expr.range
    # Another instance of the module may have reported the same chain.
    if not diags.is_new((place, *(frame.subject for frame in frames))):
        return
    hint = f"{_hint(causes[0])}{_description(causes[0], slot.frame)}" if causes else ""
    diags.error(
        _summary(causes),
        f"The {slot.what} must be known before anything runs, but it {_roots_text(roots)}"
        + (f"{' ' if len(roots) == 1 else chr(10) * 2}{hint}" if hint else ""),
        place,
        causes=tuple(frames),
    )


def _roots_text(roots: list[str]) -> str:
    """The unknown values that a value depends on."""
    if not roots:
        return "is not."
    if len(roots) == 1:
        return f"depends on {roots[0]}."
    return "depends on:\n" + "\n".join(f"  - {each}" for each in roots)


def _summary(causes: list[UnknownCause]) -> str:
    if causes and causes[0].kind in (CauseKind.MISSING_VARIABLE, CauseKind.MISSING_ARGUMENT):
        return "No value for variable"
    return "Value not known before planning"


# What planning can tell.
_LATER = (
    CauseKind.RESOURCE,
    CauseKind.EACH,
    CauseKind.COUNT,
    CauseKind.PROVIDER_FUNCTION,
    CauseKind.RUN_TIME,
)


def _hint(cause: UnknownCause) -> str:
    if cause.kind is CauseKind.MISSING_VARIABLE:
        from nigari.diagnostics.advice import advice

        return f"Give it one {advice().set_variable()}, or declare a default."
    return _HINTS.get(cause.kind, "")


def _description(cause: UnknownCause, frame: Frame) -> str:
    """The description of a missing variable, as advice."""
    if cause.kind is not CauseKind.MISSING_VARIABLE:
        return ""
    from nigari.eval.core.inputs import description

    while frame.parent is not None:
        frame = frame.parent
    variable = frame.module.variables.get(cause.name.removeprefix("var."))
    return "" if variable is None else description(variable)


_HINTS = {
    CauseKind.MISSING_ARGUMENT: "Add the argument to the module block, or declare a default.",
    CauseKind.NEVER_STATIC: "Remove const = false from the variable, or use another variable here.",
    CauseKind.RESOURCE: "Use only values that come from variables, locals and constants here.",
    CauseKind.IMPURE_FUNCTION: "Pass the value in through a variable instead.",
    CauseKind.PROVIDER_FUNCTION: "Use a built-in function, or pass the value in through a variable.",
}

"""`try` and `can`: functions whose arguments may fail."""

from __future__ import annotations

from nigari.cty.function import Function, FunctionError, Parameter, find_causes
from nigari.cty.types import BOOL, DYNAMIC, Type
from nigari.cty.values import DYNAMIC_UNKNOWN, FALSE, TRUE, Value, unknown
from nigari.diagnostics import Diagnostic, Diagnostics
from nigari.hcl.calls import CLOSURE_TYPE, Closure
from nigari.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_MOST_REASONS: Final = 8


def _try(args: list[Value], _: Type) -> Value:
    if not args:
        raise FunctionError("at least one argument is required")
    failures: list[Diagnostic] = []
    for arg in args:
        diags = Diagnostics()
        value = cast(Closure, arg.data).value(diags)
        if diags.has_errors:
            failures.extend(diags)
        # tryfunc of HCL: only a wholly known value is certain not to fail later.
        elif value.is_wholly_known:
            return value
        else:
            # OpenTofu: once known, it may fail or have another type, so neither value nor type is
            # determined.
            return DYNAMIC_UNKNOWN.with_causes(find_causes([value])).with_marks(value.marks)
    reasons = "; ".join([_reason(failure) for failure in failures[:_MOST_REASONS]])
    raise FunctionError(f"no expression succeeded: {reasons}")


def _reason(failure: Diagnostic) -> str:
    detail = failure.detail.rstrip(".")
    return f"{failure.summary}: {detail}" if detail else failure.summary


def _can(args: list[Value], expected: Type) -> Value:
    diags = Diagnostics()
    value = cast(Closure, args[0].data).value(diags)
    if diags.has_errors:
        return FALSE
    # As for try: an unknown part may fail once it is known.
    if value.is_wholly_known:
        return TRUE
    return unknown(expected).with_causes(find_causes([value]))


# The result's type stays open, since computing it would evaluate every argument twice.
TRY: Final = Function((), Parameter("expressions", CLOSURE_TYPE), DYNAMIC, _try)
CAN: Final = Function((Parameter("expression", CLOSURE_TYPE),), None, BOOL, _can)

FUNCTIONS: Final = {"can": CAN, "try": TRY}

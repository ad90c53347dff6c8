"""Functions for the sensitive and ephemeral marks."""

from __future__ import annotations

from nigari.cty.function import NOT_NULL_RESULT, Function, Parameter
from nigari.cty.paths import Path, transform
from nigari.cty.types import BOOL, DYNAMIC, Type
from nigari.cty.values import Value, boolean, null, unknown
from nigari.lang.marks import EPHEMERAL, SENSITIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ANYTHING: Final = Parameter(
    "value", DYNAMIC, allow_null=True, allow_unknown=True, allow_dynamic=True, allow_marked=True
)


def _same_type(args: list[Value]) -> Type:
    return args[0].type


def _sensitive(args: list[Value], _: Type) -> Value:
    return args[0].mark(SENSITIVE)


def _non_sensitive(args: list[Value], _: Type) -> Value:
    value, marks = args[0].unmark()
    # NonsensitiveFunc removes this mark only, and only from the outermost value.
    return value.with_marks(marks - {SENSITIVE})


def _is_sensitive(args: list[Value], expected: Type) -> Value:
    """Check for the mark; an unknown value may still turn out either way."""
    # IsSensitiveFunc: once known, the value may have other marks.
    return boolean(args[0].has_mark(SENSITIVE)) if args[0].is_known else unknown(expected)


SENSITIVE_FUNCTION: Final = Function((_ANYTHING,), None, _same_type, _sensitive)
NON_SENSITIVE: Final = Function((_ANYTHING,), None, _same_type, _non_sensitive)
IS_SENSITIVE: Final = Function((_ANYTHING,), None, BOOL, _is_sensitive, NOT_NULL_RESULT)


def _ephemeral_as_null(args: list[Value], _: Type) -> Value:
    return transform(args[0], _without_ephemeral)


def _without_ephemeral(_: Path, value: Value) -> Value:
    if value.is_known and EPHEMERAL not in value.marks:
        return value
    marks = value.marks - {EPHEMERAL}
    if value.is_known:
        return null(value.type).with_marks(marks)
    return unknown(value.type).with_causes(value.causes).with_marks(marks)


EPHEMERAL_AS_NULL: Final = Function((_ANYTHING,), None, _same_type, _ephemeral_as_null)

FUNCTIONS: Final = {
    "ephemeralasnull": EPHEMERAL_AS_NULL,
    "issensitive": IS_SENSITIVE,
    "nonsensitive": NON_SENSITIVE,
    "sensitive": SENSITIVE_FUNCTION,
}

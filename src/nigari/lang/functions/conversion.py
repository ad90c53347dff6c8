"""Conversion functions, and `type`, which returns the type of a value."""

from __future__ import annotations

from nigari.cty.errors import CtyError
from nigari.cty.function import Function, FunctionError, Parameter
from nigari.cty.stdlib.general import to_type
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    NUMBER,
    STRING,
    CapsuleType,
    ListType,
    MapType,
    SetType,
    Type,
)
from nigari.cty.values import Value, capsule_value
from nigari.diagnostics import Diagnostics
from nigari.hcl.calls import CLOSURE_TYPE, Closure
from nigari.hcl.type_expressions import NamedType, parse_type_constraint
from nigari.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ANYTHING: Final = Parameter(
    "value", DYNAMIC, allow_null=True, allow_unknown=True, allow_dynamic=True, allow_marked=True
)


class _Convert:
    """The implementation of `convert` where some types have names."""

    __slots__ = ("_named",)

    def __init__(self, named: NamedType | None) -> None:
        self._named = named

    def __call__(self, args: list[Value], _: Type) -> Value:
        closure = cast(Closure, args[1].data)
        diags = Diagnostics()
        constraint = parse_type_constraint(closure.expression, diags, self._named)
        if diags.has_errors:
            first = next(iter(diags))
            raise FunctionError(f"a type constraint is required: {first.detail.rstrip('.')}", 1)
        try:
            return constraint.convert(args[0])
        except CtyError as error:
            raise FunctionError(error.message, 0, error.path) from error


def convert_function(named: NamedType | None) -> Function:
    """Make `convert` for expressions that can name the types of symbol libraries."""
    return Function((_ANYTHING, Parameter("type", CLOSURE_TYPE)), None, DYNAMIC, _Convert(named))


CONVERT: Final = convert_function(None)

TYPE_TYPE: Final = CapsuleType("type", Type)
"""Result of `type`. The console prints it; it has no other use."""

TYPE_MARK: Final = "from type()"
"""A mark on everything derived from `type`, by which the console recognises its results."""


def _type(args: list[Value], _: Type) -> Value:
    return capsule_value(TYPE_TYPE, args[0].type).mark(TYPE_MARK)


TYPE: Final = Function(
    (Parameter("value", DYNAMIC, allow_null=True, allow_unknown=True, allow_dynamic=True),),
    None,
    TYPE_TYPE,
    _type,
)

FUNCTIONS: Final = {
    "convert": CONVERT,
    "tobool": to_type(BOOL),
    "tolist": to_type(ListType(DYNAMIC)),
    "tomap": to_type(MapType(DYNAMIC)),
    "tonumber": to_type(NUMBER),
    "toset": to_type(SetType(DYNAMIC)),
    "tostring": to_type(STRING),
    "type": TYPE,
}

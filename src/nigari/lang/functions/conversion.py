"""Functions that convert a value to a type, and `type`, which tells a type."""

from __future__ import annotations

from typing import Final, cast

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.function import Function, FunctionError, Parameter
from nigari.cty.mismatch import mismatch
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
from nigari.cty.unify import conversion_exists
from nigari.cty.values import Value, capsule_value
from nigari.diagnostics import Diagnostics
from nigari.hcl.calls import CLOSURE_TYPE, Closure
from nigari.hcl.type_expressions import parse_type_constraint

_ANYTHING: Final = Parameter(
    "value", DYNAMIC, allow_null=True, allow_unknown=True, allow_dynamic=True, allow_marked=True
)


class _Conversion:
    """The type function and the implementation of a function that converts to one type."""

    __slots__ = ("wanted",)

    def __init__(self, wanted: Type) -> None:
        self.wanted = wanted

    def return_type(self, args: list[Value]) -> Type:
        given = args[0].type
        if given != self.wanted and not conversion_exists(given, self.wanted, unsafe=True):
            error = mismatch(given, self.wanted)
            raise FunctionError(error.message, 0, error.path)
        return self.wanted

    def implementation(self, args: list[Value], expected: Type) -> Value:
        try:
            return convert(args[0], expected)
        except CtyError as error:
            if args[0].contains_marked:
                # The reason may quote a part of what must not be shown.
                name = args[0].type.friendly_name()
                raise FunctionError(f"this {name} cannot be converted", 0) from None
            raise FunctionError(error.message, 0, error.path) from error


def to_type(wanted: Type) -> Function:
    """The function that converts its argument to that type."""
    conversion = _Conversion(wanted)
    return Function(
        (Parameter("v", DYNAMIC, allow_null=True, allow_dynamic=True, allow_marked=True),),
        None,
        conversion.return_type,
        conversion.implementation,
    )


def _convert(args: list[Value], _: Type) -> Value:
    closure = cast(Closure, args[1].data)
    diags = Diagnostics()
    constraint = parse_type_constraint(closure.expression, diags)
    if diags.has_errors:
        first = next(iter(diags))
        raise FunctionError(f"a type constraint is required: {first.detail.rstrip('.')}", 1)
    try:
        return constraint.convert(args[0])
    except CtyError as error:
        raise FunctionError(error.message, 0, error.path) from error


CONVERT: Final = Function((_ANYTHING, Parameter("type", CLOSURE_TYPE)), None, DYNAMIC, _convert)

TYPE_TYPE: Final = CapsuleType("type", Type)
"""What `type` gives. The console prints it; nothing else can be done with it."""

TYPE_MARK: Final = "from type()"
"""A mark on all that comes from `type`, so that the console sees what was made of it."""


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

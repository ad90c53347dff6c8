"""Equality, logic and conversion functions for values of any type."""

from __future__ import annotations

from nigari.cty import operations
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.mismatch import mismatch
from nigari.cty.types import BOOL, DYNAMIC, Type
from nigari.cty.unify import conversion_exists, unify
from nigari.cty.values import Value, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_A = Parameter("a", DYNAMIC, allow_null=True, allow_unknown=True, allow_dynamic=True)
_B = Parameter("b", DYNAMIC, allow_null=True, allow_unknown=True, allow_dynamic=True)
_BOOL_A: Final = Parameter("a", BOOL, allow_dynamic=True, allow_marked=True)
_BOOL_B: Final = Parameter("b", BOOL, allow_dynamic=True, allow_marked=True)


def _equal(args: list[Value], _: Type) -> Value:
    return operations.equals(args[0], args[1])


def _not_equal(args: list[Value], _: Type) -> Value:
    return operations.not_equals(args[0], args[1])


def _not(args: list[Value], _: Type) -> Value:
    return operations.logical_not(args[0])


def _and(args: list[Value], _: Type) -> Value:
    return operations.logical_and(args[0], args[1])


def _or(args: list[Value], _: Type) -> Value:
    return operations.logical_or(args[0], args[1])


EQUAL: Final = Function((_A, _B), None, BOOL, _equal, NOT_NULL_RESULT)
NOT_EQUAL: Final = Function((_A, _B), None, BOOL, _not_equal, NOT_NULL_RESULT)
NOT: Final = Function(
    (Parameter("val", BOOL, allow_dynamic=True, allow_marked=True),),
    None,
    BOOL,
    _not,
    NOT_NULL_RESULT,
)
AND: Final = Function((_BOOL_A, _BOOL_B), None, BOOL, _and, NOT_NULL_RESULT)
OR: Final = Function((_BOOL_A, _BOOL_B), None, BOOL, _or, NOT_NULL_RESULT)


def _common_type(args: list[Value]) -> Type:
    common = unify([arg.type for arg in args], unsafe=True)
    if common is None:
        raise FunctionError("all arguments must have the same type")
    return common


def _coalesce(args: list[Value], expected: Type) -> Value:
    for arg in args:
        if not arg.is_known:
            return unknown(expected)
        if arg.data is not None:
            return convert(arg, expected)
    raise FunctionError("every argument is null")


COALESCE: Final = Function(
    (),
    Parameter("vals", DYNAMIC, allow_null=True, allow_unknown=True, allow_dynamic=True),
    _common_type,
    _coalesce,
    NOT_NULL_RESULT,
)


def _first_type(args: list[Value]) -> Type:
    return args[0].type


def _first(args: list[Value], _: Type) -> Value:
    return args[0]


ASSERT_NOT_NULL: Final = Function(
    (Parameter("v", DYNAMIC),), None, _first_type, _first, NOT_NULL_RESULT
)


class _Conversion:
    """Type function and implementation of a function that converts to one type."""

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
                # The reason may quote part of a marked value.
                name = args[0].type.friendly_name()
                raise FunctionError(f"this {name} cannot be converted", 0) from None
            raise FunctionError(error.message, 0, error.path) from error


def to_type(wanted: Type) -> Function:
    """Define the function that converts its argument to that type."""
    conversion = _Conversion(wanted)
    return Function(
        (Parameter("v", DYNAMIC, allow_null=True, allow_dynamic=True, allow_marked=True),),
        None,
        conversion.return_type,
        conversion.implementation,
    )

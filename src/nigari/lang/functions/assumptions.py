"""The `assume…` functions: promises about an unknown value, which are checked once it is known."""

from __future__ import annotations

from nigari.cty import operations
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.function import Function, FunctionError, Parameter
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.cty.refinements import Refinement, refine
from nigari.cty.stdlib.arguments import int_argument
from nigari.cty.types import (
    DYNAMIC,
    KIND_DYNAMIC,
    NUMBER,
    STRING,
    ListType,
    MapType,
    SetType,
    Type,
)
from nigari.cty.values import Value
from nigari.lang.marks import EPHEMERAL, SENSITIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


def _value(type_: Type) -> Parameter:
    return Parameter("value", type_, allow_null=True, allow_unknown=True, allow_dynamic=True)


def _refined(value: Value, by: Refinement) -> Value:
    try:
        return refine(value, by)
    except CtyError as error:
        raise FunctionError(f"the assumption does not hold: {error.message}", 0) from error


# -- equality -----------------------------------------------------------------------------------


def _assumed_type(args: list[Value]) -> Type:
    return args[1].type


def _assume_equal(args: list[Value], _: Type) -> Value:
    actual, assumed = args
    try:
        actual = convert(actual, assumed.type)
    except CtyError as error:
        wanted = assumed.type.friendly_name()
        raise FunctionError(f"a value like the assumed {wanted} is required", 0) from error
    equal = operations.equals(actual, assumed).unmark()[0]
    if equal.is_known and not equal.as_bool():
        raise FunctionError("the value is not equal to the assumed one", 0)
    # Causes of the first value stay on the result; its sensitive mark does not, as the assumed
    # value is written in the configuration.
    kept = [
        (path, marks - {SENSITIVE, EPHEMERAL})
        for path, marks in unmark_deep_with_paths(actual)[1]
        if marks - {SENSITIVE, EPHEMERAL}
    ]
    return mark_with_paths(assumed, kept)


def _anything(name: str) -> Parameter:
    return Parameter(
        name, DYNAMIC, allow_null=True, allow_unknown=True, allow_dynamic=True, allow_marked=True
    )


ASSUME_EQUAL: Final = Function(
    (_anything("actual_value"), _anything("expected_value")), None, _assumed_type, _assume_equal
)


# -- refinements --------------------------------------------------------------------------------


def _assume_not_null(args: list[Value], _: Type) -> Value:
    if args[0].type.kind == KIND_DYNAMIC:
        # go-cty: refinements belong to a type, so a value of unknown type can have none.
        raise FunctionError("a value of known type is required: use convert() to give it one", 0)
    return _refined(args[0], Refinement(not_null=True))


def _assume_string_prefix(args: list[Value], _: Type) -> Value:
    return _refined(args[0], Refinement(prefix=args[1].as_string()))


def _assume_length(args: list[Value], _: Type) -> Value:
    return _refined(args[0], _bounds(int_argument(args[1], 1), int_argument(args[2], 2)))


def _assume_min_length(args: list[Value], _: Type) -> Value:
    return _refined(args[0], _bounds(int_argument(args[1], 1), -1))


def _assume_max_length(args: list[Value], _: Type) -> Value:
    most = int_argument(args[1], 1)
    if most < 0:
        raise FunctionError("a length must not be negative", 1)
    return _refined(args[0], _bounds(0, most))


def _bounds(least: int, most: int) -> Refinement:
    if least < 0:
        raise FunctionError("a length must not be negative", 1)
    return Refinement(min_length=least, max_length=most)


_MIN: Final = Parameter("min_length", NUMBER)
_MAX: Final = Parameter("max_length", NUMBER)

FUNCTIONS: Final = {
    "assumeequal": ASSUME_EQUAL,
    "assumenotnull": Function((_value(DYNAMIC),), None, DYNAMIC, _assume_not_null),
    "assumestringprefix": Function(
        (_value(STRING), Parameter("prefix", STRING)), None, STRING, _assume_string_prefix
    ),
}
for _noun, _kind in (("list", ListType), ("map", MapType), ("set", SetType)):
    _type = _kind(DYNAMIC)
    _of = _value(_type)
    FUNCTIONS[f"assume{_noun}length"] = Function((_of, _MIN, _MAX), None, _type, _assume_length)
    FUNCTIONS[f"assume{_noun}lengthmin"] = Function((_of, _MIN), None, _type, _assume_min_length)
    FUNCTIONS[f"assume{_noun}lengthmax"] = Function((_of, _MAX), None, _type, _assume_max_length)

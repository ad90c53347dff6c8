"""Arithmetic, comparison and rounding of numbers."""

from __future__ import annotations

from nigari.cty import numbers, operations
from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.stdlib.arguments import float_argument, int_argument
from nigari.cty.stdlib.float_functions import logarithm, power
from nigari.cty.types import BOOL, DYNAMIC, KIND_STRING, NUMBER, Type
from nigari.cty.values import Value, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ONE: Final = Parameter("num", NUMBER, allow_dynamic=True, allow_marked=True)
_A = Parameter("a", NUMBER, allow_dynamic=True)
_B = Parameter("b", NUMBER, allow_dynamic=True)
_COMPARED_A: Final = Parameter(
    "a", NUMBER, allow_unknown=True, allow_dynamic=True, allow_marked=True
)
_COMPARED_B: Final = Parameter(
    "b", NUMBER, allow_unknown=True, allow_dynamic=True, allow_marked=True
)
_NUM: Final = Parameter("num", NUMBER)


def _absolute(args: list[Value], _: Type) -> Value:
    return operations.absolute(args[0])


def _negate(args: list[Value], _: Type) -> Value:
    return operations.negate(args[0])


def _add(args: list[Value], _: Type) -> Value:
    return operations.add(args[0], args[1])


def _subtract(args: list[Value], _: Type) -> Value:
    return operations.subtract(args[0], args[1])


def _multiply(args: list[Value], _: Type) -> Value:
    return operations.multiply(args[0], args[1])


def _divide(args: list[Value], _: Type) -> Value:
    return operations.divide(args[0], args[1])


def _modulo(args: list[Value], _: Type) -> Value:
    return operations.modulo(args[0], args[1])


ABSOLUTE: Final = Function((_ONE,), None, NUMBER, _absolute, NOT_NULL_RESULT)
NEGATE: Final = Function((_ONE,), None, NUMBER, _negate, NOT_NULL_RESULT)
ADD: Final = Function((_A, _B), None, NUMBER, _add, NOT_NULL_RESULT)
SUBTRACT: Final = Function((_A, _B), None, NUMBER, _subtract, NOT_NULL_RESULT)
MULTIPLY: Final = Function((_A, _B), None, NUMBER, _multiply, NOT_NULL_RESULT)
DIVIDE: Final = Function((_A, _B), None, NUMBER, _divide, NOT_NULL_RESULT)
MODULO: Final = Function((_A, _B), None, NUMBER, _modulo, NOT_NULL_RESULT)


def _less(args: list[Value], _: Type) -> Value:
    return operations.less_than(args[0], args[1])


def _less_or_equal(args: list[Value], _: Type) -> Value:
    return operations.less_than_or_equal(args[0], args[1])


def _greater(args: list[Value], _: Type) -> Value:
    return operations.greater_than(args[0], args[1])


def _greater_or_equal(args: list[Value], _: Type) -> Value:
    return operations.greater_than_or_equal(args[0], args[1])


_COMPARED: Final = (_COMPARED_A, _COMPARED_B)
LESS_THAN: Final = Function(_COMPARED, None, BOOL, _less, NOT_NULL_RESULT)
LESS_THAN_OR_EQUAL: Final = Function(_COMPARED, None, BOOL, _less_or_equal, NOT_NULL_RESULT)
GREATER_THAN: Final = Function(_COMPARED, None, BOOL, _greater, NOT_NULL_RESULT)
GREATER_THAN_OR_EQUAL: Final = Function(_COMPARED, None, BOOL, _greater_or_equal, NOT_NULL_RESULT)


def _min(args: list[Value], _: Type) -> Value:
    return _most(args, -1)


def _max(args: list[Value], _: Type) -> Value:
    return _most(args, 1)


def _most(args: list[Value], wanted_order: int) -> Value:
    if not args:
        raise FunctionError("at least one number is required")
    found = args[0]
    for arg in args:
        if numbers.compare(arg.as_number(), found.as_number()) == wanted_order:
            found = arg
    return found


_NUMBERS: Final = Parameter("numbers", NUMBER, allow_dynamic=True)
MIN: Final = Function((), _NUMBERS, NUMBER, _min, NOT_NULL_RESULT)
MAX: Final = Function((), _NUMBERS, NUMBER, _max, NOT_NULL_RESULT)


def _int(args: list[Value], _: Type) -> Value:
    return number(numbers.truncate(args[0].as_number()))


def _ceil(args: list[Value], _: Type) -> Value:
    return number(numbers.ceil(args[0].as_number()))


def _floor(args: list[Value], _: Type) -> Value:
    return number(numbers.floor(args[0].as_number()))


def _log(args: list[Value], _: Type) -> Value:
    num, base = float_argument(args[0], 0), float_argument(args[1], 1)
    return Value(NUMBER, numbers.from_float(logarithm(num, base)))


def _pow(args: list[Value], _: Type) -> Value:
    num, exponent = float_argument(args[0], 0), float_argument(args[1], 1)
    return Value(NUMBER, numbers.from_float(power(num, exponent)))


def _signum(args: list[Value], _: Type) -> Value:
    found = int_argument(args[0], 0)
    return number((found > 0) - (found < 0))


INT: Final = Function(
    (Parameter("num", NUMBER, allow_dynamic=True),), None, NUMBER, _int, NOT_NULL_RESULT
)
CEIL: Final = Function((_NUM,), None, NUMBER, _ceil, NOT_NULL_RESULT)
FLOOR: Final = Function((_NUM,), None, NUMBER, _floor, NOT_NULL_RESULT)
LOG: Final = Function((_NUM, Parameter("base", NUMBER)), None, NUMBER, _log, NOT_NULL_RESULT)
POW: Final = Function((_NUM, Parameter("power", NUMBER)), None, NUMBER, _pow, NOT_NULL_RESULT)
SIGNUM: Final = Function((_NUM,), None, NUMBER, _signum, NOT_NULL_RESULT)

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LONGEST_TEXT: Final = 100_000


def _parse_int_type(args: list[Value]) -> Type:
    if args[0].type.kind != KIND_STRING:
        raise FunctionError(f"a string is required, not {args[0].type.with_article()}", 0)
    return NUMBER


def _parse_int(args: list[Value], _: Type) -> Value:
    base = int_argument(args[1], 1)
    if not 2 <= base <= 62:
        raise FunctionError("the base must be between 2 and 62", 1)
    text = args[0].as_string()
    digits = text[1:] if text[:1] in ("+", "-") else text
    if base <= 36:
        digits = digits.lower()
    allowed = _DIGITS[:base]
    if not digits or digits.strip(allowed) or len(digits) > _LONGEST_TEXT:
        raise FunctionError(f'"{text}" is not an integer in base {base}', 0)
    found = _from_digits(digits, base)
    return number(numbers.from_exact_int(-found if text[0] == "-" else found))


def _from_digits(digits: str, base: int) -> int:
    """Convert digits by combining halves, which takes less than quadratic time for long texts."""
    parts = [_DIGITS.index(digit) for digit in reversed(digits)]
    scale = base
    while len(parts) > 1:
        if len(parts) & 1:
            parts.append(0)
        parts = [parts[i] + parts[i + 1] * scale for i in range(0, len(parts), 2)]
        scale *= scale
    return parts[0]


PARSE_INT: Final = Function(
    (Parameter("number", DYNAMIC), Parameter("base", NUMBER)),
    None,
    _parse_int_type,
    _parse_int,
    NOT_NULL_RESULT,
)

"""Numbers: the payload of a `number` value, and its arithmetic.

A number is a binary floating point number with a 512-bit mantissa, rounded half to even, as
go-cty's `big.Float`. Its payload is an `int` if it is whole, smaller than 2**512 and exact at its
precision; otherwise a `Number`. Functions here take and return payloads; they know nothing of
values, nulls or unknowns.

An `int` computes as if it had 512 bits of precision. A `Number` has its own precision, because
results of the floating point functions (`pow`, `log`) have 53 bits and print that way.
"""

from __future__ import annotations

from nigari.cty.decimals import (
    MAX_EXPONENT,
    MIN_EXPONENT,
    divide_rounded,
    exact_digits,
    general_text,
    int_from_digits,
    int_to_digits,
    parse_decimal,
    plain_text,
    round_digits,
    round_half_even,
    shortest_digits,
)
from nigari.cty.errors import CtyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


PRECISION: Final = 512
FLOAT_PRECISION: Final = 53

_LIMIT: Final = 1 << PRECISION

# Longer texts would only serve to exhaust memory.
_MAX_TEXT_DIGITS: Final = 10_000_000

_ZERO: Final = 0
_FINITE: Final = 1
_INFINITE: Final = 2


class Number:
    """A number that is not a small integer: a fraction, a huge integer, -0 or an infinity.

    The magnitude of a finite one is `mantissa * 2**exponent` with an odd mantissa.
    """

    __slots__ = ("_decimal", "exponent", "form", "mantissa", "negative", "precision")

    form: int
    negative: bool
    mantissa: int
    exponent: int
    precision: int

    def __init__(
        self,
        form: int,
        negative: bool,
        mantissa: int,
        exponent: int,
        precision: int,
        decimal: tuple[str, int] | None = None,
    ) -> None:
        self.form = form
        self.negative = negative
        self.mantissa = mantissa
        self.exponent = exponent
        self.precision = precision
        self._decimal = decimal

    def decimal(self) -> tuple[str, int]:
        """The shortest digits that identify the magnitude, and the position of the decimal point."""
        if self._decimal is None:
            self._decimal = shortest_digits(self.mantissa, self.exponent, self.precision)
        return self._decimal

    def __eq__(self, other: object) -> bool:
        """Compare whole numbers by value and fractions by their printed form; -0 equals 0."""
        if isinstance(other, int):
            if self.form == _ZERO:
                return other == 0
            return (
                self.form == _FINITE
                and 0 <= self.exponent <= PRECISION
                and _signed(self) << self.exponent == other
            )
        if not isinstance(other, Number):
            return NotImplemented
        if self.form != other.form:
            return False
        if self.form == _ZERO:
            return True
        if self.negative != other.negative:
            return False
        if self.mantissa == other.mantissa and self.exponent == other.exponent:
            return True
        if self.exponent >= 0 or other.exponent >= 0 or self.precision == other.precision:
            return False
        return self.decimal() == other.decimal()

    def __hash__(self) -> int:
        if self.form == _ZERO:
            return 0
        if self.form == _INFINITE:
            return hash((self.negative, "infinity"))
        if self.exponent < 0:
            return hash((self.negative, self.decimal()))
        if self.exponent <= PRECISION:
            return hash(_signed(self) << self.exponent)
        return hash((self.negative, self.mantissa, self.exponent))

    def __repr__(self) -> str:
        return f"Number({to_text(self)})"

    def __reduce__(self) -> tuple[object, ...]:
        fields = (self.form, self.negative, self.mantissa, self.exponent, self.precision)
        return (Number, fields)


INFINITY: Final = Number(_INFINITE, False, 0, 0, PRECISION)
NEGATIVE_INFINITY: Final = Number(_INFINITE, True, 0, 0, PRECISION)
NEGATIVE_ZERO: Final = Number(_ZERO, True, 0, 0, PRECISION)


def _signed(number: Number) -> int:
    return -number.mantissa if number.negative else number.mantissa


def _finite(negative: bool, mantissa: int, exponent: int, precision: int) -> int | Number:
    """Build the payload of a magnitude that is already rounded to `precision`."""
    if mantissa == 0:
        return NEGATIVE_ZERO if negative else 0
    zeros = (mantissa & -mantissa).bit_length() - 1
    mantissa >>= zeros
    exponent += zeros
    size = mantissa.bit_length() + exponent
    if exponent >= 0 and size <= precision and size <= PRECISION:
        whole = mantissa << exponent
        return -whole if negative else whole
    if size > MAX_EXPONENT:
        return NEGATIVE_INFINITY if negative else INFINITY
    if size < MIN_EXPONENT:
        return NEGATIVE_ZERO if negative else 0
    return Number(_FINITE, negative, mantissa, exponent, precision)


def _rounded(signed: int, exponent: int, precision: int) -> int | Number:
    mantissa, exponent = round_half_even(abs(signed), exponent, precision)
    return _finite(signed < 0, mantissa, exponent, precision)


def from_int(n: int, precision: int = PRECISION) -> int | Number:
    """Round an integer of any size to the precision."""
    if -_LIMIT < n < _LIMIT and precision == PRECISION:
        return n
    return _rounded(n, 0, precision)


def from_exact_int(n: int) -> int | Number:
    """Convert an integer of any size with all its bits, as `parseint` does."""
    return from_int(n, max(PRECISION, n.bit_length()))


def from_float(f: float) -> int | Number:
    """Convert a float, with a precision of 53 bits. NaN raises an error."""
    if f != f:
        raise CtyError("Not a number (NaN) cannot be represented as a number value.")
    if f in (float("inf"), float("-inf")):
        return INFINITY if f > 0 else NEGATIVE_INFINITY
    if f == 0:
        return NEGATIVE_ZERO if str(f)[0] == "-" else 0
    numerator, denominator = f.as_integer_ratio()
    exponent = 1 - denominator.bit_length()
    return _finite(f < 0, abs(numerator), exponent, FLOAT_PRECISION)


def to_float(n: int | Number) -> float:
    """Convert to the nearest float; infinite if the number exceeds the largest one."""
    if isinstance(n, int):
        try:
            return float(n)
        except OverflowError:
            return float("inf") if n > 0 else float("-inf")
    if n.form == _ZERO:
        return -0.0 if n.negative else 0.0
    sign = -1.0 if n.negative else 1.0
    if n.form == _INFINITE or n.mantissa.bit_length() + n.exponent > 1100:
        return sign * float("inf")
    if n.mantissa.bit_length() + n.exponent < -1100:
        return sign * 0.0
    try:
        if n.exponent >= 0:
            return float(_signed(n) << n.exponent)
        # True division of integers rounds correctly, subnormal results included.
        return _signed(n) / (1 << -n.exponent)
    except OverflowError:
        return sign * float("inf")


def parse(text: str) -> int | Number:
    """Parse decimal text, or raise `CtyError`."""
    size = len(text)
    if size < 19 and text.isdecimal() and text.isascii():
        return int(text)
    if size <= 4 and text.lstrip("+-") in ("inf", "Inf") and size - 3 in (0, 1):
        return NEGATIVE_INFINITY if text[0] == "-" else INFINITY
    read = parse_decimal(text, PRECISION)
    if read is None:
        raise CtyError("A number is required.")
    number = _finite(read.negative, read.mantissa, read.exponent, PRECISION)
    if isinstance(number, Number) and number.form == _FINITE:
        return Number(
            _FINITE, number.negative, number.mantissa, number.exponent, PRECISION, read.decimal
        )
    return number


def to_text(n: int | Number) -> str:
    """Write the shortest text that identifies the number at its precision, without an exponent."""
    if isinstance(n, int):
        return str(n)
    if n.form == _INFINITE:
        return "-Inf" if n.negative else "+Inf"
    if n.form == _ZERO:
        return "-0"
    if n.exponent >= 0 and n.mantissa.bit_length() + n.exponent <= n.precision:
        text = int_to_digits(n.mantissa << n.exponent)
    else:
        digits, point = n.decimal()
        if abs(point) > _MAX_TEXT_DIGITS:
            raise CtyError("The number has too many digits to be written out.")
        text = plain_text(digits, point)
    return "-" + text if n.negative else text


def to_general_text(n: int | Number, digits: int) -> str:
    """Write the number with that many significant digits, with an exponent if that is shorter."""
    if is_infinite(n):
        return to_text(n)
    if is_zero(n):
        return "0" if isinstance(n, int) else "-0"
    negative, mantissa, exponent = parts(n)
    rounded, point = round_digits(*exact_digits(mantissa, exponent), digits)
    text = general_text(rounded, point, digits, "e")
    return "-" + text if negative else text


def parts(n: int | Number) -> tuple[bool, int, int]:
    """Split a finite number into (negative, mantissa, exponent)."""
    if isinstance(n, int):
        return n < 0, abs(n), 0
    return n.negative, n.mantissa, n.exponent


def is_infinite(n: int | Number) -> bool:
    return not isinstance(n, int) and n.form == _INFINITE


def is_zero(n: int | Number) -> bool:
    return n == 0 if isinstance(n, int) else n.form == _ZERO


def sign(n: int | Number) -> int:
    """Return -1, 0 or 1."""
    if isinstance(n, int):
        return (n > 0) - (n < 0)
    if n.form == _ZERO:
        return 0
    return -1 if n.negative else 1


def is_whole(n: int | Number) -> bool:
    """Check for an integer of any size; infinities are not whole."""
    return isinstance(n, int) or n.form == _ZERO or (n.form == _FINITE and n.exponent >= 0)


def whole(n: int | Number, bits: int = 100_000) -> int | None:
    """Convert to an integer; None for fractions and for more than `bits` bits."""
    if isinstance(n, int):
        return n if n.bit_length() <= bits else None
    if not is_whole(n) or n.mantissa.bit_length() + n.exponent > bits:
        return None
    return _signed(n) << n.exponent


def to_int(n: int | Number, bits: int = 100_000) -> int:
    """Convert a whole number to the integer as printed; raise `CtyError` beyond `bits` bits.

    If it needs more bits than its precision, the digits that identify it are followed by zeros.
    """
    if isinstance(n, int):
        return n
    if n.mantissa.bit_length() + n.exponent > bits:
        raise CtyError("The number is too large for a Python integer.")
    text = to_text(n)
    return -int_from_digits(text[1:]) if n.negative else int_from_digits(text)


def compare(a: int | Number, b: int | Number) -> int:
    """Compare exactly: -1, 0 or 1."""
    if isinstance(a, int) and isinstance(b, int):
        return (a > b) - (a < b)
    sign_a, sign_b = sign(a), sign(b)
    if sign_a != sign_b:
        return 1 if sign_a > sign_b else -1
    if sign_a == 0:
        return 0
    if is_infinite(a) or is_infinite(b):
        return (is_infinite(a) - is_infinite(b)) * sign_a
    _, mantissa_a, exponent_a = parts(a)
    _, mantissa_b, exponent_b = parts(b)
    size_a = mantissa_a.bit_length() + exponent_a
    size_b = mantissa_b.bit_length() + exponent_b
    if size_a != size_b:
        return sign_a if size_a > size_b else -sign_a
    # Equal sizes: the shift is at most the longer mantissa.
    if exponent_a > exponent_b:
        mantissa_a <<= exponent_a - exponent_b
    else:
        mantissa_b <<= exponent_b - exponent_a
    return ((mantissa_a > mantissa_b) - (mantissa_a < mantissa_b)) * sign_a


def _precision(a: int | Number, b: int | Number) -> int:
    of_a = PRECISION if isinstance(a, int) else a.precision
    of_b = PRECISION if isinstance(b, int) else b.precision
    return max(of_a, of_b)


def _infinity(negative: bool) -> Number:
    return NEGATIVE_INFINITY if negative else INFINITY


def negate(a: int | Number) -> int | Number:
    if isinstance(a, int):
        return -a if a else NEGATIVE_ZERO
    if a.form == _ZERO:
        return 0
    return Number(a.form, not a.negative, a.mantissa, a.exponent, a.precision)


def absolute(a: int | Number) -> int | Number:
    if isinstance(a, int):
        return abs(a)
    return negate(a) if a.negative else a


def add(a: int | Number, b: int | Number) -> int | Number:
    if isinstance(a, int) and isinstance(b, int):
        total = a + b
        if -_LIMIT < total < _LIMIT:
            return total
        return _rounded(total, 0, PRECISION)
    if is_infinite(a) or is_infinite(b):
        if is_infinite(a) and is_infinite(b) and sign(a) != sign(b):
            raise CtyError("The sum of opposite infinities is undefined.")
        return a if is_infinite(a) else b
    return _add_finite(a, b, _precision(a, b))


def _add_finite(a: int | Number, b: int | Number, precision: int) -> int | Number:
    if is_zero(a) and is_zero(b):
        both_negative = isinstance(a, Number) and isinstance(b, Number)
        return NEGATIVE_ZERO if both_negative else 0
    negative_a, mantissa_a, exponent_a = parts(a)
    negative_b, mantissa_b, exponent_b = parts(b)
    if mantissa_a == 0:
        return _rounded(-mantissa_b if negative_b else mantissa_b, exponent_b, precision)
    if mantissa_b == 0:
        return _rounded(-mantissa_a if negative_a else mantissa_a, exponent_a, precision)
    if exponent_a < exponent_b:
        negative_a, mantissa_a, exponent_a, negative_b, mantissa_b, exponent_b = (
            negative_b, mantissa_b, exponent_b, negative_a, mantissa_a, exponent_a,
        )  # fmt: skip
    reach = exponent_b + mantissa_b.bit_length() + 2
    if exponent_a - precision - 2 > reach:
        # b only breaks ties: any magnitude that far below the last retained bit has the same
        # effect.
        mantissa_b, exponent_b = 1, exponent_a - precision - 2
    signed_a = (-mantissa_a if negative_a else mantissa_a) << (exponent_a - exponent_b)
    signed_b = -mantissa_b if negative_b else mantissa_b
    return _rounded(signed_a + signed_b, exponent_b, precision)


def subtract(a: int | Number, b: int | Number) -> int | Number:
    if isinstance(a, int) and isinstance(b, int):
        difference = a - b
        if -_LIMIT < difference < _LIMIT:
            return difference
        return _rounded(difference, 0, PRECISION)
    if is_infinite(a) and is_infinite(b) and sign(a) == sign(b):
        raise CtyError("Infinity minus infinity is undefined.")
    return add(a, negate(b))


def multiply(a: int | Number, b: int | Number) -> int | Number:
    if isinstance(a, int) and isinstance(b, int):
        product = a * b
        if product == 0:
            return NEGATIVE_ZERO if a < 0 or b < 0 else 0
        if -_LIMIT < product < _LIMIT:
            return product
        return _rounded(product, 0, PRECISION)
    negative = _is_negative(a) != _is_negative(b)
    if is_infinite(a) or is_infinite(b):
        if is_zero(a) or is_zero(b):
            raise CtyError("Zero times infinity is undefined.")
        return _infinity(negative)
    _, mantissa_a, exponent_a = parts(a)
    _, mantissa_b, exponent_b = parts(b)
    mantissa, exponent = round_half_even(
        mantissa_a * mantissa_b, exponent_a + exponent_b, PRECISION
    )
    # As in Go, a product may have more bits than either factor's precision.
    zeros = (mantissa & -mantissa).bit_length() - 1
    precision = max(_precision(a, b), mantissa.bit_length() - zeros)
    return _finite(negative, mantissa, exponent, precision)


def _is_negative(a: int | Number) -> bool:
    return a < 0 if isinstance(a, int) else a.negative


def divide(a: int | Number, b: int | Number) -> int | Number:
    """Divide; a zero divisor yields an infinity, except for 0 / 0."""
    if isinstance(a, int) and isinstance(b, int) and a and b:
        quotient, rest = divmod(a, b)
        if rest == 0:
            return quotient
    negative = _is_negative(a) != _is_negative(b)
    if is_infinite(a):
        if is_infinite(b):
            raise CtyError("Infinity divided by infinity is undefined.")
        return _infinity(negative)
    if is_zero(b):
        if is_zero(a):
            raise CtyError("Zero divided by zero is undefined.")
        return _infinity(negative)
    if is_zero(a) or is_infinite(b):
        return NEGATIVE_ZERO if negative else 0
    _, mantissa_a, exponent_a = parts(a)
    _, mantissa_b, exponent_b = parts(b)
    precision = _precision(a, b)
    mantissa, exponent = divide_rounded(mantissa_a, mantissa_b, exponent_a - exponent_b, precision)
    return _finite(negative, mantissa, exponent, precision)


def modulo(a: int | Number, b: int | Number) -> int | Number:
    """Compute the remainder of division towards zero; a number modulo zero is itself."""
    if isinstance(a, int) and isinstance(b, int) and b and a.bit_length() < PRECISION - 2:
        rest = abs(a) % abs(b)
        return -rest if a < 0 else rest
    if is_infinite(a) or is_infinite(b):
        return multiply(a, b)
    if is_zero(b):
        return a
    precision = PRECISION if isinstance(a, int) else a.precision
    multiple = _round_to(truncate(divide(a, b)), precision)
    if is_zero(multiple):
        multiple = 0
    return _round_to(subtract(a, _round_to(multiply(b, multiple), precision)), precision)


def _round_to(n: int | Number, precision: int) -> int | Number:
    if is_infinite(n) or is_zero(n):
        return n
    negative, mantissa, exponent = parts(n)
    return _rounded(-mantissa if negative else mantissa, exponent, precision)


def truncate(a: int | Number) -> int | Number:
    """Drop the fraction."""
    if isinstance(a, int) or is_whole(a) or a.form == _INFINITE:
        return a
    shift = -a.exponent
    mantissa = a.mantissa >> shift if shift <= a.mantissa.bit_length() else 0
    return from_exact_int(-mantissa if a.negative else mantissa)


def floor(a: int | Number) -> int | Number:
    """Round down to a whole number."""
    if isinstance(a, int):
        return a
    if a.form == _ZERO:
        return 0
    if is_whole(a) or a.form == _INFINITE:
        return a
    below = truncate(a)
    return _round_to(subtract(below, 1) if a.negative else below, a.precision)


def ceil(a: int | Number) -> int | Number:
    """Round up to a whole number."""
    if isinstance(a, int):
        return a
    if a.form == _ZERO:
        return 0
    if is_whole(a) or a.form == _INFINITE:
        return a
    above = truncate(a)
    return _round_to(above if a.negative else add(above, 1), a.precision)

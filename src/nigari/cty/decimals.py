"""Conversion between binary mantissas and decimal digits.

Owns the rounding of integers to a number of bits, decimal parsing, and the shortest decimal that
still identifies a binary floating point number. Works on plain integers; knows neither `Number` nor
signs, infinities or values.

A magnitude is `mantissa * 2**exponent`. A decimal is `(digits, point)`, meaning `0.digits *
10**point`, without leading or trailing zeros.
"""

from __future__ import annotations

import re

from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


# Go's big.Float keeps a binary exponent in 32 bits; beyond it lie infinity and zero.
MAX_EXPONENT: Final = 2**31 - 1
MIN_EXPONENT: Final = -(2**31)

# Python refuses to convert longer integers in one step (sys.set_int_max_str_digits).
_CHUNK_DIGITS: Final = 4000
_CHUNK_BITS: Final = 13000

# Above this exponent digits come from a power of ten known to _GUARD_BITS bits more than needed.
_EXACT_EXPONENT: Final = 4096
_GUARD_BITS: Final = 512

# Decimals this short, and powers of ten this small, survive reading with 512 bits unchanged.
_SHORT_DIGITS: Final = 150
_EXACT_TENS: Final = 240

_DECIMAL_TEXT: Final = lazy_pattern(
    r"([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:([eEpP])([+-]?[0-9]+))?", re.ASCII
)


def round_half_even(mantissa: int, exponent: int, bits: int) -> tuple[int, int]:
    """Round to the nearest magnitude with at most `bits` bits; ties go to the even mantissa."""
    surplus = mantissa.bit_length() - bits
    if surplus <= 0:
        return mantissa, exponent
    kept = mantissa >> surplus
    rest = mantissa - (kept << surplus)
    half = 1 << (surplus - 1)
    if rest > half or (rest == half and kept & 1):
        kept += 1
    return kept, exponent + surplus


def divide_rounded(dividend: int, divisor: int, exponent: int, bits: int) -> tuple[int, int]:
    """Divide and round `dividend / divisor * 2**exponent` to `bits` bits."""
    shift = bits + 2 + divisor.bit_length() - dividend.bit_length()
    if shift < 0:
        shift = 0
    quotient, rest = divmod(dividend << shift, divisor)
    # The lowest bit stands for everything cut off, which is enough to break a tie correctly.
    quotient = (quotient << 1) | (1 if rest else 0)
    return round_half_even(quotient, exponent - shift - 1, bits)


def power_of_five(power: int, bits: int) -> tuple[int, int]:
    """Compute 5**power to about `bits` bits, in the same steps as Go's parser.

    Larger powers are inexact in Go, so the order of its roundings decides the last bit of `1e400`.
    """
    if power <= 27:
        return round_half_even(5**power, 0, bits)
    result, result_exponent = round_half_even(5**27, 0, bits)
    power -= 27
    factor, factor_exponent = 5, 0
    while power:
        if power & 1:
            result, result_exponent = round_half_even(
                result * factor, result_exponent + factor_exponent, bits
            )
        factor, factor_exponent = round_half_even(factor * factor, 2 * factor_exponent, bits + 64)
        power >>= 1
    return result, result_exponent


def int_from_digits(digits: str) -> int:
    """Compute `int(digits)` for any length in less than quadratic time."""
    if len(digits) <= _CHUNK_DIGITS:
        return int(digits)
    parts = [
        int(digits[max(0, end - _CHUNK_DIGITS) : end])
        for end in range(len(digits), 0, -_CHUNK_DIGITS)
    ]
    scale = 10**_CHUNK_DIGITS
    while len(parts) > 1:
        if len(parts) & 1:
            parts.append(0)
        parts = [parts[i] + parts[i + 1] * scale for i in range(0, len(parts), 2)]
        scale *= scale
    return parts[0]


def int_to_digits(number: int) -> str:
    """Compute `str(number)` for any length in less than quadratic time."""
    if number.bit_length() <= _CHUNK_BITS:
        return str(number)
    scales: list[int] = [10**_CHUNK_DIGITS]
    while scales[-1] <= number:
        scales.append(scales[-1] * scales[-1])
    parts = [number]
    for scale in reversed(scales):
        halves: list[int] = []
        for part in parts:
            halves.extend(divmod(part, scale))
        parts = halves
    return "".join([str(part).zfill(_CHUNK_DIGITS) for part in parts]).lstrip("0")


class Parsed:
    """A parsed number. Its exponent may be out of range, which the caller handles.

    `decimal` holds the digits from the text if printing the number reproduces them.
    """

    __slots__ = ("decimal", "exponent", "mantissa", "negative")

    negative: bool
    mantissa: int
    exponent: int

    def __init__(self, negative: bool, mantissa: int, exponent: int) -> None:
        self.negative = negative
        self.mantissa = mantissa
        self.exponent = exponent
        self.decimal: tuple[str, int] | None = None


def parse_decimal(text: str, bits: int) -> Parsed | None:
    """Parse decimal text; None if it is not a number."""
    match = _DECIMAL_TEXT.fullmatch(text)
    if match is None:
        return None
    negative = match[1] == "-"
    fraction = match[3] or match[4] or ""
    digits = (match[2] or "") + fraction
    mantissa = int_from_digits(digits)
    tens, twos = -len(fraction), 0
    if match[6] is not None:
        if len(match[6].lstrip("+-").lstrip("0")) > 19:
            return None
        written = int(match[6])
        if not -(2**63) <= written < 2**63:
            return None
        if match[5] in "eE":
            tens += written
        else:
            twos = written
    if mantissa == 0:
        return Parsed(negative, 0, 0)
    if not MIN_EXPONENT <= mantissa.bit_length() + tens + twos <= MAX_EXPONENT:
        return None
    parsed = Parsed(negative, *_scale(mantissa, tens, twos, bits))
    if twos == 0 and len(digits) <= _SHORT_DIGITS and abs(tens) <= _EXACT_TENS:
        digits = digits.lstrip("0")
        parsed.decimal = (digits.rstrip("0"), len(digits) + tens)
    return parsed


def _scale(mantissa: int, tens: int, twos: int, bits: int) -> tuple[int, int]:
    """Compute `mantissa * 10**tens * 2**twos`, rounded."""
    if tens == 0:
        return round_half_even(mantissa, twos, bits)
    five, five_exponent = power_of_five(abs(tens), bits + 64)
    if tens > 0:
        return round_half_even(mantissa * five, tens + twos + five_exponent, bits)
    return divide_rounded(mantissa, five, tens + twos - five_exponent, bits)


def exact_digits(mantissa: int, exponent: int) -> tuple[str, int]:
    """Compute all decimal digits of a magnitude.

    For extreme exponents, 150 digits more than the mantissa has: printing needs no more.
    """
    if mantissa == 0:
        return "", 0
    if abs(exponent) > _EXACT_EXPONENT:
        return _leading_digits(mantissa, exponent)
    if exponent >= 0:
        digits = int_to_digits(mantissa << exponent)
        return digits.rstrip("0"), len(digits)
    digits = int_to_digits(mantissa * 5**-exponent)
    return digits.rstrip("0"), len(digits) + exponent


def _leading_digits(mantissa: int, exponent: int) -> tuple[str, int]:
    bits = mantissa.bit_length() + _GUARD_BITS
    # Scale by 10**-tens so that an integer of about `bits` bits remains.
    tens = int((mantissa.bit_length() + exponent - bits) * 0.30102999566398119)
    five, five_exponent = power_of_five(abs(tens), bits + 128)
    if tens >= 0:
        shift = exponent - tens - five_exponent
        scaled = (mantissa << shift) // five if shift >= 0 else mantissa // (five << -shift)
    else:
        shift = exponent - tens + five_exponent
        scaled = mantissa * five << shift if shift >= 0 else mantissa * five >> -shift
    digits = int_to_digits(scaled)
    return digits.rstrip("0"), len(digits) + tens


def shortest_digits(mantissa: int, exponent: int, precision: int) -> tuple[str, int]:
    """Find the fewest digits that a reader with `precision` bits reads back as this magnitude."""
    digits, point = exact_digits(mantissa, exponent)
    # Two different decimals this short are never as close as the neighbours at this precision.
    if len(digits) <= int((precision - 1) * 0.30102999566398119):
        return digits, point
    shift = precision + 1 - mantissa.bit_length()
    doubled = mantissa << shift if shift >= 0 else mantissa >> -shift
    lower = exact_digits(doubled - 1, exponent - shift)[0]
    upper = exact_digits(doubled + 1, exponent - shift)[0]
    inclusive = doubled & 2 == 0
    for i, digit in enumerate(digits):
        low = lower[i] if i < len(lower) else "0"
        high = upper[i] if i < len(upper) else "0"
        down = low != digit or (inclusive and i + 1 == len(lower))
        up = high != digit and (inclusive or ord(digit) + 1 < ord(high) or i + 1 < len(upper))
        if down and up:
            return round_digits(digits, point, i + 1)
        if down:
            return digits[: i + 1].rstrip("0"), point
        if up:
            return _round_up(digits, point, i + 1)
    return digits, point


def round_digits(digits: str, point: int, count: int) -> tuple[str, int]:
    """Round to `count` digits, ties to even; zero or less may leave no digit."""
    if count >= len(digits):
        return digits, point
    if count < 0:
        return "", 0
    if digits[count] == "5" and count + 1 == len(digits):
        upwards = count > 0 and digits[count - 1] in "13579"
    else:
        upwards = digits[count] >= "5"
    if upwards:
        return _round_up(digits, point, count)
    kept = digits[:count].rstrip("0")
    return kept, point if kept else 0


def _round_up(digits: str, point: int, count: int) -> tuple[str, int]:
    if count >= len(digits):
        return digits, point
    kept = digits[:count].rstrip("9")
    if not kept:
        return "1", point + 1
    return kept[:-1] + chr(ord(kept[-1]) + 1), point


def plain_text(digits: str, point: int) -> str:
    """Write a decimal without an exponent, in as few characters as possible."""
    if not digits:
        return "0"
    if point <= 0:
        return "0." + "0" * -point + digits
    if point < len(digits):
        return digits[:point] + "." + digits[point:]
    return digits + "0" * (point - len(digits))


def fixed_text(digits: str, point: int, places: int) -> str:
    """Write a decimal with exactly `places` digits after the point; `digits` are already rounded."""
    if point > 0:
        whole = digits[:point].ljust(point, "0")
    else:
        whole = "0"
    if places <= 0:
        return whole
    fraction = "0" * min(-point, places) + digits if point <= 0 else digits[point:]
    return whole + "." + fraction[:places].ljust(places, "0")


def exponent_text(digits: str, point: int, places: int, letter: str) -> str:
    """Write a decimal as `d.ddde+dd` with exactly `places` digits after the point."""
    head = digits[:1] or "0"
    if places > 0:
        head += "." + digits[1 : places + 1].ljust(places, "0")
    power = point - 1 if digits else 0
    return f"{head}{letter}{'-' if power < 0 else '+'}{abs(power):02d}"


def general_text(digits: str, point: int, precision: int, letter: str) -> str:
    """Write a decimal in the more readable of the two forms; `precision` -1 keeps all digits."""
    shortest = precision < 0
    threshold = 6 if shortest else precision
    if shortest:
        precision = len(digits)
    elif precision > len(digits) >= point:
        threshold = len(digits)
    power = point - 1
    if power < -4 or power >= threshold:
        return exponent_text(digits, point, min(precision, len(digits)) - 1, letter)
    if precision > point:
        precision = len(digits)
    return fixed_text(digits, point, max(precision - point, 0))

"""Format verbs, such as `%-5.2f`: parsing a format string, and formatting one argument.

The syntax and its limits are those of `format` and `formatlist`. Lists of arguments and unknown
ones are handled in `nigari.cty.stdlib.format`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nigari.cty import numbers
from nigari.cty.convert import convert
from nigari.cty.decimals import (
    exact_digits,
    exponent_text,
    fixed_text,
    general_text,
    int_to_digits,
    round_digits,
)
from nigari.cty.errors import CtyError
from nigari.cty.function import FunctionError
from nigari.cty.graphemes import grapheme_count, graphemes
from nigari.cty.numbers import Number
from nigari.cty.types import BOOL, KIND_NUMBER, KIND_STRING, NUMBER, STRING
from nigari.cty.values import Value, string
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_VERB: Final = lazy_pattern(
    r"%(?P<flags>[0#\-+ ]*)(?P<width>[1-9][0-9]*)?(?P<dot>\.(?P<precision>[0-9]*))?"
    r"(?:\[(?P<argument>[1-9][0-9]*)\])?(?P<mode>[a-zA-Z])",
    re.ASCII,
)
_WIDEST: Final = 1_000_000
_INTEGER_BASES: Final = {"b": 2, "d": 10, "o": 8, "x": 16, "X": 16}
_BASE_PREFIXES: Final = {"b": "0b", "o": "0", "x": "0x", "X": "0X", "d": ""}
_LONGEST_INTEGER: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb. `width` and `precision` are -1 if absent."""

    text: str
    mode: str
    flags: str
    width: int
    precision: int
    argument: int

    @property
    def has_precision(self) -> bool:
        return self.precision >= 0


def read_format(text: str) -> list[str | Verb]:
    """Split a format string into literal texts and verbs."""
    parts: list[str | Verb] = []
    position = 0
    next_argument = 1
    while True:
        percent = text.find("%", position)
        if percent < 0:
            parts.append(text[position:])
            return parts
        parts.append(text[position:percent])
        if text.startswith("%%", percent):
            parts.append("%")
            position = percent + 2
            continue
        match = _VERB.match(text, percent)
        if match is None:
            raise FunctionError(f"the verb that begins at character {percent} is not valid", 0)
        verb = _verb(match, next_argument)
        next_argument = verb.argument + 1
        parts.append(verb)
        position = match.end()


def _verb(match: re.Match[str], next_argument: int) -> Verb:
    width, precision, argument = match["width"], match["precision"], match["argument"]
    for number in (width, precision, argument):
        if number and (len(number) > 7 or int(number) > _WIDEST):
            raise FunctionError(f'the number in the verb "{match[0]}" is too large', 0)
    return Verb(
        match[0],
        match["mode"],
        match["flags"],
        int(width) if width else -1,
        int(precision or 0) if match["dot"] else -1,
        int(argument) if argument else next_argument,
    )


def write_verb(verb: Verb, value: Value) -> str:
    """Format a wholly known value."""
    mode = verb.mode
    if value.data is None and mode != "v":
        raise FunctionError(f'null cannot be formatted with "{verb.text}"')
    try:
        if mode == "v":
            return _pad(verb, _default_text(verb, value))
        if mode == "t":
            return "true" if convert(value, BOOL).as_bool() else "false"
        if mode in "sq":
            return _write_string(verb, convert(value, STRING).as_string())
        if mode in _INTEGER_BASES:
            return _write_integer(verb, convert(value, NUMBER).as_number())
        if mode in "eEfgG":
            return _write_float(verb, convert(value, NUMBER).as_number())
    except FunctionError:
        raise
    except CtyError as error:
        raise FunctionError(f'for "{verb.text}": {error.message}') from error
    raise FunctionError(f'"{verb.text}" is not a supported verb', 0)


def _pad(verb: Verb, text: str) -> str:
    missing = verb.width - grapheme_count(text)
    if missing <= 0:
        return text
    padding = ("0" if "0" in verb.flags else " ") * missing
    return text + padding if "-" in verb.flags else padding + text


def _default_text(verb: Verb, value: Value) -> str:
    if "#" not in verb.flags and value.data is not None:
        if value.type.kind == KIND_STRING:
            return value.as_string()
        if value.type.kind == KIND_NUMBER:
            return _float_text(value.as_number(), "g", -1)
    from nigari.cty.json import value_to_json

    return value_to_json(value, value.type)


def _write_string(verb: Verb, text: str) -> str:
    if verb.precision > 0:
        text = "".join(graphemes(text)[: verb.precision])
    if verb.mode == "q":
        from nigari.cty.json import value_to_json

        text = value_to_json(string(text), STRING)
    return _pad(verb, text)


def _write_integer(verb: Verb, number: int | Number) -> str:
    whole = numbers.whole(number, _LONGEST_INTEGER)
    if whole is None:
        raise FunctionError(f'"{verb.text}" requires a whole number')
    sign = "-" if whole < 0 else "+" if "+" in verb.flags else " " if " " in verb.flags else ""
    digits = _digits(abs(whole), verb.mode)
    if verb.precision == 0 and whole == 0:
        return ""
    if "#" in verb.flags:
        sign += _BASE_PREFIXES[verb.mode]
    digits = digits.rjust(verb.precision, "0")
    missing = verb.width - len(sign) - len(digits)
    if missing <= 0:
        return sign + digits
    if "-" in verb.flags:
        return sign + digits + " " * missing
    if "0" in verb.flags and not verb.has_precision:
        return sign + "0" * missing + digits
    return " " * missing + sign + digits


def _digits(whole: int, mode: str) -> str:
    if mode == "d":
        return int_to_digits(whole)
    return format(whole, mode)


def _write_float(verb: Verb, number: int | Number) -> str:
    text = _float_text(number, verb.mode, verb.precision)
    infinite = numbers.is_infinite(number)
    sign = ""
    if text[0] in "+-":
        sign, text = text[0], text[1:]
        if sign == "+" and " " in verb.flags:
            sign = " "
    elif "+" in verb.flags:
        sign = "+"
    elif " " in verb.flags:
        sign = " "
    missing = verb.width - len(sign) - len(text)
    if missing <= 0:
        return sign + text
    if "0" in verb.flags and not infinite:
        return sign + "0" * missing + text
    if "-" in verb.flags:
        return sign + text + " " * missing
    return " " * missing + sign + text


def _float_text(number: int | Number, mode: str, precision: int) -> str:
    """Write a number with an exponent (e), without one (f), or in the shorter form (g).

    A precision of -1 is the default: six places, or for g the shortest exact form.
    """
    if numbers.is_infinite(number):
        return numbers.to_text(number)
    negative, mantissa, exponent = numbers.parts(number)
    lower = mode.lower()
    letter = "E" if mode.isupper() else "e"
    if lower == "g":
        text = _general(number, mantissa, exponent, precision, letter)
    else:
        digits, point = exact_digits(mantissa, exponent)
        if abs(point) > _LONGEST_INTEGER:
            raise FunctionError("the number has too many digits to be formatted")
        places = 6 if precision < 0 else precision
        if lower == "e":
            digits, point = round_digits(digits, point, places + 1)
            text = exponent_text(digits, point, places, letter)
        else:
            digits, point = round_digits(digits, point, point + places)
            text = fixed_text(digits, point, places)
    return "-" + text if negative else text


def _general(
    number: int | Number, mantissa: int, exponent: int, precision: int, letter: str
) -> str:
    if mantissa == 0:
        return "0"
    if precision >= 0:
        precision = precision or 1
        digits, point = round_digits(*exact_digits(mantissa, exponent), precision)
    elif isinstance(number, Number):
        digits, point = number.decimal()
    else:
        digits, point = exact_digits(mantissa, exponent)
    return general_text(digits, point, precision, letter)

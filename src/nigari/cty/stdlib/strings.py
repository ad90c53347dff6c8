"""String functions: letter case, length, substrings, trimming."""

from __future__ import annotations

from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.graphemes import grapheme_count, graphemes
from nigari.cty.json_text import clean_text
from nigari.cty.refinements import Refinement, refine
from nigari.cty.stdlib.arguments import int_argument
from nigari.cty.types import KIND_STRING, NUMBER, STRING, Type
from nigari.cty.values import Value, number, string, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_STR: Final = Parameter("str", STRING)
_DYNAMIC_STR: Final = Parameter("str", STRING, allow_dynamic=True)

# Unicode's White_Space property, as in Go; Python's own strip() also removes control characters.
_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_MOST_SPACES: Final = 1_000_000


def upper_text(text: str) -> str:
    """Convert to upper case character by character, as Go does, so that the length stays the same."""
    if text.isascii():
        return text.upper()
    return "".join([_upper_character(char) for char in clean_text(text)])


def _upper_character(char: str) -> str:
    upper = char.upper()
    return upper if len(upper) == 1 else _title_character(char)


def _title_character(char: str) -> str:
    title = char.title()
    return title if len(title) == 1 else char


def lower_text(text: str) -> str:
    """Convert to lower case character by character, as Go does, regardless of neighbours."""
    if text.isascii():
        return text.lower()
    return "".join([char.lower()[0] for char in clean_text(text)])


def _upper(args: list[Value], _: Type) -> Value:
    return string(upper_text(args[0].as_string()))


def _lower(args: list[Value], _: Type) -> Value:
    return string(lower_text(args[0].as_string()))


def _title(args: list[Value], _: Type) -> Value:
    parts: list[str] = []
    starts_word = True
    for char in clean_text(args[0].as_string()):
        parts.append(_title_character(char) if starts_word else char)
        starts_word = _separates_words(char)
    return string("".join(parts))


def _separates_words(char: str) -> bool:
    if char.isascii():
        return not (char.isalnum() or char == "_")
    return char in _SPACE


def _reverse(args: list[Value], _: Type) -> Value:
    return string("".join(reversed(graphemes(args[0].as_string()))))


UPPER: Final = Function((_DYNAMIC_STR,), None, STRING, _upper, NOT_NULL_RESULT)
LOWER: Final = Function((_DYNAMIC_STR,), None, STRING, _lower, NOT_NULL_RESULT)
TITLE: Final = Function((_STR,), None, STRING, _title, NOT_NULL_RESULT)
REVERSE: Final = Function((_DYNAMIC_STR,), None, STRING, _reverse, NOT_NULL_RESULT)


def _strlen(args: list[Value], _: Type) -> Value:
    text = args[0]
    if text.is_known:
        return number(grapheme_count(text.as_string()))
    result = unknown(NUMBER)
    if text.type.kind != KIND_STRING:
        return result
    return refine(result, Refinement(lower=(grapheme_count(text.refinements.prefix), True)))


STRLEN: Final = Function(
    (Parameter("str", STRING, allow_unknown=True, allow_dynamic=True),),
    None,
    NUMBER,
    _strlen,
    Refinement(not_null=True, lower=(0, True)),
)


def _substr(args: list[Value], _: Type) -> Value:
    clusters = graphemes(args[0].as_string())
    offset, length = int_argument(args[1], 1), int_argument(args[2], 2)
    if offset < 0:
        offset = max(offset + len(clusters), 0)
        # go-cty: with a negative offset, a length of zero also means the rest of the string.
        length = length or -1
    found = clusters[offset:] if length < 0 else clusters[offset : offset + length]
    return string("".join(found))


SUBSTR: Final = Function(
    (
        _DYNAMIC_STR,
        Parameter("offset", NUMBER, allow_dynamic=True),
        Parameter("length", NUMBER, allow_dynamic=True),
    ),
    None,
    STRING,
    _substr,
    NOT_NULL_RESULT,
)


def _chomp(args: list[Value], _: Type) -> Value:
    return string(args[0].as_string().rstrip("\r\n"))


def _indent(args: list[Value], _: Type) -> Value:
    spaces = int_argument(args[0], 0)
    if not 0 <= spaces <= _MOST_SPACES:
        raise FunctionError(f"the number of spaces must be between 0 and {_MOST_SPACES}", 0)
    return string(args[1].as_string().replace("\n", "\n" + " " * spaces))


def _trim_space(args: list[Value], _: Type) -> Value:
    return string(args[0].as_string().strip(_SPACE))


def _trim(args: list[Value], _: Type) -> Value:
    return string(args[0].as_string().strip(args[1].as_string()))


def _trim_prefix(args: list[Value], _: Type) -> Value:
    return string(args[0].as_string().removeprefix(args[1].as_string()))


def _trim_suffix(args: list[Value], _: Type) -> Value:
    return string(args[0].as_string().removesuffix(args[1].as_string()))


CHOMP: Final = Function((_STR,), None, STRING, _chomp, NOT_NULL_RESULT)
INDENT: Final = Function(
    (Parameter("spaces", NUMBER), _STR), None, STRING, _indent, NOT_NULL_RESULT
)
TRIM_SPACE: Final = Function((_STR,), None, STRING, _trim_space, NOT_NULL_RESULT)
TRIM: Final = Function((_STR, Parameter("cutset", STRING)), None, STRING, _trim, NOT_NULL_RESULT)
TRIM_PREFIX: Final = Function(
    (_STR, Parameter("prefix", STRING)), None, STRING, _trim_prefix, NOT_NULL_RESULT
)
TRIM_SUFFIX: Final = Function(
    (_STR, Parameter("suffix", STRING)), None, STRING, _trim_suffix, NOT_NULL_RESULT
)


def _replace(args: list[Value], _: Type) -> Value:
    text, old, new = args[0].as_string(), args[1].as_string(), args[2].as_string()
    return string(text.replace(old, new))


REPLACE: Final = Function(
    (_STR, Parameter("substr", STRING), Parameter("replace", STRING)),
    None,
    STRING,
    _replace,
    NOT_NULL_RESULT,
)

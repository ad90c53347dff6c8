"""Regular expressions in RE2 syntax: `regex`, `regexall` and replacement.

RE2 matches any pattern in linear time. Its library is loaded with the first pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.json_text import clean_text
from nigari.cty.types import (
    DYNAMIC,
    STRING,
    CollectionType,
    ListType,
    ObjectType,
    TupleType,
    Type,
)
from nigari.cty.values import (
    DYNAMIC_UNKNOWN,
    Value,
    list_value,
    null,
    object_value,
    string,
    tuple_value,
)
from nigari.lazy import lazy_pattern
from nigari.typed import Protocol, cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Match(Protocol):
    """The part of a match object's interface that is used here."""

    def span(self, group: int = 0) -> tuple[int, int]: ...


class Pattern(Protocol):
    """The part of a compiled pattern's interface that is used here."""

    groups: int
    groupindex: dict[str, int]
    pattern: str

    def finditer(self, text: str | bytes) -> Iterator[Match]: ...


class _CharacterMatch:
    """A match found in bytes, with its positions converted to characters."""

    __slots__ = ("_characters", "_match")

    def __init__(self, match: Match, characters: list[int]) -> None:
        self._match = match
        self._characters = characters

    def span(self, group: int = 0) -> tuple[int, int]:
        start, end = self._match.span(group)
        if start < 0:
            return start, end
        return self._characters[start], self._characters[end]


# Between \Q and \E every character stands for itself.
_QUOTED: Final = lazy_pattern(r"\\Q.*?(?:\\E|\Z)", re.DOTALL)

# RE2's default limit is too low for some patterns that Go accepts.
_MOST_MEMORY: Final = 1 << 28

# RE2 accepts more characters in a group name than Go.
_GROUP_NAME: Final = lazy_pattern(r"\w+", re.ASCII)

# \C would match part of a character.
_SINGLE_BYTE: Final = lazy_pattern(r"(?<!\\)(?:\\\\)*\\C")

_NO_BOUNDARY: Final = "\\B"
_INSIDE: Final = -1
"""Marks a byte that does not begin a character."""

# Go accepts long names of Unicode classes; RE2 only knows the short ones.
_LONG_CLASS: Final = lazy_pattern(r"(\\+[pP])\{(\^?)([A-Za-z_]+)\}")
_CATEGORIES: Final = {
    "other": "C",
    "control": "Cc",
    "format": "Cf",
    "surrogate": "Cs",
    "privateuse": "Co",
    "letter": "L",
    "lowercaseletter": "Ll",
    "modifierletter": "Lm",
    "otherletter": "Lo",
    "titlecaseletter": "Lt",
    "uppercaseletter": "Lu",
    "mark": "M",
    "combiningmark": "M",
    "spacingmark": "Mc",
    "enclosingmark": "Me",
    "nonspacingmark": "Mn",
    "number": "N",
    "decimalnumber": "Nd",
    "digit": "Nd",
    "letternumber": "Nl",
    "othernumber": "No",
    "punctuation": "P",
    "punct": "P",
    "connectorpunctuation": "Pc",
    "dashpunctuation": "Pd",
    "closepunctuation": "Pe",
    "finalpunctuation": "Pf",
    "initialpunctuation": "Pi",
    "otherpunctuation": "Po",
    "openpunctuation": "Ps",
    "symbol": "S",
    "currencysymbol": "Sc",
    "modifiersymbol": "Sk",
    "mathsymbol": "Sm",
    "othersymbol": "So",
    "separator": "Z",
    "lineseparator": "Zl",
    "paragraphseparator": "Zp",
    "spaceseparator": "Zs",
}


def _short_class(match: re.Match[str]) -> str:
    name = _CATEGORIES.get(match[3].lower().replace("_", ""))
    if name is None or len(match[1]) % 2:
        return match[0]
    return f"{match[1]}{{{match[2]}{name}}}"


@lru_cache(maxsize=256)
def compile_pattern(pattern: str, argument: int = 0) -> Pattern:
    """Compile a pattern; raise a `FunctionError` about that argument if it is invalid."""
    import re2  # type: ignore[import-untyped]

    if clean_text(pattern) != pattern:
        raise FunctionError("the pattern is not valid: it is not UTF-8", argument)
    if _SINGLE_BYTE.search(_QUOTED.sub("", pattern)):
        raise FunctionError("the pattern is not valid: \\C is not supported", argument)
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    try:
        compiled = cast(Pattern, re2.compile(_LONG_CLASS.sub(_short_class, pattern), options))
    except re2.error as error:
        detail = error.args[0] if error.args else ""
        text = detail.decode(errors="replace") if isinstance(detail, bytes) else str(detail)
        raise FunctionError(f"the pattern is not valid: {text}", argument) from None
    for name in compiled.groupindex:
        if not _GROUP_NAME.fullmatch(name):
            detail = f'"{name}" cannot be the name of a group'
            raise FunctionError(f"the pattern is not valid: {detail}", argument)
    return compiled


def find_all(pattern: Pattern, text: str) -> list[Match]:
    """Find all matches that do not overlap; as in Go, an empty one right after another match is
    dropped.

    A byte that is not UTF-8 counts as one character, so the text of a group must be cut out of the
    original text.
    """
    matches: list[Match] = []
    previous_end = -1
    for match in _found(pattern, clean_text(text)):
        start, end = match.span()
        if start < end or end != previous_end:
            matches.append(match)
        previous_end = end
    return matches


def _found(pattern: Pattern, text: str) -> Iterator[Match]:
    r"""Find RE2's matches without the empty ones of `\B` between the bytes of a character."""
    if text.isascii() or _NO_BOUNDARY not in pattern.pattern:
        return pattern.finditer(text)
    characters: list[int] = []
    for index, character in enumerate(text):
        characters.append(index)
        characters.extend([_INSIDE] * (len(character.encode()) - 1))
    characters.append(len(text))
    return iter(
        [
            _CharacterMatch(match, characters)
            for match in pattern.finditer(text.encode())
            if characters[match.span()[0]] != _INSIDE
        ]
    )


def result_type(pattern: Pattern) -> Type:
    """Return the type of a match: a string, or a tuple or object of the captured groups."""
    if pattern.groups == 0:
        return STRING
    if not pattern.groupindex:
        return TupleType((STRING,) * pattern.groups)
    if None in _group_names(pattern):
        raise FunctionError("a pattern cannot have both named and unnamed groups", 0)
    return ObjectType(dict.fromkeys(pattern.groupindex, STRING))


def _result(pattern: Pattern, match: Match, text: str) -> Value:
    if pattern.groups == 0:
        return _captured(match, 0, text)
    if not pattern.groupindex:
        return tuple_value([_captured(match, i + 1, text) for i in range(pattern.groups)])
    # As in Go, the last of several groups with the same name wins.
    names = enumerate(_group_names(pattern), 1)
    return object_value({name: _captured(match, i, text) for i, name in names if name is not None})


# Escapes and character classes, which may contain parentheses that begin no group.
_GROUP: Final = lazy_pattern(
    r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]"
    r"|\((?:\?P?<(?P<name>\w+)>|(?P<plain>(?!\?)))",
    re.DOTALL,
)


def _group_names(pattern: Pattern) -> list[str | None]:
    """Return the name of each group in order; RE2 itself reports only one group for each name."""
    if len(pattern.groupindex) == pattern.groups:
        ordered = sorted(pattern.groupindex.items(), key=lambda item: item[1])
        return [name for name, _ in ordered]
    return [
        found["name"]
        for found in _GROUP.finditer(pattern.pattern)
        if found["name"] is not None or found["plain"] is not None
    ]


def _captured(match: Match, group: int, text: str) -> Value:
    start, end = match.span(group)
    return null(STRING) if start < 0 else string(text[start:end])


_PATTERN: Final = Parameter("pattern", STRING)
_STRING: Final = Parameter("string", STRING)


def _regex_type(args: list[Value]) -> Type:
    if not args[0].is_known:
        return DYNAMIC
    return result_type(compile_pattern(args[0].as_string()))


def _regex(args: list[Value], _: Type) -> Value:
    pattern = compile_pattern(args[0].as_string())
    text = args[1].as_string()
    match = next(_found(pattern, clean_text(text)), None)
    if match is None:
        raise FunctionError("the pattern does not match any part of the string")
    return _result(pattern, match, text)


def _regex_all_type(args: list[Value]) -> Type:
    return ListType(_regex_type(args))


def _regex_all(args: list[Value], expected: Type) -> Value:
    assert isinstance(expected, CollectionType)
    if expected.element is DYNAMIC:
        return DYNAMIC_UNKNOWN
    pattern = compile_pattern(args[0].as_string())
    text = args[1].as_string()
    matches = find_all(pattern, text)
    return list_value(expected.element, [_result(pattern, match, text) for match in matches])


REGEX: Final = Function((_PATTERN, _STRING), None, _regex_type, _regex, NOT_NULL_RESULT)
REGEX_ALL: Final = Function((_PATTERN, _STRING), None, _regex_all_type, _regex_all, NOT_NULL_RESULT)

_REFERENCE: Final = lazy_pattern(r"\$(?:(\$)|(\w+)|\{(\w+)\})")


def replace_all(pattern: Pattern, text: str, template: str) -> str:
    """Replace each match by the template, where `$1` or `${name}` stands for a group."""
    parts: list[str] = []
    position = 0
    for match in find_all(pattern, text):
        start, end = match.span()
        parts.append(text[position:start])
        parts.append(_expand(pattern, match, text, template))
        position = end
    parts.append(text[position:])
    return "".join(parts)


def _expand(pattern: Pattern, match: Match, text: str, template: str) -> str:
    parts: list[str] = []
    position = 0
    for reference in _REFERENCE.finditer(template):
        parts.append(template[position : reference.start()])
        position = reference.end()
        name = reference[2] or reference[3]
        if reference[1]:
            parts.append("$")
        else:
            parts.append(_group_text(pattern, match, text, name))
    parts.append(template[position:])
    return "".join(parts)


def _group_text(pattern: Pattern, match: Match, text: str, name: str) -> str:
    is_number = name.isascii() and name.isdecimal() and len(name) < 10
    group = int(name) if is_number else pattern.groupindex.get(name, -1)
    if not 0 <= group <= pattern.groups:
        return ""
    start, end = match.span(group)
    return "" if start < 0 else text[start:end]


def _regex_replace(args: list[Value], _: Type) -> Value:
    pattern = compile_pattern(args[1].as_string(), 1)
    return string(replace_all(pattern, args[0].as_string(), args[2].as_string()))


REGEX_REPLACE: Final = Function(
    (Parameter("str", STRING), _PATTERN, Parameter("replace", STRING)),
    None,
    STRING,
    _regex_replace,
    NOT_NULL_RESULT,
)

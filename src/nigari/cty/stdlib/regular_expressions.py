"""Regular expressions: `regex`, `regexall` and replacement."""

from __future__ import annotations

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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.regexp.pattern import Match, Pattern, Span


def compiled(pattern: str, argument: int = 0) -> Pattern:
    """Compile a pattern; raise a `FunctionError` about that argument if it is invalid."""
    from nigari.regexp.pattern import compile_pattern
    from nigari.regexp.syntax import PatternError

    if clean_text(pattern) != pattern:
        raise FunctionError("the pattern is not valid: it is not UTF-8", argument)
    try:
        return compile_pattern(pattern)
    except PatternError as error:
        raise FunctionError(f"the pattern is not valid: {error}", argument) from None


def result_type(pattern: Pattern) -> Type:
    """Return the type of a match: a string, or a tuple or object of the captured groups."""
    if not pattern.names:
        return STRING
    if not any(pattern.names):
        return TupleType((STRING,) * len(pattern.names))
    if not all(pattern.names):
        raise FunctionError("a pattern cannot have both named and unnamed groups", 0)
    return ObjectType(dict.fromkeys(pattern.names, STRING))


def _result(pattern: Pattern, match: Match, text: str) -> Value:
    if not pattern.names:
        return _captured(match[0], text)
    captured = [_captured(span, text) for span in match[1:]]
    if not any(pattern.names):
        return tuple_value(captured)
    # As in Go, the last of several groups with the same name wins.
    return object_value(dict(zip(pattern.names, captured, strict=True)))


def _captured(span: Span, text: str) -> Value:
    start, end = span
    return null(STRING) if start < 0 else string(text[start:end])


_PATTERN: Final = Parameter("pattern", STRING)
_STRING: Final = Parameter("string", STRING)


def _regex_type(args: list[Value]) -> Type:
    if not args[0].is_known:
        return DYNAMIC
    return result_type(compiled(args[0].as_string()))


def _regex(args: list[Value], _: Type) -> Value:
    pattern = compiled(args[0].as_string())
    text = args[1].as_string()
    match = pattern.search(clean_text(text))
    if match is None:
        raise FunctionError("the pattern does not match any part of the string")
    return _result(pattern, match, text)


def _regex_all_type(args: list[Value]) -> Type:
    return ListType(_regex_type(args))


def _regex_all(args: list[Value], expected: Type) -> Value:
    assert isinstance(expected, CollectionType)
    if expected.element is DYNAMIC:
        return DYNAMIC_UNKNOWN
    pattern = compiled(args[0].as_string())
    text = args[1].as_string()
    # A byte that is not UTF-8 counts as a character, and is given back as it is.
    matches = pattern.find_all(clean_text(text))
    return list_value(expected.element, [_result(pattern, match, text) for match in matches])


REGEX: Final = Function((_PATTERN, _STRING), None, _regex_type, _regex, NOT_NULL_RESULT)
REGEX_ALL: Final = Function((_PATTERN, _STRING), None, _regex_all_type, _regex_all, NOT_NULL_RESULT)

_REFERENCE: Final = lazy_pattern(r"\$(?:(\$)|(\w+)|\{(\w+)\})")


def replace_all(pattern: Pattern, text: str, template: str) -> str:
    """Replace each match by the template, where `$1` or `${name}` stands for a group."""
    parts: list[str] = []
    position = 0
    for match in pattern.find_all(clean_text(text)):
        start, end = match[0]
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
    if name.isascii() and name.isdecimal() and len(name) < 10:
        spans = match[int(name) : int(name) + 1]
    else:
        named = zip(pattern.names, match[1:], strict=True)
        spans = [span for each, span in named if each == name]
    # Of groups with the same name, the first one that has a part in the match.
    return next((text[start:end] for start, end in spans if start >= 0), "")


def _regex_replace(args: list[Value], _: Type) -> Value:
    pattern = compiled(args[1].as_string(), 1)
    return string(replace_all(pattern, args[0].as_string(), args[2].as_string()))


REGEX_REPLACE: Final = Function(
    (Parameter("str", STRING), _PATTERN, Parameter("replace", STRING)),
    None,
    STRING,
    _regex_replace,
    NOT_NULL_RESULT,
)

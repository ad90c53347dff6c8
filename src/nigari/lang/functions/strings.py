"""String functions that OpenTofu adds to cty's, or has in its own variant."""

from __future__ import annotations

from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.refinements import string_prefix
from nigari.cty.stdlib.regular_expressions import compiled, replace_all
from nigari.cty.types import BOOL, STRING, Type
from nigari.cty.values import FALSE, TRUE, Value, boolean, string, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_STR: Final = Parameter("str", STRING)
_LONGEST_RESULT: Final = 256 * 1024 * 1024


def _starts_with(args: list[Value], expected: Type) -> Value:
    text, prefix = args[0], args[1].as_string()
    if text.is_known:
        return boolean(text.as_string().startswith(prefix))
    begins = string_prefix(text)
    if begins.startswith(prefix):
        return TRUE
    # Enough of the string is known to exclude the prefix. Bytes count, as in Go.
    if begins and len(begins.encode()) >= len(prefix.encode()):
        return FALSE
    return unknown(expected)


def _ends_with(args: list[Value], _: Type) -> Value:
    return boolean(args[0].as_string().endswith(args[1].as_string()))


def _contains(args: list[Value], _: Type) -> Value:
    return boolean(args[1].as_string() in args[0].as_string())


STARTS_WITH: Final = Function(
    (Parameter("str", STRING, allow_unknown=True), Parameter("prefix", STRING)),
    None,
    BOOL,
    _starts_with,
    NOT_NULL_RESULT,
)
ENDS_WITH: Final = Function(
    (_STR, Parameter("suffix", STRING)), None, BOOL, _ends_with, NOT_NULL_RESULT
)
STR_CONTAINS: Final = Function((_STR, Parameter("substr", STRING)), None, BOOL, _contains)


def _replace(args: list[Value], _: Type) -> Value:
    """Replace a substring, or matches of a pattern if it is written between slashes."""
    text, wanted, new = args[0].as_string(), args[1].as_string(), args[2].as_string()
    # ReplaceFunc: slashes at both ends select a pattern.
    if len(wanted) > 1 and wanted[0] == "/" and wanted[-1] == "/":
        pattern = compiled(wanted[1:-1], 1)
        _check_length((len(text) + 1) * max(len(new), 1))
        return string(replace_all(pattern, text, new))
    if len(new) > len(wanted):
        _check_length(len(text) + text.count(wanted) * len(new))
    return string(text.replace(wanted, new))


def _check_length(longest: int) -> None:
    if longest > _LONGEST_RESULT:
        raise FunctionError("the result would be too long")


REPLACE: Final = Function(
    (_STR, Parameter("substr", STRING), Parameter("replace", STRING)),
    None,
    STRING,
    _replace,
    NOT_NULL_RESULT,
)

FUNCTIONS: Final = {
    "endswith": ENDS_WITH,
    "replace": REPLACE,
    "startswith": STARTS_WITH,
    "strcontains": STR_CONTAINS,
}

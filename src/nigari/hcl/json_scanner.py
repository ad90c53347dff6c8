"""JSON tokens, and diagnostics for tokens that JSON does not have.

A token is a match of one pattern; its kind is the index of the matching group. Common mistakes
(single quotes, comments, words without quotes) are tokens too, so that the parser can continue
after them. Deliberately unknown here: the order of tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.source import Source
from nigari.hcl.suggestion import did_you_mean
from nigari.lazy import lazy_pattern

STRING = 1
"""A whole JSON string; the group is the text between the quotes."""
NAME = 2
"""A JSON string followed by a colon; group 1 is the string, group 2 the colon."""
COMMA = 3
PUNCTUATION = 4
"""A bracket of any kind, or a colon by itself."""
NUMBER = 5
KEYWORD = 6
WORD = 7
"""A run of letters that is not a JSON keyword."""
QUOTED = 8
"""A string in single quotes."""
BROKEN_STRING = 9
"""An unterminated string, or one with characters that JSON forbids."""
BROKEN_NUMBER = 10
COMMENT = 11
EQUALS = 12
STRAY = 13
"""Characters that begin no token."""

# Optional groups are not possessive: Python before 3.11.5 then matched too much.
_TOKEN = lazy_pattern(
    r"""
      "((?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)"(?:[ \t\r\n]*+(:))?
    | (,)
    | ([{}\[\]:])
    | (-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?)(?![\w.+-])
    | ((?:true|false|null)(?![\w.-]))
    | ([^\W\d][\w.-]*+)
    | ('[^'\r\n]*+'?)
    | ("(?:[^"\\\r\n]++|\\[^\r\n])*+"?)
    | ([-+.]?[0-9][\w.+-]*+|[-+.][\w.]++)
    | (//[^\r\n]*+|\#[^\r\n]*+|/\*[\s\S]*?(?:\*/|\Z))
    | (=>?)
    | ([^\ \t\r\n{}\[\],:"'\w=/\#]++|[^\ \t\r\n])
    """,
    re.VERBOSE,
)

_KEYWORDS = ("false", "true", "null")
_JAVASCRIPT = frozenset({"undefined", "NaN", "Infinity"})
_FORBIDDEN_IN_STRING = lazy_pattern(
    r"""\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})(?:u[0-9a-fA-F]{0,3}|[^\r\n]?)|[\x00-\x1f]"""
)


def scan(source: Source) -> Iterator[re.Match[str]]:
    """Yield the tokens of the whole text; white space lies between them."""
    return _TOKEN.finditer(source.text)


def keyword_suggestion(word: str) -> str:
    """Suggest the keyword that was probably meant, as a sentence."""
    return did_you_mean(word, _KEYWORDS)


def report_word(source: Source, start: int, end: int, diags: Diagnostics) -> None:
    """Report a word where a value is expected."""
    word = source.text[start:end]
    if word in _JAVASCRIPT:
        detail = (
            f"{word} exists in JavaScript, but not in JSON. Write null, or leave the property out."
        )
    else:
        hint = keyword_suggestion(word.lower())
        detail = f'"{word}" has no meaning in JSON.{hint}'
        if not hint:
            # The word may be a secret without its quotes, so it is not repeated.
            detail = (
                "This word has no meaning in JSON. Write a string in double quotes, and an "
                'expression as "${...}".'
            )
    diags.error("Invalid JSON keyword", detail, source.range(start, end))


def report_single_quotes(source: Source, start: int, end: int, diags: Diagnostics) -> None:
    diags.error(
        "Single quotes in JSON",
        "JSON strings must be in double quotes. Replace the single quotes around this string.",
        source.range(start, end),
    )


def report_broken_string(source: Source, start: int, end: int, diags: Diagnostics) -> bool:
    """Report an invalid string; return whether its end was found."""
    text = source.text
    closed = end - start > 1 and text[end - 1] == '"' and not _ends_in_escape(text, start, end)
    if not closed:
        diags.error(
            "Unterminated JSON string",
            "This string has no closing quote on its line. Add it. To include a line break in a "
            "string, write \\n.",
            source.range(start, start + 1),
            source.range(start, end),
        )
        return False
    match = _FORBIDDEN_IN_STRING.search(text, start + 1, end - 1)
    assert match is not None
    # Ranges are computed from left to right, which is fastest for a source with long lines.
    first, where, last = source.pos(start), source.range(*match.span()), source.pos(end)
    string = Range(source.filename, first, last)
    diags.error("Invalid JSON string", _forbidden(match[0]), where, string)
    return True


def _forbidden(found: str) -> str:
    if found.startswith("\\"):
        return (
            f"JSON has no escape sequence {found}. Write a literal backslash as \\\\, and a "
            "character by its number as \\u and four hexadecimal digits."
        )
    short = " or \\t" if found == "\t" else ""
    return (
        f"A JSON string cannot contain a raw control character. Write it as \\u{ord(found):04x}"
        f"{short}."
    )


def _ends_in_escape(text: str, start: int, end: int) -> bool:
    """Check whether the last quote is escaped, by an odd number of backslashes, and thus no end."""
    index = end - 2
    while index > start and text[index] == "\\":
        index -= 1
    return (end - 2 - index) % 2 == 1


def report_number(source: Source, start: int, end: int, diags: Diagnostics) -> None:
    """Report a number in a form that JSON does not have."""
    text = source.text[start:end]
    digits = text.lstrip("+-")
    if text.startswith("+"):
        reason = "A JSON number cannot begin with a plus sign."
    elif digits.startswith("."):
        reason = "A JSON number needs a digit before the decimal point."
    elif digits[:2].lower() in ("0x", "0b", "0o"):
        reason = "JSON supports decimal numbers only."
    elif digits[:1] == "0" and digits[1:2].isdigit():
        reason = "A JSON number cannot have leading zeros."
    elif digits.endswith("."):
        reason = "A JSON number needs a digit after the decimal point."
    else:
        reason = f'"{text}" is not a number.'
    diags.error(
        "Invalid JSON number",
        f"{reason} If it is meant to be a string, put it in double quotes.",
        source.range(start, end),
    )


def report_comment(source: Source, start: int, end: int, diags: Diagnostics) -> None:
    diags.error(
        "Comment in JSON",
        "JSON has no comments. Remove this one and any others; for a remark, add a property "
        'named "//" to an object that represents a block.',
        source.range(start, end),
    )


def report_stray(source: Source, start: int, end: int, diags: Diagnostics) -> None:
    diags.error(
        "Unexpected character in JSON",
        "This cannot begin a JSON value. A value is an object in braces, an array in brackets, a "
        "string in double quotes, a number, true, false or null.",
        source.range(start, min(end, start + 1)),
        source.range(start, end),
    )

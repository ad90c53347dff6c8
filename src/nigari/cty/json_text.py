"""JSON as text: reading it into plain Python data without loss, and writing strings as Go does.

What is read is: `None`, `bool`, `str`; `bytes` for a number (the digits as they stand); `list` for
an array; `tuple` of pairs for an object, so that neither order nor repeated names are lost. What
any of it means is not known here.
"""

from __future__ import annotations

import json
import re
import sys

from nigari.cty.errors import CtyError
from nigari.cty.types import MAX_DEPTH, USUAL_DEPTH, allow_depth
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_BRACKETS: Final = lazy_pattern(r"[\[\]{}]")
_TRUSTED_LIMIT: Final = 4 * MAX_DEPTH
_SURROGATES: Final = lazy_pattern(r"[\ud800-\udfff]")


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_decoder: Final = json.JSONDecoder(
    object_pairs_hook=tuple,
    parse_int=str.encode,
    parse_float=str.encode,
    parse_constant=_refuse_constant,
)


def check_json(text: object) -> None:
    """A `TypeError` for what is not a text."""
    if not isinstance(text, str | bytes):
        raise TypeError(f"the text of JSON is a str or bytes, not {type(text).__name__}")


def parse_json(text: str | bytes) -> object:
    """The plain data of a JSON text, or a `CtyError` that says where it is wrong.

    Bytes that are no UTF-8 stand for the replacement character, one for each.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    if not text.isascii():
        text = _SURROGATES.sub("\ufffd", text)
    try:
        return _decode(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise CtyError(f"invalid JSON at {where}: {_fault(error)}") from None
    except ValueError as error:
        raise CtyError(f"invalid JSON: {error}") from None


def _decode(text: str) -> object:
    if sys.getrecursionlimit() > _TRUSTED_LIMIT:
        # Python would recurse further than the stack of the decoder, which is C, may allow.
        check_depth(text)
    try:
        parsed: object = _decoder.decode(text)
    except RecursionError:
        check_depth(text)
        parsed = _decoder.decode(text)
    return parsed


def check_depth(text: str) -> None:
    """Refuse what nests too deeply for any value, and make room to recurse over the rest."""
    if text.count("[") + text.count("{") <= USUAL_DEPTH:
        return
    if "\\" in text:
        text = text.replace("\\\\", "").replace('\\"', "")
    depth = deepest = 0
    for outside_of_strings in text.split('"')[::2]:
        for bracket in _BRACKETS.findall(outside_of_strings):
            if bracket in "[{":
                depth += 1
                deepest = max(deepest, depth)
            else:
                depth -= 1
    if deepest > USUAL_DEPTH:
        # The JSON of a type, and of a value with its type, nests up to twice as deeply as it.
        allow_depth((deepest + 1) // 2)


def _fault(error: json.JSONDecodeError) -> str:
    if error.pos >= len(error.doc.rstrip()):
        return "the text ends too early"
    if error.msg == "Extra data":
        return "there is more text after the value"
    return f"unexpected {quote(error.doc[error.pos])}"


def clean_text(text: str) -> str:
    """A string of JSON without half of a surrogate pair, which no text can hold."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


quote: Final = json.encoder.encode_basestring
"""A string in quotes, escaped as JSON needs it. `escape_like_go` does the rest on the whole."""

_SPECIAL: Final = lazy_pattern(r"[<>&\u2028\u2029\ud800-\udfff]")


def escape_like_go(text: str) -> str:
    """A whole JSON text with the escapes that Go adds. These occur in strings only."""
    if _SPECIAL.search(text) is None:
        return text
    return _SPECIAL.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return "\\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04x}"

"""JSON as text: lossless parsing into plain Python data, and string escaping as in Go.

Parsed data is: `None`, `bool`, `str`; `bytes` for a number (its digits unchanged); `list` for an
array; a `tuple` of pairs for an object, which retains the order and repeated names. Deliberately
unknown here: types and values.
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
    """Raise `TypeError` for anything that is not a text."""
    if not isinstance(text, str | bytes):
        raise TypeError(f"the text of JSON is a str or bytes, not {type(text).__name__}")


def parse_json(text: str | bytes) -> object:
    """Parse a JSON text into plain data, or raise a `CtyError` with the line and column.

    As in Go, each byte that is not UTF-8 becomes one replacement character.
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
        # Python's recursion limit may exceed what the stack of the decoder, which is C, allows.
        check_depth(text)
    try:
        parsed: object = _decoder.decode(text)
    except RecursionError:
        check_depth(text)
        parsed = _decoder.decode(text)
    return parsed


def check_depth(text: str) -> None:
    """Reject text that nests too deeply for any value, and make room to recurse over the rest."""
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
        # The JSON of a type, and of a value with its type, nests up to twice as deeply as the
        # value.
        allow_depth((deepest + 1) // 2)


def _fault(error: json.JSONDecodeError) -> str:
    if error.pos >= len(error.doc.rstrip()):
        return "the text ends too early"
    if error.msg == "Extra data":
        return "there is more text after the value"
    return f"unexpected {quote(error.doc[error.pos])}"


def clean_text(text: str) -> str:
    """Replace lone surrogates, which no UTF-8 text can hold."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


quote: Final = json.encoder.encode_basestring
"""Quote a string with the escapes that JSON requires. `escape_like_go` adds Go's afterwards."""

_SPECIAL: Final = lazy_pattern(r"[<>&\u2028\u2029\ud800-\udfff]")


def escape_like_go(text: str) -> str:
    """Add Go's escapes to a whole JSON text. The escaped characters occur in strings only."""
    if _SPECIAL.search(text) is None:
        return text
    return _SPECIAL.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return "\\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04x}"

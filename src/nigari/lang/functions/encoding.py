"""Base64, gzip and URL escapes.

A string may contain bytes that are not UTF-8, as surrogates: they come from decompressed data and
are encoded again without loss.
"""

from __future__ import annotations

import re

from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.types import STRING, Type
from nigari.cty.values import Value, string
from nigari.lang.functions.host_environment import redacted
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


LONGEST_INFLATED: Final = 256 * 1024 * 1024
_BASE64: Final = lazy_pattern(
    r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", re.ASCII
)
_ESCAPE: Final = lazy_pattern(rb"%(?:([0-9A-Fa-f]{2})|.{0,2})", re.DOTALL)


def to_bytes(text: str) -> bytes:
    """Encode a string, including surrogates for bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def to_base64(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode("ascii")


def from_base64(text: str) -> bytes | None:
    """Decode Base64 in the standard alphabet, with or without line breaks.

    None for invalid text, such as text without padding.
    """
    import base64

    # encoding/base64 of Go skips line breaks inside the text, and nothing else.
    text = text.replace("\n", "").replace("\r", "")
    if _BASE64.fullmatch(text) is None:
        return None
    return base64.b64decode(text)


def _decoded(value: Value) -> bytes:
    text = value.as_string()
    data = from_base64(text)
    if data is None:
        raise FunctionError(f"{redacted(text, value.marks)} is not valid Base64")
    return data


def _base64_decode(args: list[Value], _: Type) -> Value:
    try:
        # Strings of the language are text. Only base64gunzip may return other bytes.
        text = _decoded(args[0]).decode("utf-8")
    except UnicodeDecodeError:
        raise FunctionError("the decoded bytes are not valid UTF-8") from None
    return string(text).with_marks(args[0].marks)


def _base64_encode(args: list[Value], _: Type) -> Value:
    return string(to_base64(to_bytes(args[0].as_string())))


_STR: Final = Parameter("str", STRING)
_MARKED_STR: Final = Parameter("str", STRING, allow_marked=True)
BASE64_DECODE: Final = Function((_MARKED_STR,), None, STRING, _base64_decode, NOT_NULL_RESULT)
BASE64_ENCODE: Final = Function((_STR,), None, STRING, _base64_encode, NOT_NULL_RESULT)


# -- gzip ---------------------------------------------------------------------------------------


def _base64_gzip(args: list[Value], _: Type) -> Value:
    import struct
    import zlib

    from nigari.lang.functions.deflate import deflated

    data = to_bytes(args[0].as_string())
    # The header omits the time and the system, so that the bytes depend on the text alone.
    header = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    trailer = struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
    return string(to_base64(header + deflated(data) + trailer))


def _base64_gunzip(args: list[Value], _: Type) -> Value:
    data = _inflate(_decoded(args[0]))
    return string(data.decode("utf-8", "surrogateescape")).with_marks(args[0].marks)


def _inflate(data: bytes) -> bytes:
    """Decompress one or several gzip members, up to a maximum length."""
    import zlib

    parts: list[bytes] = []
    room = LONGEST_INFLATED
    while True:
        inflate = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        try:
            part = inflate.decompress(data, room + 1)
        except zlib.error:
            raise FunctionError("the decoded bytes are not valid gzip data") from None
        room -= len(part)
        if room < 0:
            raise FunctionError("the uncompressed data is too large")
        parts.append(part)
        if not inflate.eof:
            raise FunctionError("the gzip data is incomplete")
        # compress/gzip reads concatenated members as one stream (RFC 1952).
        data = inflate.unused_data
        if not data:
            return b"".join(parts)


BASE64_GZIP: Final = Function((_STR,), None, STRING, _base64_gzip, NOT_NULL_RESULT)
BASE64_GUNZIP: Final = Function((_MARKED_STR,), None, STRING, _base64_gunzip, NOT_NULL_RESULT)


# -- URLs ---------------------------------------------------------------------------------------


def _url_encode(args: list[Value], _: Type) -> Value:
    from urllib.parse import quote_plus

    # url.QueryEscape of Go: a space is a plus sign, and only - _ . ~ stay beside letters and
    # digits.
    return string(quote_plus(to_bytes(args[0].as_string()), safe="-_.~"))


def _url_decode(args: list[Value], _: Type) -> Value:
    data = to_bytes(args[0].as_string()).replace(b"+", b" ")
    decoded = _ESCAPE.sub(_unescape, data)
    return string(decoded.decode("utf-8", "surrogateescape"))


def _unescape(escape: re.Match[bytes]) -> bytes:
    digits: bytes | None = escape[1]
    if digits is None:
        text = escape[0].decode("utf-8", "replace")
        raise FunctionError(
            f'"{text}" is not a valid escape: a % must be followed by two hexadecimal digits'
        )
    return bytes([int(digits, 16)])


URL_ENCODE: Final = Function((_STR,), None, STRING, _url_encode, NOT_NULL_RESULT)
URL_DECODE: Final = Function((_STR,), None, STRING, _url_decode, NOT_NULL_RESULT)

FUNCTIONS: Final = {
    "base64decode": BASE64_DECODE,
    "base64encode": BASE64_ENCODE,
    "base64gunzip": BASE64_GUNZIP,
    "base64gzip": BASE64_GZIP,
    "urldecode": URL_DECODE,
    "urlencode": URL_ENCODE,
}

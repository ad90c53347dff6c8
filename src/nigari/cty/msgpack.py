"""Msgpack serialization of values, as the plugin protocol uses it.

With a known type the round trip is lossless, including unknown values and their refinements. Where
the type is open (`DYNAMIC`) a value is sent as a pair of its type, as JSON, and itself. Marks are
not sent. Reading is in `msgpack_reader`.
"""

from __future__ import annotations

import struct

from nigari.cty import numbers
from nigari.cty.conform import conformance_errors
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.graphemes import safe_prefix
from nigari.cty.json_text import clean_text
from nigari.cty.msgpack_reader import (
    EXTENSION_REFINED,
    KEY_LONGEST,
    KEY_LOWER,
    KEY_NOT_NULL,
    KEY_PREFIX,
    KEY_SHORTEST,
    KEY_UPPER,
    implied_type,
    unmarshal,
)
from nigari.cty.numbers import Number
from nigari.cty.paths import walk
from nigari.cty.type_json import type_to_json
from nigari.cty.types import (
    KIND_BOOL,
    KIND_DYNAMIC,
    KIND_MAP,
    KIND_NUMBER,
    KIND_STRING,
    CollectionType,
    ObjectType,
    TupleType,
    Type,
    check_type,
)
from nigari.cty.unknown import Unknown
from nigari.cty.values import (
    HAS_MARKS,
    Value,
    check_value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


__all__ = ["implied_type", "marshal", "unmarshal"]

_LONGEST_PREFIX: Final = 256
_MOST_KEYS: Final = 256
_NIL: Final = b"\xc0"
_FALSE: Final = b"\xc2"
_TRUE: Final = b"\xc3"
_UNKNOWN: Final = b"\xd4\x00\x00"
_BYTES: Final = tuple([bytes((n,)) for n in range(256)])
_TEXT_HEADERS: Final = tuple(
    [bytes((0xA0 | n,)) if n < 32 else bytes((0xD9, n)) for n in range(256)]
)


def marshal(value: Value, type_: Type) -> bytes:
    """Serialize a value as that type, converting it first if necessary."""
    check_value(value)
    check_type(type_)
    if value.type is not type_ and conformance_errors(value.type, type_):
        value = convert(value, type_)
    if value.flags & HAS_MARKS:
        path = next(path for path, part in walk(value) if part.marks)
        raise CtyError("a marked value cannot be serialized", path)
    parts: list[bytes] = []
    try:
        _writer_for(type_).write(value, parts)
    except (CtyError, UnicodeEncodeError):
        _blame(value)
        raise
    return b"".join(parts)


def _blame(value: Value) -> None:
    """Raise an error with the path to the string or number that cannot be sent."""
    for path, part in walk(value):
        try:
            if isinstance(part.data, str):
                _text(part.data)
            elif isinstance(part.data, Number):
                _number(part.data)
        except UnicodeEncodeError:
            raise CtyError("the string contains something that is not text", path) from None
        except CtyError as error:
            raise CtyError(error.message, path) from None


# -- writing values of a type -------------------------------------------------------------------


class _Writer:
    """Writes unmarked values of one type. Compiled and cached for each type."""

    __slots__ = ()

    def write(self, value: Value, parts: list[bytes]) -> None:
        raise AssertionError(value)


class _TextWriter(_Writer):
    __slots__ = ()

    def write(self, value: Value, parts: list[bytes]) -> None:
        data = value.data
        parts.append(_text(data) if isinstance(data, str) else _absent(data))


class _NumberWriter(_Writer):
    __slots__ = ()

    def write(self, value: Value, parts: list[bytes]) -> None:
        data = value.data
        parts.append(_number(data) if isinstance(data, (int, Number)) else _absent(data))


class _BoolWriter(_Writer):
    __slots__ = ()

    def write(self, value: Value, parts: list[bytes]) -> None:
        data = value.data
        if data is True:
            parts.append(_TRUE)
        else:
            parts.append(_FALSE if data is False else _absent(data))


class _DynamicWriter(_Writer):
    """Writes a value of open type together with its type."""

    __slots__ = ()

    def write(self, value: Value, parts: list[bytes]) -> None:
        type_ = value.type
        if type_.kind == KIND_DYNAMIC:
            parts.append(_absent(value.data))
        else:
            parts.append(b"\x92" + _binary(type_to_json(type_).encode()))
            _writer_for(type_).write(value, parts)


class _SequenceWriter(_Writer):
    """Lists and sets; `element` is None for strings."""

    __slots__ = ("element",)

    element: _Writer | None

    def __init__(self, element: _Writer | None) -> None:
        self.element = element

    def write(self, value: Value, parts: list[bytes]) -> None:
        data = value.data
        if not isinstance(data, tuple):
            parts.append(_absent(data))
            return
        length = len(data)
        parts.append(_BYTES[0x90 | length] if length < 16 else _header(length, 0x90, 0xDC))
        element = self.element
        for part in data:
            if element is None:
                parts.append(_any_text(part.data))
            else:
                element.write(part, parts)


class _TupleWriter(_Writer):
    __slots__ = ("elements",)

    elements: list[_Writer]

    def __init__(self, elements: list[_Writer]) -> None:
        self.elements = elements

    def write(self, value: Value, parts: list[bytes]) -> None:
        data = value.data
        if not isinstance(data, tuple):
            parts.append(_absent(data))
            return
        parts.append(_header(len(data), 0x90, 0xDC))
        elements = self.elements
        for i, part in enumerate(data):
            elements[i].write(part, parts)


class _MapWriter(_Writer):
    """Maps; `element` is None for strings. Encoded keys are cached, as they recur."""

    __slots__ = ("element", "keys")

    element: _Writer | None
    keys: dict[str, bytes]

    def __init__(self, element: _Writer | None) -> None:
        self.element = element
        self.keys = {}

    def write(self, value: Value, parts: list[bytes]) -> None:
        data = value.data
        if not isinstance(data, dict):
            parts.append(_absent(data))
            return
        length = len(data)
        parts.append(_BYTES[0x80 | length] if length < 16 else _header(length, 0x80, 0xDE))
        element = self.element
        keys = self.keys
        for key in sorted(data):
            before = keys.get(key)
            if before is None:
                before = _text(key)
                if len(keys) < _MOST_KEYS:
                    keys[key] = before
            if element is None:
                parts.append(before + _any_text(data[key].data))
            else:
                parts.append(before)
                element.write(data[key], parts)


class _ObjectWriter(_Writer):
    """Objects: each attribute with the bytes before its value; no writer for strings."""

    __slots__ = ("header", "layout")

    header: bytes
    layout: list[tuple[str, bytes, _Writer | None]]

    def __init__(self, layout: list[tuple[str, bytes, _Writer | None]]) -> None:
        self.header = _header(len(layout), 0x80, 0xDE)
        self.layout = layout

    def write(self, value: Value, parts: list[bytes]) -> None:
        data = value.data
        if not isinstance(data, dict):
            parts.append(_absent(data))
            return
        parts.append(self.header)
        for name, before, writer in self.layout:
            if writer is None:
                parts.append(before + _any_text(data[name].data))
            else:
                parts.append(before)
                writer.write(data[name], parts)


_MOST_REMEMBERED: Final = 1024
_writers: Final[dict[Type, _Writer]] = {}


def _writer_for(type_: Type) -> _Writer:
    found = _writers.get(type_)
    if found is None:
        found = _make_writer(type_)
        if len(_writers) >= _MOST_REMEMBERED:
            _writers.clear()
        _writers[type_] = found
    return found


def _make_writer(type_: Type) -> _Writer:
    kind = type_.kind
    if isinstance(type_, ObjectType):
        types = type_.attributes
        names = sorted(types)
        # Names are cleaned as in the JSON form of a type, which precedes dynamic values.
        layout = [(name, _text(clean_text(name)), _part_writer(types[name])) for name in names]
        return _ObjectWriter(layout)
    if isinstance(type_, CollectionType):
        element = _part_writer(type_.element)
        return _MapWriter(element) if kind == KIND_MAP else _SequenceWriter(element)
    if isinstance(type_, TupleType):
        return _TupleWriter([_writer_for(element) for element in type_.elements])
    if kind == KIND_STRING:
        return _TextWriter()
    if kind == KIND_NUMBER:
        return _NumberWriter()
    if kind == KIND_BOOL:
        return _BoolWriter()
    if kind == KIND_DYNAMIC:
        return _DynamicWriter()
    raise CtyError(f"{type_.with_article()} cannot be serialized")


def _part_writer(type_: Type) -> _Writer | None:
    return None if type_.kind == KIND_STRING else _writer_for(type_)


# -- the pieces of msgpack ----------------------------------------------------------------------


def _absent(data: object) -> bytes:
    """Encode null or unknown."""
    if data is None:
        return _NIL
    assert isinstance(data, Unknown)
    return _unknown(data)


def _any_text(data: object) -> bytes:
    """Encode a string that may be null or unknown."""
    if isinstance(data, str):
        content = data.encode("utf-8", "surrogateescape")
        length = len(content)
        if length < 0x100:
            return _TEXT_HEADERS[length] + content
        return _text(data)
    return _absent(data)


def _header(length: int, fixed: int, wide: int) -> bytes:
    """Encode the length of an array or map: within the code itself, or in two or four bytes after
    it.
    """
    if length < 16:
        return _BYTES[fixed | length]
    if length < 0x10000:
        return struct.pack(">BH", wide, length)
    return struct.pack(">BI", wide + 1, length)


def _text(text: str) -> bytes:
    content = text.encode("utf-8", "surrogateescape")
    length = len(content)
    if length < 0x100:
        return _TEXT_HEADERS[length] + content
    if length < 0x10000:
        return struct.pack(">BH", 0xDA, length) + content
    return struct.pack(">BI", 0xDB, length) + content


def _binary(content: bytes) -> bytes:
    length = len(content)
    if length < 0x100:
        return bytes((0xC4, length)) + content
    if length < 0x10000:
        return struct.pack(">BH", 0xC5, length) + content
    return struct.pack(">BI", 0xC6, length) + content


def _number(exact: int | Number) -> bytes:
    """Encode an integer if it fits into 64 bits, a float if that is exact, otherwise its digits as
    text.
    """
    if isinstance(exact, int):
        if 0 <= exact < 128:
            return _BYTES[exact]
        if -(1 << 63) <= exact < 1 << 63:
            return _integer(exact)
        return _text(numbers.to_text(exact))
    if numbers.is_infinite(exact) or _is_float(exact):
        return struct.pack(">Bd", 0xCB, numbers.to_float(exact))
    whole = numbers.whole(exact, 64)
    if whole is None or not -(1 << 63) <= whole < 1 << 63:
        return _text(numbers.to_text(exact))
    return _number(whole)


def _is_float(exact: Number) -> bool:
    """Check that a 64-bit float represents a fraction exactly."""
    size = exact.mantissa.bit_length()
    return -1074 <= exact.exponent < 0 and size <= 53 and size + exact.exponent <= 1024


def _integer(n: int) -> bytes:
    if n >= 0:
        if n < 0x100:
            return b"\xcc" + _BYTES[n]
        if n < 0x10000:
            return b"\xcd" + n.to_bytes(2, "big")
        return struct.pack(">BI", 0xCE, n) if n < 1 << 32 else struct.pack(">BQ", 0xCF, n)
    if n >= -32:
        return bytes((n & 0xFF,))
    if n >= -0x80:
        return struct.pack(">Bb", 0xD0, n)
    if n >= -0x8000:
        return struct.pack(">Bh", 0xD1, n)
    return struct.pack(">Bi", 0xD2, n) if n >= -(1 << 31) else struct.pack(">Bq", 0xD3, n)


def _unknown(have: Unknown) -> bytes:
    """Encode an unknown value: a bare extension, or one that holds a map of its refinements."""
    entries: list[bytes] = []
    if have.not_null:
        entries.append(_BYTES[KEY_NOT_NULL] + _FALSE)
    if have.lower is not None:
        entries.append(_BYTES[KEY_LOWER] + _bound(have.lower, have.lower_inclusive))
    if have.upper is not None:
        entries.append(_BYTES[KEY_UPPER] + _bound(have.upper, have.upper_inclusive))
    if have.prefix:
        entries.append(_BYTES[KEY_PREFIX] + _text(_short_prefix(have.prefix)))
    if have.min_length:
        entries.append(_BYTES[KEY_SHORTEST] + _number(have.min_length))
    if have.max_length >= 0:
        entries.append(_BYTES[KEY_LONGEST] + _number(have.max_length))
    if not entries:
        return _UNKNOWN
    body = _header(len(entries), 0x80, 0xDE) + b"".join(entries)
    return _extension_header(len(body)) + body


def _bound(bound: int | Number, inclusive: bool) -> bytes:
    return b"\x92" + _number(bound) + (_TRUE if inclusive else _FALSE)


def _short_prefix(prefix: str) -> str:
    """Shorten a prefix to the length that receivers accept: they reject large refinements."""
    content = prefix.encode("utf-8", "surrogateescape")
    if len(content) <= _LONGEST_PREFIX:
        return prefix
    return safe_prefix(content[: _LONGEST_PREFIX - 1].decode("utf-8", "ignore"))


def _extension_header(length: int) -> bytes:
    if length in (1, 2, 4, 8, 16):
        return bytes((0xD4 + length.bit_length() - 1, EXTENSION_REFINED))
    if length < 0x100:
        return bytes((0xC7, length, EXTENSION_REFINED))
    return struct.pack(">BHB", 0xC8, length, EXTENSION_REFINED)

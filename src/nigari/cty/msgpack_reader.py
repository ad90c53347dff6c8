"""Msgpack parsing, guided by the expected type. See `msgpack`.

The input comes from another program and is not trusted: parsing it yields a value or a `CtyError`,
takes time in proportion to its size, and never recurses deeper than values may nest.
"""

from __future__ import annotations

import struct

from nigari.cty import numbers
from nigari.cty.conversion_results import type_of_all
from nigari.cty.errors import CtyError
from nigari.cty.gc_pause import CollectionPaused
from nigari.cty.json_text import clean_text
from nigari.cty.numbers import Number
from nigari.cty.paths import GetAttr, index_step
from nigari.cty.refinements import Refinement, refine
from nigari.cty.type_json import type_from_json
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    KIND_BOOL,
    KIND_DYNAMIC,
    KIND_MAP,
    KIND_NUMBER,
    KIND_SET,
    KIND_STRING,
    NUMBER,
    STRING,
    USUAL_DEPTH,
    CollectionType,
    ObjectType,
    TupleType,
    Type,
    allow_depth,
    check_type,
    without_optional,
)
from nigari.cty.values import (
    FALSE,
    NO_MARKS,
    TRUE,
    Value,
    list_value,
    map_value,
    normalize,
    null,
    object_value,
    set_value,
    tuple_value,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


EXTENSION_REFINED: Final = 0x0C
KEY_NOT_NULL: Final = 1
KEY_PREFIX: Final = 2
KEY_LOWER: Final = 3
KEY_UPPER: Final = 4
KEY_SHORTEST: Final = 5
KEY_LONGEST: Final = 6

_LARGEST_REFINEMENT: Final = 1024
_NIL: Final = 0xC0
_INTEGERS: Final = {
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}


def unmarshal(data: bytes, type_: Type) -> Value:
    """Parse a value of that type, or raise a `CtyError`."""
    check_type(type_)
    if not isinstance(data, bytes):
        raise TypeError(f"msgpack is bytes, not {type(data).__name__}")
    reader = _Reader(data)
    type_ = without_optional(type_)
    try:
        with CollectionPaused(len(data)):
            value = reader.read(type_)
    except IndexError:
        raise _too_short() from None
    reader.finish()
    return value


def implied_type(data: bytes) -> Type:
    """Infer the type of msgpack data: objects and tuples; `DYNAMIC` for unknown and null values."""
    reader = _Reader(data)
    try:
        type_ = reader.imply(1)
    except IndexError:
        raise _too_short() from None
    reader.finish()
    return type_


def _too_short() -> CtyError:
    return CtyError("invalid msgpack: it ends too early")


class _Reader:
    """A position in msgpack data. An `IndexError` means that the data ends too early.

    Layouts of object types are keyed by identity. Each entry holds its type: a type read from the
    data may have no other reference, and the identity of a freed type is reused.
    """

    __slots__ = ("data", "layouts", "nesting", "pos", "size")

    data: bytes
    pos: int
    size: int
    nesting: int
    layouts: dict[int, tuple[ObjectType, dict[bytes, tuple[str, Type]]]]

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.pos = 0
        self.size = len(data)
        self.nesting = 0
        self.layouts = {}

    def finish(self) -> None:
        if self.pos != self.size:
            raise CtyError("invalid msgpack: there is more data after the value")

    # -- values of a type -----------------------------------------------------------------------

    def read(self, type_: Type) -> Value:
        kind = type_.kind
        code = self.data[self.pos]
        if kind == KIND_STRING and 0xA0 <= code < 0xC0:
            start = self.pos + 1
            return Value(STRING, self._decode(start, start + (code & 0x1F)))
        if kind == KIND_NUMBER and code < 0x80:
            self.pos += 1
            return Value(NUMBER, code)
        if code == _NIL:
            self.pos += 1
            return null(type_)
        if 0xD4 <= code <= 0xD8 or 0xC7 <= code <= 0xC9:
            return self._read_unknown(type_)
        if kind == KIND_STRING:
            return Value(STRING, self._read_text("a string"))
        if kind == KIND_NUMBER:
            return Value(NUMBER, self._read_number())
        if kind == KIND_BOOL:
            return self._read_bool()
        if isinstance(type_, ObjectType):
            return self._read_object(type_)
        if isinstance(type_, TupleType):
            return self._read_tuple(type_)
        if isinstance(type_, CollectionType):
            return self._read_map(type_) if kind == KIND_MAP else self._read_sequence(type_)
        if kind == KIND_DYNAMIC:
            return self._read_dynamic()
        raise CtyError(f"{type_.with_article()} cannot be deserialized")

    def _read_bool(self) -> Value:
        code = self.data[self.pos]
        if code != 0xC2 and code != 0xC3:
            raise CtyError("a bool is required")
        self.pos += 1
        return TRUE if code == 0xC3 else FALSE

    def _read_number(self) -> int | Number:
        code = self.data[self.pos]
        if code < 0x80 or code >= 0xE0 or code in _INTEGERS:
            return self._read_integer("a number")
        if code == 0xCA or code == 0xCB:
            layout = ">f" if code == 0xCA else ">d"
            self.pos += 1
            return numbers.from_float(float(self._unpack(layout)))
        text = self._read_text("a number")
        try:
            return numbers.parse(text)
        except CtyError:
            raise CtyError("a number is required, and this string does not represent one") from None

    def _read_integer(self, wanted: str) -> int:
        code = self.data[self.pos]
        layout = _INTEGERS.get(code)
        if code < 0x80 or code >= 0xE0:
            self.pos += 1
            return code if code < 0x80 else code - 0x100
        if layout is None:
            raise CtyError(f"{wanted} is required")
        self.pos += 1
        return int(self._unpack(layout))

    def _unpack(self, layout: str) -> int | float:
        start = self.pos
        end = start + struct.calcsize(layout)
        if end > self.size:
            raise _too_short()
        self.pos = end
        found: tuple[int | float] = struct.unpack(layout, self.data[start:end])
        return found[0]

    def _read_length(self, code: int, first: int) -> int:
        """Read the length after a code, in one, two or four bytes for the first, second or third
        code.
        """
        self.pos += 1
        return int(self._unpack((">B", ">H", ">I")[code - first]))

    def _read_text(self, wanted: str) -> str:
        start, end = self._span(wanted)
        return self._decode(start, end)

    def _span(self, wanted: str) -> tuple[int, int]:
        """Find the start and end of a string's or byte string's content."""
        code = self.data[self.pos]
        if 0xA0 <= code < 0xC0:
            return self.pos + 1, self.pos + 1 + (code & 0x1F)
        if 0xD9 <= code <= 0xDB:
            length = self._read_length(code, 0xD9)
        elif 0xC4 <= code <= 0xC6:
            length = self._read_length(code, 0xC4)
        else:
            raise CtyError(f"{wanted} is required")
        return self.pos, self.pos + length

    def _decode(self, start: int, end: int) -> str:
        if end > self.size:
            raise _too_short()
        self.pos = end
        # go-cty accepts bytes that are not UTF-8 in strings, such as in file names, and so they are
        # retained.
        text = self.data[start:end].decode("utf-8", "surrogateescape")
        return text if text.isascii() else normalize(text)

    def _array_length(self, wanted: str) -> int:
        code = self.data[self.pos]
        if 0x90 <= code < 0xA0:
            self.pos += 1
            return code & 0x0F
        if code != 0xDC and code != 0xDD:
            raise CtyError(f"{wanted} is required")
        return self._checked(self._read_length(code, 0xDB))

    def _map_length(self, wanted: str) -> int:
        code = self.data[self.pos]
        if 0x80 <= code < 0x90:
            self.pos += 1
            return code & 0x0F
        if code != 0xDE and code != 0xDF:
            raise CtyError(f"{wanted} is required")
        return self._checked(self._read_length(code, 0xDD))

    def _checked(self, length: int) -> int:
        """Reject a length that the rest of the data cannot hold: each element takes at least one
        byte.
        """
        if length > self.size - self.pos:
            raise _too_short()
        return length

    def _read_sequence(self, type_: CollectionType) -> Value:
        is_set = type_.kind == KIND_SET
        length = self._array_length("a set" if is_set else "a list")
        element = type_.element
        elements: list[Value] = []
        flags = 0
        for i in range(length):
            try:
                value = self.read(element)
            except CtyError as error:
                raise error.under(index_step(i)) from None
            flags |= value.flags
            elements.append(value)
        if type_.has_dynamic:
            element = type_of_all(elements, element)
        elif not is_set:
            return Value(type_, tuple(elements), NO_MARKS, flags)
        return (set_value if is_set else list_value)(element, elements)

    def _read_map(self, type_: CollectionType) -> Value:
        length = self._map_length("a map")
        element = type_.element
        elements: dict[str, Value] = {}
        flags = 0
        for _ in range(length):
            key = self._read_text("a string as key")
            try:
                value = self.read(element)
            except CtyError as error:
                raise error.under(index_step(key)) from None
            flags |= value.flags
            elements[key] = value
        if type_.has_dynamic:
            return map_value(type_of_all(list(elements.values()), element), elements)
        return Value(type_, elements, NO_MARKS, flags)

    def _read_tuple(self, type_: TupleType) -> Value:
        types = type_.elements
        length = self._array_length("a tuple")
        if length != len(types):
            raise CtyError(f"a tuple of length {len(types)} is required, not {length}")
        elements: list[Value] = []
        flags = 0
        for i, element_type in enumerate(types):
            try:
                value = self.read(element_type)
            except CtyError as error:
                raise error.under(index_step(i)) from None
            flags |= value.flags
            elements.append(value)
        if type_.has_dynamic:
            return tuple_value(elements)
        return Value(type_, tuple(elements), NO_MARKS, flags)

    def _read_object(self, type_: ObjectType) -> Value:
        known = self.layouts.get(id(type_))
        if known is None:
            names = {clean_text(name).encode(): (name, t) for name, t in type_.attributes.items()}
            known = self.layouts[id(type_)] = (type_, names)
        layout = known[1]
        length = self._map_length("an object")
        attributes: dict[str, Value] = {}
        flags = 0
        for _ in range(length):
            name, attribute_type = self._read_name(layout)
            try:
                value = self.read(attribute_type)
            except CtyError as error:
                raise error.under(GetAttr(name)) from None
            flags |= value.flags
            attributes[name] = value
        if length != len(layout) or len(attributes) != length:
            raise CtyError(f"an object of {len(layout)} attributes is required, not {length}")
        if type_.has_dynamic:
            return object_value(attributes)
        return Value(type_, attributes, NO_MARKS, flags)

    def _read_name(self, layout: dict[bytes, tuple[str, Type]]) -> tuple[str, Type]:
        start, end = self._span("a string as name")
        if end > self.size:
            raise _too_short()
        found = layout.get(self.data[start:end])
        self.pos = end
        if found is None:
            name = self.data[start:end].decode("utf-8", "replace")
            raise CtyError(f'there is no attribute "{name}"')
        return found

    def _read_dynamic(self) -> Value:
        if self._array_length("a pair of type and value") != 2:
            raise CtyError("a value of any type is a pair of its type and itself")
        start, end = self._span("a type")
        if end > self.size:
            raise _too_short()
        self.pos = end
        type_ = without_optional(type_from_json(self.data[start:end]))
        # Nested types are only bounded together: each may bring another.
        self.nesting += type_.depth
        if self.nesting > USUAL_DEPTH:
            allow_depth(self.nesting)
        value = self.read(type_)
        self.nesting -= type_.depth
        return value

    # -- unknown values -------------------------------------------------------------------------

    def _read_unknown(self, type_: Type) -> Value:
        start, length, code = self._extension()
        if length <= 1:
            return unknown(type_)
        if code != EXTENSION_REFINED:
            raise CtyError(f"an extension of type {code:#04x} and {length} bytes is not supported")
        if length > _LARGEST_REFINEMENT:
            raise CtyError("the refinement of an unknown value is too large")
        body = _Reader(self.data[start : self.pos])
        return body._read_refined(unknown(type_))

    def _extension(self) -> tuple[int, int, int]:
        """Skip an extension; return the offset of its body, its length and its code."""
        code = self.data[self.pos]
        if 0xD4 <= code <= 0xD8:
            length = 1 << (code - 0xD4)
            self.pos += 1
        else:
            length = self._read_length(code, 0xC7)
        extension = self.data[self.pos]
        start = self.pos + 1
        if start + length > self.size:
            raise _too_short()
        self.pos = start + length
        return start, length, extension

    def _read_refined(self, value: Value) -> Value:
        count = self._map_length("a map of refinements")
        type_ = value.type
        by = Refinement()
        is_null = False
        for _ in range(count):
            key = self._read_integer("a number as key of a refinement")
            if key == KEY_NOT_NULL:
                is_null = self._read_bool() is TRUE
                by.not_null = not is_null
            elif key == KEY_PREFIX and type_.kind == KIND_STRING:
                by.prefix = self._read_text("a string as prefix")
            elif key == KEY_LOWER and type_.kind == KIND_NUMBER:
                by.lower = self._read_bound()
            elif key == KEY_UPPER and type_.kind == KIND_NUMBER:
                by.upper = self._read_bound()
            elif key == KEY_SHORTEST and type_.is_collection:
                by.min_length = max(0, self._read_integer("a length"))
            elif key == KEY_LONGEST and type_.is_collection:
                by.max_length = max(0, self._read_integer("a length"))
            elif KEY_PREFIX <= key <= KEY_LONGEST and type_.kind != KIND_DYNAMIC:
                raise CtyError(f"a refinement does not apply to {type_.with_article()}")
            else:
                self.imply(1)
        return null(type_) if is_null else refine(value, by)

    def _read_bound(self) -> tuple[int | Number, bool]:
        if self._array_length("a pair as bound") != 2:
            raise CtyError("a bound is a pair of a number and whether it is included")
        bound = self._read_number()
        return bound, self._read_bool() is TRUE

    # -- types of values ------------------------------------------------------------------------

    def imply(self, depth: int) -> Type:
        """Skip a value and return the type that it implies."""
        if depth > USUAL_DEPTH:
            allow_depth(depth)
        code = self.data[self.pos]
        if code == _NIL:
            self.pos += 1
            return DYNAMIC
        if 0xD4 <= code <= 0xD8 or 0xC7 <= code <= 0xC9:
            self._extension()
            return DYNAMIC
        if code == 0xC2 or code == 0xC3:
            self.pos += 1
            return BOOL
        if code < 0x80 or code >= 0xE0 or 0xCA <= code <= 0xD3:
            self._read_number()
            return NUMBER
        if 0xA0 <= code < 0xC0 or 0xD9 <= code <= 0xDB:
            _, end = self._span("a string")
            if end > self.size:
                raise _too_short()
            self.pos = end
            return STRING
        if 0x80 <= code < 0x90 or code == 0xDE or code == 0xDF:
            return self._imply_object(depth)
        if 0x90 <= code < 0xA0 or code == 0xDC or code == 0xDD:
            length = self._array_length("an array")
            return TupleType(tuple([self.imply(depth + 1) for _ in range(length)]))
        raise CtyError(f"invalid msgpack: {code:#04x} is not a type code")

    def _imply_object(self, depth: int) -> Type:
        attributes: dict[str, Type] = {}
        for _ in range(self._map_length("a map")):
            name = self._read_text("a string as name")
            attributes[name] = self.imply(depth + 1)
        return ObjectType(attributes)

"""Values: their representation and construction.

A value is a type, a payload, marks and two flags. Null, unknown and data share the payload, so that
a value cannot be two of them at once:

| payload | value |
| --- | --- |
| `None` | null |
| `Unknown` | unknown |
| `str`, `bool`, `int` or `Number` | string, bool, number |
| tuple of values | list, tuple, set (a set's is sorted and free of duplicates) |
| dict of values | map, object |
| any other object | capsule |

Values are immutable. The flags record whether any part is unknown or marked. They are computed at
construction, so that no operation has to walk a plain value. Operations are in `operations`,
`convert` and `marks`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cmp_to_key

from nigari.cty import numbers
from nigari.cty.errors import CtyError
from nigari.cty.go_text import go_quote
from nigari.cty.numbers import Number
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    KIND_BOOL,
    KIND_CAPSULE,
    KIND_DYNAMIC,
    KIND_NUMBER,
    KIND_OBJECT,
    KIND_SET,
    KIND_STRING,
    KIND_TUPLE,
    MAX_DEPTH,
    NUMBER,
    STRING,
    USUAL_DEPTH,
    CapsuleType,
    ListType,
    MapType,
    SetType,
    Type,
    allow_depth,
    check_type,
    object_type_of,
    tuple_type_of,
)
from nigari.cty.unknown import UNREFINED, Unknown
from nigari.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from decimal import Decimal
    from typing import Final

Mark = object
"""A mark is any hashable object. Values carry marks; this package never interprets them."""

NO_MARKS: Final[frozenset[Mark]] = frozenset()

HAS_UNKNOWN: Final = 1
HAS_MARKS: Final = 2

REFUSED: Final = object()
"""Default placeholder: a part that would need one is an error."""

_MOST_DIGITS: Final = 160
# Integers below this are their own payload. Most are, so this check comes first.
_SMALL: Final = 1 << 62


class Value:
    """An immutable value. Use the functions of this module to build one."""

    __slots__ = ("data", "flags", "marks", "type")
    __match_args__: Final = ("type", "data")

    type: Type
    data: object
    marks: frozenset[Mark]
    flags: int

    def __init__(
        self, type_: Type, data: object, marks: frozenset[Mark] = NO_MARKS, flags: int = 0
    ) -> None:
        self.type = type_
        self.data = data
        self.marks = marks
        self.flags = flags

    @staticmethod
    def of(obj: object) -> Value:
        """Convert a plain Python object to a value.

        Lists and tuples become tuples, dicts become objects, sets become sets of one type. Numbers
        may be `Decimal`; a path becomes its text, a date or time its ISO 8601 text, an enumeration
        member its value; dataclasses and similar records become objects. A value is returned
        unchanged. A `TypeError` names the part that cannot be converted.
        """
        return plain_value(obj)

    # -- inspection -----------------------------------------------------------------------------

    @property
    def is_null(self) -> bool:
        """True for null."""
        return self.data is None

    @property
    def is_known(self) -> bool:
        """True unless the value itself is unknown; parts of it may be."""
        return not isinstance(self.data, Unknown)

    @property
    def is_wholly_known(self) -> bool:
        """True if no part is unknown."""
        return not self.flags & HAS_UNKNOWN

    @property
    def is_marked(self) -> bool:
        """True if the value itself has marks."""
        return bool(self.marks)

    @property
    def contains_marked(self) -> bool:
        """True if the value or any part of it has marks."""
        return bool(self.flags & HAS_MARKS)

    def has_mark(self, mark: Mark) -> bool:
        """Check the value's own marks, not those of its parts."""
        return mark in self.marks

    @property
    def refinements(self) -> Unknown:
        """Refinements of an unknown value."""
        return cast(Unknown, self.data)

    @property
    def causes(self) -> tuple[object, ...]:
        """Causes of an unknown value; empty for a known one."""
        data = self.data
        return data.causes if isinstance(data, Unknown) else ()

    # -- contents -------------------------------------------------------------------------------

    def as_string(self) -> str:
        """Return the text of a known, non-null string."""
        data = self.data
        if not isinstance(data, str):
            raise self._misuse("a string")
        return data

    def as_bool(self) -> bool:
        """Return the truth of a known, non-null bool."""
        data = self.data
        if not isinstance(data, bool):
            raise self._misuse("a bool")
        return data

    def as_number(self) -> int | Number:
        """Return the payload of a known, non-null number."""
        data = self.data
        if isinstance(data, Number):
            return data
        if not isinstance(data, int) or isinstance(data, bool):
            raise self._misuse("a number")
        return data

    def sequence(self) -> tuple[Value, ...]:
        """Return the elements of a known list, set or tuple, in order."""
        data = self.data
        if not isinstance(data, tuple):
            raise self._misuse("a sequence")
        return data

    def mapping(self) -> dict[str, Value]:
        """Return the elements of a known map or object, in no particular order. Do not modify the
        result.
        """
        data = self.data
        if not isinstance(data, dict):
            raise self._misuse("a map or object")
        return data

    def elements(self) -> tuple[Value, ...]:
        """Return the elements of a known collection or structure, in order; those of a map or
        object sorted by key.
        """
        data = self.data
        if isinstance(data, dict):
            return tuple([data[key] for key in sorted(data)])
        return self.sequence()

    def items(self) -> list[tuple[Value, Value]]:
        """Return pairs of key and element, in the order of `elements`; a set's keys are its
        elements.
        """
        data = self.data
        if isinstance(data, dict):
            return [(Value(STRING, key), data[key]) for key in sorted(data)]
        sequence = self.sequence()
        if self.type.kind == KIND_SET:
            return [(element, element) for element in sequence]
        return [(Value(NUMBER, i), element) for i, element in enumerate(sequence)]

    def keys(self) -> list[str]:
        """Return the keys of a known map, or the attribute names of an object, sorted."""
        return sorted(self.mapping())

    def values(self) -> list[Value]:
        """Return the elements of a known map or object by key; they inherit the marks of the whole."""
        return [element.with_marks(self.marks) for element in self.elements()]

    def get(self, key: str, default: Value | None = None) -> Value | None:
        """Return the element under a key of a known map or object, or the default."""
        return self[key] if normalize(key) in self.mapping() else default

    def attribute(self, name: str) -> Value:
        """Return an attribute of a known object; raise `KeyError` if there is none of that name."""
        return self.mapping()[name]

    def length_int(self) -> int:
        """Count the elements of a known collection or structure."""
        data = self.data
        return len(data) if isinstance(data, dict) else len(self.sequence())

    def as_decimal(self) -> Decimal:
        """Return a known, non-null number with all its digits."""
        from decimal import Context, Decimal

        text = numbers.to_text(self.as_number())
        return Context(prec=max(len(text), 1)).create_decimal(Decimal(text))

    def to_python(self, *, unknown: object = REFUSED, marked: object = REFUSED) -> object:
        """Convert to plain Python data: str, int or float, bool, None, list, dict.

        A whole number becomes an int of any size. Any other becomes the nearest float, which has at
        most 17 digits and is 0.0 for numbers too close to zero: `as_decimal` is lossless. An
        unknown or marked part raises a `CtyError` that names it, as neither can be represented
        without a decision. `unknown` and `marked` are placeholders for such parts; the inside of a
        marked part is never read.
        """
        if not self.flags:
            return _to_python(self)
        return _with_placeholders(self, unknown, marked)

    def _misuse(self, wanted: str) -> TypeError:
        state = "an unknown" if not self.is_known else "a null" if self.is_null else "a"
        return TypeError(f"{wanted} is required, and this is {state} {self.type.friendly_name()}")

    # -- marks --------------------------------------------------------------------------------

    def mark(self, *marks: Mark) -> Value:
        """Add marks."""
        return self.with_marks(frozenset(marks))

    def with_marks(self, marks: frozenset[Mark]) -> Value:
        """Add a set of marks."""
        if not marks or marks <= self.marks:
            return self
        return Value(self.type, self.data, self.marks | marks, self.flags | HAS_MARKS)

    def unmark(self) -> tuple[Value, frozenset[Mark]]:
        """Split off the value's own marks. Marks of its parts stay."""
        marks = self.marks
        if not marks:
            return self, marks
        return Value(self.type, self.data, NO_MARKS, _flags_of(self.data)), marks

    def unmark_deep(self) -> tuple[Value, frozenset[Mark]]:
        """Split off all marks, at any depth."""
        if not self.flags & HAS_MARKS:
            return self, NO_MARKS
        found: set[Mark] = set()
        return _strip_marks(self, found), frozenset(found)

    # -- unknown ------------------------------------------------------------------------------

    def with_causes(self, causes: tuple[object, ...]) -> Value:
        """Replace the causes of an unknown value; a known value stays unchanged."""
        data = self.data
        if not isinstance(data, Unknown) or data.causes == causes:
            return self
        return Value(self.type, data.with_causes(causes), self.marks, self.flags)

    # -- Python -------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        """Check for identity of type, payload, refinements and marks. See `operations.equals` for
        the language's own equality.

        Plain Python data is compared with the value's data; raises a `CtyError` if that is partly
        unknown or marked, since either answer would be a guess.
        """
        if self is other:
            return True
        if not isinstance(other, Value):
            return equals_plain(self, other)
        return self.marks == other.marks and self.type == other.type and self.data == other.data

    def __hash__(self) -> int:
        data = self.data
        if isinstance(data, dict):
            data = frozenset(data.items())
        return hash((self.type, data, self.marks))

    def __len__(self) -> int:
        """Count the elements of a known collection or structure."""
        return self.length_int()

    def __getitem__(self, key: object) -> Value:
        """Return the element at a position or under a key, with the marks of the whole; or a slice
        of a list or tuple.

        Raises `IndexError` or `KeyError` if there is none, `TypeError` if the value has no
        elements.
        """
        marks = self.marks
        if isinstance(key, Value):
            marks |= key.marks
            key = key.data
        if isinstance(key, str):
            return self.mapping()[normalize(key)].with_marks(marks)
        if not isinstance(key, int | slice) or isinstance(key, bool):
            raise TypeError(f"an element is found by an int or a str, not {type(key).__name__}")
        if self.type.kind == KIND_SET:
            raise TypeError("the elements of a set have no positions")
        if isinstance(key, slice):
            return _with_elements(self.type, self.sequence()[key]).with_marks(marks)
        return self.sequence()[key].with_marks(marks)

    def __iter__(self) -> Iterator[Value | str]:
        """Iterate over the elements of a known list, set or tuple, or the keys of a map or object.

        As with a dict, `items()` and `elements()` provide the elements under the keys.
        """
        data = self.data
        if isinstance(data, dict):
            return iter(sorted(data))
        marks = self.marks
        return iter([element.with_marks(marks) for element in self.sequence()])

    def __contains__(self, item: object) -> bool:
        """Check for an element of a known list, set or tuple, or a key of a map or object."""
        data = self.data
        if isinstance(data, dict):
            key = item.data if isinstance(item, Value) else item
            return isinstance(key, str) and normalize(key) in data
        return is_among(Value.of(item), self.sequence())

    def __bool__(self) -> bool:
        raise TypeError("a Value is neither true nor false: use as_bool(), is_known or is_null")

    def __reduce__(self) -> tuple[object, ...]:
        return (Value, (self.type, self.data, self.marks, self.flags))

    def __repr__(self) -> str:
        return f"<{self.type.friendly_name()} {short_text(self)}>"


def is_among(wanted: object, elements: Container[object]) -> bool:
    """Evaluate `wanted in elements` for a value. In compiled code that expression would call the
    value itself.
    """
    return wanted in elements


def _flags_of(data: object) -> int:
    """Compute the flags of a payload."""
    if isinstance(data, tuple):
        flags = 0
        for element in cast(tuple[Value, ...], data):
            flags |= element.flags
        return flags
    if isinstance(data, dict):
        flags = 0
        for element in cast(dict[str, Value], data).values():
            flags |= element.flags
        return flags
    return HAS_UNKNOWN if isinstance(data, Unknown) else 0


def _strip_marks(value: Value, found: set[Mark]) -> Value:
    if not value.flags & HAS_MARKS:
        return value
    found.update(value.marks)
    data = value.data
    if isinstance(data, tuple):
        data = tuple([_strip_marks(element, found) for element in cast(tuple[Value, ...], data)])
    elif isinstance(data, dict):
        elements = cast(dict[str, Value], data)
        data = {key: _strip_marks(element, found) for key, element in elements.items()}
    return Value(value.type, data, NO_MARKS, value.flags & HAS_UNKNOWN)


# -- building ---------------------------------------------------------------------------------


def normalize(text: str) -> str:
    """Compose the text to Unicode's NFC, as go-cty does for every string."""
    if text.isascii():
        return text
    import unicodedata

    if unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def string(text: str) -> Value:
    """Build a string in normal form C."""
    if type(text) is str and text.isascii():
        return Value(STRING, text)
    return Value(STRING, normalize(bare_text(text)))


def bare_text(text: object) -> str:
    """Strip a str subclass, such as an enumeration member, to a plain str."""
    if not isinstance(text, str):
        raise TypeError(f"a Python {type(text).__name__} is not a string")
    return str.__str__(text)


def number(of: int | float | str | Decimal | Number) -> Value:
    """Build a number from a Python number, or without loss from its decimal text."""
    if type(of) is int and -_SMALL < of < _SMALL:
        return Value(NUMBER, of)
    if isinstance(of, int):
        if isinstance(of, bool):
            raise TypeError("a bool is not a number: use boolean()")
        return Value(NUMBER, numbers.from_int(int(of)))
    if isinstance(of, float):
        if of.is_integer() and of:
            return Value(NUMBER, numbers.from_int(int(of)))
        return Value(NUMBER, numbers.from_float(of))
    if isinstance(of, str):
        return Value(NUMBER, numbers.parse(of))
    if isinstance(of, Number):
        return Value(NUMBER, of)
    return Value(NUMBER, numbers.parse(_decimal_text(of)))


def _decimal_text(of: object) -> str:
    from decimal import Decimal

    if not isinstance(of, Decimal):
        raise TypeError(f"a Python {type(of).__name__} is not a number")
    if of.is_nan():
        raise CtyError("Not a number (NaN) cannot be represented as a number value.")
    return str(of) if of.is_finite() else "-Inf" if of < 0 else "Inf"


TRUE: Final = Value(BOOL, True)
FALSE: Final = Value(BOOL, False)


def boolean(truth: bool) -> Value:
    """Return one of the two values of type bool; they are never copied."""
    return TRUE if truth else FALSE


_NULLS: Final = {
    KIND_DYNAMIC: Value(DYNAMIC, None),
    KIND_STRING: Value(STRING, None),
    KIND_NUMBER: Value(NUMBER, None),
    KIND_BOOL: Value(BOOL, None),
}
_UNKNOWNS: Final = {
    KIND_DYNAMIC: Value(DYNAMIC, UNREFINED, NO_MARKS, HAS_UNKNOWN),
    KIND_STRING: Value(STRING, UNREFINED, NO_MARKS, HAS_UNKNOWN),
    KIND_NUMBER: Value(NUMBER, UNREFINED, NO_MARKS, HAS_UNKNOWN),
    KIND_BOOL: Value(BOOL, UNREFINED, NO_MARKS, HAS_UNKNOWN),
}
DYNAMIC_UNKNOWN: Final = _UNKNOWNS[KIND_DYNAMIC]
DYNAMIC_NULL: Final = _NULLS[KIND_DYNAMIC]


def null(type_: Type) -> Value:
    """Build the null of a type; a null of unknown type has `DYNAMIC`."""
    try:
        return _NULLS[type_.kind] if type_.kind <= KIND_BOOL else Value(type_, None)
    except AttributeError:
        check_type(type_)
        raise


def unknown(type_: Type, refinements: Unknown = UNREFINED) -> Value:
    """Build an unknown value. One of unknown type only carries causes."""
    try:
        kind = type_.kind
    except AttributeError:
        check_type(type_)
        raise
    if refinements is UNREFINED and kind <= KIND_BOOL:
        return _UNKNOWNS[kind]
    if kind == KIND_DYNAMIC:
        refinements = UNREFINED.with_causes(refinements.causes)
    return Value(type_, refinements, NO_MARKS, HAS_UNKNOWN)


def list_value(element: Type, elements: Iterable[Value]) -> Value:
    """Build a list. Elements of unknown type adopt the list's element type."""
    data = tuple(elements)
    if _are_plain(data, element):
        return Value(ListType(element), data)
    data = tuple([_as_element(e, element) for e in data])
    return Value(ListType(element), data, NO_MARKS, _flags_of(data))


def set_value(element: Type, elements: Iterable[Value]) -> Value:
    """Build a set. As in go-cty, marks of elements become marks of the whole, which cannot hold
    them apart.
    """
    found: set[Mark] = set()
    unmarked: list[Value] = []
    flags = 0
    elements = tuple(elements)
    try:
        for value in elements:
            if value.flags & HAS_MARKS:
                value = _strip_marks(value, found)
            if value.type is not element and value.type != element:
                value = _as_element(value, element)
            flags |= value.flags
            unmarked.append(value)
    except AttributeError:
        raise _no_values(elements) from None
    data = _order_elements(element, unmarked)
    if found:
        return Value(SetType(element), data, frozenset(found), flags | HAS_MARKS)
    return Value(SetType(element), data, NO_MARKS, flags)


def map_value(element: Type, elements: Mapping[str, Value]) -> Value:
    """Build a map. Elements of unknown type adopt the map's element type."""
    try:
        are_ascii = all(map(str.isascii, elements))
    except TypeError:
        from nigari.arguments import check_named

        check_named("the elements of a map", elements)
        raise
    if are_ascii:
        data = dict(elements)
    else:
        data = {normalize(key): value for key, value in elements.items()}
    if _are_plain(data.values(), element):
        return Value(MapType(element), data)
    data = {key: _as_element(e, element) for key, e in data.items()}
    return Value(MapType(element), data, NO_MARKS, _flags_of(data))


def check_value(given: object) -> None:
    """Raise `TypeError` for anything that is not a value."""
    if not isinstance(given, Value):
        name = type(given).__name__
        raise TypeError(f"a Value is required, not a Python {name}: Value.of() makes one") from None


def _are_plain(values: Iterable[Value], element: Type) -> bool:
    """Check that all elements are of that type, wholly known and unmarked, as most are."""
    try:
        for value in values:
            if value.flags or (value.type is not element and value.type != element):
                return False
    except AttributeError:
        raise _no_values(values) from None
    return True


def _no_values(elements: Iterable[object]) -> TypeError:
    """Explain elements that are Python data instead of values, or have no names."""
    for each in elements:
        if not isinstance(each, Value):
            return TypeError(
                f"an element is a Value, not a Python {type(each).__name__}: "
                "Value.of() makes values of Python data"
            )
    return TypeError("the names of attributes are of type str")


def _as_element(value: Value, element: Type) -> Value:
    if value.type is element or value.type == element:
        return value
    if value.type.kind == KIND_DYNAMIC:
        return Value(element, value.data, value.marks, value.flags)
    raise TypeError(
        f"an element of type {value.type.friendly_name()} in a collection of "
        f"{element.friendly_name()}: convert it first"
    )


def tuple_value(elements: Iterable[Value]) -> Value:
    """Build a tuple; its type follows from its elements."""
    data = tuple(elements)
    flags = 0
    types: list[Type] = []
    try:
        for value in data:
            flags |= value.flags
            types.append(value.type)
    except AttributeError:
        raise _no_values(data) from None
    return Value(tuple_type_of(types), data, NO_MARKS, flags)


def object_value(attributes: Mapping[str, Value]) -> Value:
    """Build an object; its type follows from its attributes."""
    data: dict[str, Value] = {}
    types: dict[str, Type] = {}
    flags = 0
    if not isinstance(attributes, dict):
        from nigari.arguments import check_named

        check_named("the attributes of an object", attributes)
    try:
        for name, value in attributes.items():
            if not name.isascii():
                name = normalize(name)
            flags |= value.flags
            data[name] = value
            types[name] = value.type
    except AttributeError:
        raise _no_values(attributes.values()) from None
    return Value(object_type_of(types), data, NO_MARKS, flags)


def capsule_value(type_: CapsuleType, obj: object) -> Value:
    """Wrap a Python object as a value."""
    if not isinstance(obj, type_.python_type):
        raise TypeError(f"a {type_.name} holds a {type_.python_type.__name__}")
    return Value(type_, obj)


EMPTY_TUPLE: Final = tuple_value(())
EMPTY_OBJECT: Final = object_value({})


# -- the order and identity of a set's elements -------------------------------------------------


def _order_elements(element: Type, values: list[Value]) -> tuple[Value, ...]:
    """Remove duplicates and sort in go-cty's order, which other programs show and store.

    Primitive elements are sorted by value, others by `set_order_text`; unknown ones follow known
    ones, null is last. A partly unknown element equals nothing, so all of those stay.
    """
    distinct: dict[Value, None] = {}
    partly_known: list[Value] = []
    unknowns: list[Value] = []
    nulls: list[Value] = []
    for value in values:
        if value.data is None:
            nulls = [value]
        elif value.is_wholly_known:
            distinct[value] = None
        elif value.is_known:
            partly_known.append(value)
        else:
            unknowns.append(value)
    ordered = [*distinct, *partly_known]
    if len(ordered) > 1:
        _sort_elements(element.kind, ordered)
    return (*ordered, *unknowns, *nulls)


def _sort_elements(kind: int, values: list[Value]) -> None:
    if kind == KIND_STRING:
        values.sort(key=Value.as_string)
    elif kind == KIND_NUMBER:
        values.sort(key=cmp_to_key(_compare_numbers))
    elif kind == KIND_BOOL:
        values.sort(key=Value.as_bool)
    else:
        # go-cty formats numbers with ten digits here and leaves the order open beyond that.
        values.sort(key=_exact_order_text)
        values.sort(key=set_order_text)


def _exact_order_text(value: Value) -> str:
    return set_order_text(value, _MOST_DIGITS)


def _compare_numbers(a: Value, b: Value) -> int:
    return numbers.compare(a.as_number(), b.as_number())


def set_order_text(value: Value, digits: int = 10) -> str:
    """Return the text by which go-cty sorts the elements of a set that are not primitive."""
    data = value.data
    if isinstance(data, Unknown):
        return "?"
    if data is None:
        return "~"
    kind = value.type.kind
    if kind == KIND_BOOL:
        return "T" if data else "F"
    if kind == KIND_NUMBER:
        return numbers.to_general_text(value.as_number(), digits)
    if isinstance(data, str):
        return go_quote(data)
    if isinstance(data, dict):
        elements = [set_order_text(data[key], digits) for key in sorted(data)]
        if kind == KIND_OBJECT:
            return f"<{''.join([f'{e};' for e in elements])}>"
        pairs = zip(sorted(data), elements, strict=True)
        return f"{{{''.join([f'{go_quote(k)}:{e};' for k, e in pairs])}}}"
    if isinstance(data, tuple):
        text = "".join([f"{set_order_text(e, digits)};" for e in data])
        return f"<{text}>" if kind == KIND_TUPLE else f"[{text}]"
    return "«?»"


def _with_elements(type_: Type, elements: tuple[Value, ...]) -> Value:
    return (
        list_value(type_.element, elements)
        if isinstance(type_, ListType)
        else tuple_value(elements)
    )


def short_text(value: Value) -> str:
    """Abbreviate a value for `repr`. Marked values are not shown."""
    data = value.data
    if value.marks:
        return "(marked)"
    if isinstance(data, Unknown):
        return f"(unknown: {data!r})" if data.is_refined else "(unknown)"
    if data is None:
        return "null"
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, int | Number):
        return numbers.to_text(data)
    if isinstance(data, tuple):
        return f"[{', '.join([short_text(element) for element in data])}]"
    if isinstance(data, dict):
        pairs = [f"{key} = {short_text(data[key])}" for key in sorted(data)]
        return f"{{{', '.join(pairs)}}}"
    return repr(data)


# -- to and from Python -----------------------------------------------------------------------


def plain_value(obj: object) -> Value:
    """Convert a Python object to a value; a `TypeError` names the part that cannot be converted."""
    try:
        return _from_python(obj, 1)
    except TypeError as error:
        way = _way_to_refused(obj)
        if not way:
            raise
        raise TypeError(f"{way}: {error}") from None


def _with_placeholders(value: Value, unknown: object, marked: object) -> object:
    """Convert a value with unknown or marked parts to Python data."""
    flags = value.flags
    refused = (flags & HAS_UNKNOWN if unknown is REFUSED else 0) or (
        flags & HAS_MARKS if marked is REFUSED else 0
    )
    if refused:
        raise _not_plain(value, refused)
    return _replaced(value, unknown, marked)


def _replaced(value: Value, unknown: object, marked: object) -> object:
    if value.marks:
        return marked
    if not value.is_known:
        return unknown
    data = value.data
    if not value.flags:
        return _to_python(value)
    if isinstance(data, dict):
        return {key: _replaced(data[key], unknown, marked) for key in sorted(data)}
    assert isinstance(data, tuple)
    return [_replaced(element, unknown, marked) for element in data]


def equals_plain(value: Value, other: object) -> bool:
    """Compare a value's data with a Python object's; see `Value.__eq__`."""
    try:
        wanted = plain_value(other)
    except (TypeError, ValueError):
        return False  # it cannot be converted to a value
    if value.flags:
        raise _not_plain(value, value.flags)
    return not wanted.flags and _same_data(_to_python(value), _to_python(wanted))


def _same_data(first: object, second: object) -> bool:
    """Compare plain data, distinguishing True from 1."""
    if isinstance(first, list) and isinstance(second, list):
        pairs = zip(first, second, strict=False)
        return len(first) == len(second) and all(_same_data(a, b) for a, b in pairs)
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(
            _same_data(first[key], second[key]) for key in first
        )
    return isinstance(first, bool) is isinstance(second, bool) and first == second


def allow_data_depth(depth: int) -> None:
    """Make room for deeply nested data; raise a `ValueError` for data that no value can represent."""
    try:
        allow_depth(depth)
    except CtyError:
        raise ValueError(
            f"the data contains itself, or is nested more than {MAX_DEPTH} levels deep"
        ) from None


def _from_python(obj: object, depth: int) -> Value:
    if isinstance(obj, str):
        if type(obj) is not str:
            obj = bare_text(obj)
        return Value(STRING, obj if obj.isascii() else normalize(obj))
    if depth > USUAL_DEPTH:
        allow_data_depth(depth)
    if isinstance(obj, dict):
        attributes: dict[str, Value] = {}
        for key, item in obj.items():
            if not isinstance(key, str):
                raise TypeError(f"an attribute name is a str, not {type(key).__name__}")
            attributes[key] = _from_python(item, depth + 1)
        return object_value(attributes)
    if isinstance(obj, (list, tuple)):
        return tuple_value([_from_python(item, depth + 1) for item in obj])
    if obj is None:
        return DYNAMIC_NULL
    if isinstance(obj, Value):
        return obj
    if isinstance(obj, bool):
        return boolean(obj)
    if isinstance(obj, (int, float)):
        return number(obj)
    if isinstance(obj, Number):
        return Value(NUMBER, obj)
    if isinstance(obj, Mapping):
        return _from_python(dict(obj), depth)
    if isinstance(obj, (set, frozenset)):
        elements = [_from_python(item, depth + 1) for item in obj]
        return set_value(elements[0].type if elements else DYNAMIC, elements)
    return _from_object(obj, depth)


def _from_object(obj: object, depth: int) -> Value:
    """Convert an object that is not plain data."""
    from datetime import date, datetime, time
    from decimal import Decimal
    from enum import Enum
    from os import PathLike, fspath

    from nigari.cty.models import is_model, model_values

    if isinstance(obj, Decimal):
        return number(obj)
    if isinstance(obj, Enum):
        return _from_python(obj.value, depth + 1)
    if isinstance(obj, PathLike):
        return _from_python(fspath(obj), depth)
    if isinstance(obj, date | datetime | time):
        return Value(STRING, obj.isoformat())
    if isinstance(obj, Sequence) and not isinstance(obj, (bytes, bytearray, memoryview)):
        return tuple_value([_from_python(item, depth + 1) for item in obj])
    if is_model(type(obj)):
        return _from_python(model_values(obj), depth)
    raise TypeError(f"a Python {type(obj).__name__} cannot be converted to a value")


def _way_to_refused(obj: object) -> str:
    """Locate the part of plain data that cannot be converted, as a Python expression."""
    way = ""
    while True:
        parts: Iterable[tuple[object, object]] = ()
        if isinstance(obj, Mapping):
            parts = obj.items()
        elif isinstance(obj, (list, tuple)):
            parts = enumerate(obj)
        for key, part in parts:
            try:
                _from_python(part, 1)
            except TypeError:
                way, obj = f"{way}[{key!r}]", part
                break
        else:
            return way


def _not_plain(value: Value, refused: int) -> CtyError:
    """Report the part of a value that cannot be plain data: the first unknown, otherwise the first
    marked.
    """
    is_unknown = bool(refused & HAS_UNKNOWN)
    flag = HAS_UNKNOWN if is_unknown else HAS_MARKS
    way = ""
    while value.is_known if is_unknown else not value.marks:
        type_ = value.type
        for key, part in value.items():
            if part.flags & flag:
                way += f".{key.data}" if type_.kind == KIND_OBJECT else f"[{short_text(key)}]"
                value = part
                break
    return CtyError(f"{way or 'the value'} is {'unknown' if is_unknown else 'marked'}")


def _to_python(value: Value) -> object:
    data = value.data
    if isinstance(data, Number):
        if numbers.is_whole(data) and not numbers.is_zero(data):
            return numbers.to_int(data)
        return numbers.to_float(data)  # there is a negative zero
    if value.type.kind == KIND_CAPSULE:
        return data
    if isinstance(data, dict):
        return {key: _to_python(data[key]) for key in sorted(data)}
    if isinstance(data, tuple):
        return [_to_python(element) for element in data]
    return data

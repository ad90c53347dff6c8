"""JSON serialization of values.

With a known type the round trip is lossless: numbers keep all their digits, and open parts of the
type (`DYNAMIC`) are written with their type, `{"value": …, "type": …}`. Without a type, the JSON
implies one: objects and tuples, never maps and lists. The text equals the output of Go's encoder
byte for byte: sorted names, no spaces, `<`, `>` and `&` escaped. Marked and unknown values have no
JSON form.
"""

from nigari.cty import numbers
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.gc_pause import CollectionPaused
from nigari.cty.json_text import (
    check_depth,
    check_json,
    clean_text,
    escape_like_go,
    parse_json,
    quote,
)
from nigari.cty.paths import GetAttr, Index, index_step, walk
from nigari.cty.type_json import type_from_data, type_from_json, type_to_json
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
    EMPTY_OBJECT,
    FALSE,
    TRUE,
    Value,
    check_value,
    list_value,
    map_value,
    normalize,
    null,
    object_value,
    set_value,
    string,
    tuple_value,
    unknown,
)

__all__ = [
    "implied_type",
    "implied_value_from_json",
    "type_from_json",
    "type_to_json",
    "value_from_json",
    "value_to_json",
]

# -- writing ------------------------------------------------------------------------------------


def value_to_json(value: Value, type_: Type | None = None) -> str:
    """Serialize a value as that type, by default its own. Reading it back requires the same type."""
    check_value(value)
    if type_ is None:
        type_ = value.type
    elif value.type is not type_:
        check_type(type_)
        from nigari.cty.conform import conformance_errors

        if conformance_errors(value.type, type_):
            value = convert(value, type_)
    if value.flags:
        _refuse(value)
    parts: list[str] = []
    _Writer(parts).write(value, type_)
    return escape_like_go("".join(parts))


def _refuse(value: Value) -> None:
    """Raise an error for the first part of the value that has no JSON form."""
    for path, part in walk(value):
        if part.marks:
            raise CtyError("a marked value has no JSON form", path)
        if not part.is_known:
            raise CtyError("an unknown value has no JSON form", path)


class _Writer:
    """Writes wholly known, unmarked values. Caches the layout of each object type.

    Layouts are keyed by the type's identity, so each entry holds its type to keep that identity
    valid.
    """

    __slots__ = ("layouts", "parts")

    parts: list[str]
    layouts: dict[int, tuple[ObjectType, list[tuple[str, str, Type]]]]

    def __init__(self, parts: list[str]) -> None:
        self.parts = parts
        self.layouts = {}

    def write(self, value: Value, type_: Type) -> None:
        data = value.data
        kind = type_.kind
        if kind == KIND_DYNAMIC and value.type.kind != KIND_DYNAMIC:
            self.parts.append('{"value":')
            self.write(value, value.type)
            self.parts.append(f',"type":{type_to_json(value.type)}}}')
        elif data is None:
            self.parts.append("null")
        elif kind == KIND_STRING:
            self.parts.append(quote(value.as_string()))
        elif kind == KIND_NUMBER:
            self.parts.append(_number_text(value))
        elif kind == KIND_BOOL:
            self.parts.append("true" if data else "false")
        elif isinstance(data, tuple):
            self._write_sequence(value.sequence(), type_)
        elif isinstance(type_, ObjectType):
            self._write_object(value.mapping(), type_)
        elif isinstance(type_, CollectionType):
            self._write_map(value.mapping(), type_.element)
        else:
            raise CtyError(f"{type_.with_article()} has no JSON form")

    def _write_sequence(self, elements: tuple[Value, ...], type_: Type) -> None:
        parts = self.parts
        parts.append("[")
        types = type_.elements if isinstance(type_, TupleType) else ()
        element_type = type_.element if isinstance(type_, CollectionType) else type_
        for i, element in enumerate(elements):
            if i:
                parts.append(",")
            try:
                self.write(element, types[i] if types else element_type)
            except CtyError as error:
                step = Index(element) if type_.kind == KIND_SET else index_step(i)
                raise error.under(step) from None
        parts.append("]")

    def _write_map(self, elements: dict[str, Value], element_type: Type) -> None:
        separator = "{"
        for key in sorted(elements):
            self.parts.append(f"{separator}{quote(key)}:")
            separator = ","
            try:
                self.write(elements[key], element_type)
            except CtyError as error:
                raise error.under(index_step(key)) from None
        self.parts.append("}" if elements else "{}")

    def _write_object(self, attributes: dict[str, Value], type_: ObjectType) -> None:
        known = self.layouts.get(id(type_))
        layout = self._lay_out(type_) if known is None else known[1]
        parts = self.parts
        for name, before, attribute_type in layout:
            parts.append(before)
            try:
                self.write(attributes[name], attribute_type)
            except CtyError as error:
                raise error.under(GetAttr(name)) from None
        parts.append("}" if layout else "{}")

    def _lay_out(self, type_: ObjectType) -> list[tuple[str, str, Type]]:
        """List the attributes in output order, each with the text that precedes its value."""
        layout: list[tuple[str, str, Type]] = []
        for name in sorted(type_.attributes):
            before = f"{',' if layout else '{'}{quote(name)}:"
            layout.append((name, before, type_.attributes[name]))
        self.layouts[id(type_)] = (type_, layout)
        return layout


def _number_text(value: Value) -> str:
    exact = value.as_number()
    if isinstance(exact, int):
        return str(exact)
    if numbers.is_infinite(exact):
        raise CtyError("an infinite number has no JSON form")
    return numbers.to_text(exact)


# -- reading with a type ------------------------------------------------------------------------


def value_from_json(text: str | bytes, type_: Type) -> Value:
    """Parse a value of that type from JSON text, or raise a `CtyError`.

    Missing attributes are null. As in go-cty, primitive types accept each other's JSON if it can be
    converted.
    """
    check_type(type_)
    check_json(text)
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    if type_.has_dynamic:
        # A known type bounds the nesting of its values, but with an open type the JSON itself has
        # the type.
        check_depth(text)
    type_ = without_optional(type_)
    with CollectionPaused(len(text)):
        return _read(parse_json(text), type_)


def _read(data: object, type_: Type) -> Value:
    kind = type_.kind
    if data is None:
        return null(type_)
    if kind == KIND_STRING:
        return _read_string(data)
    if kind == KIND_NUMBER:
        return _read_number(data)
    if kind == KIND_BOOL:
        return _read_bool(data)
    if kind == KIND_DYNAMIC:
        return _read_dynamic(data)
    if isinstance(type_, ObjectType):
        return _read_object(data, type_)
    if isinstance(type_, TupleType):
        return _read_tuple(data, type_)
    if isinstance(type_, CollectionType):
        return _read_map(data, type_) if kind == KIND_MAP else _read_sequence(data, type_)
    raise CtyError(f"{type_.with_article()} has no JSON form")


def _read_string(data: object) -> Value:
    if isinstance(data, str):
        return Value(STRING, data if data.isascii() else normalize(clean_text(data)))
    if isinstance(data, bytes):
        return string(data.decode())
    if isinstance(data, bool):
        return string("true" if data else "false")
    raise CtyError(f"a string is required, not {_json_name(data)}")


def _read_number(data: object) -> Value:
    if isinstance(data, bytes):
        if len(data) < 19 and data.isdigit():
            return Value(NUMBER, int(data))
        return Value(NUMBER, numbers.parse(data.decode()))
    if isinstance(data, str):
        try:
            return Value(NUMBER, numbers.parse(data))
        except CtyError:
            raise CtyError("a number is required, and this string does not represent one") from None
    raise CtyError(f"a number is required, not {_json_name(data)}")


def _read_bool(data: object) -> Value:
    if isinstance(data, bool):
        return TRUE if data else FALSE
    if isinstance(data, str):
        return convert(string(clean_text(data)), BOOL)
    raise CtyError(f"a bool is required, not {_json_name(data)}")


def _json_name(data: object) -> str:
    if isinstance(data, bool):
        return "a bool"
    if isinstance(data, bytes):
        return "a number"
    if isinstance(data, str):
        return "a string"
    return "an array" if isinstance(data, list) else "an object"


def _read_sequence(data: object, type_: CollectionType) -> Value:
    noun = "set" if type_.kind == KIND_SET else "list"
    if not isinstance(data, list):
        raise CtyError(f"a {noun} is required, not {_json_name(data)}")
    element = type_.element
    elements: list[Value] = []
    for i, item in enumerate(data):
        try:
            elements.append(_read(item, element))
        except CtyError as error:
            step = Index(unknown(element)) if type_.kind == KIND_SET else index_step(i)
            raise error.under(step) from None
    if type_.has_dynamic:
        element = _common_type(elements, element)
    elif type_.kind != KIND_SET:
        return Value(type_, tuple(elements))
    return (set_value if type_.kind == KIND_SET else list_value)(element, elements)


def _common_type(elements: list[Value], element: Type) -> Type:
    """Find the common type of all elements if the collection leaves it open."""
    from nigari.cty.conversion_results import type_of_all

    return type_of_all(elements, element)


def _read_map(data: object, type_: CollectionType) -> Value:
    if not isinstance(data, tuple):
        raise CtyError(f"a map is required, not {_json_name(data)}")
    element = type_.element
    elements: dict[str, Value] = {}
    for key, item in data:
        key = normalize(clean_text(key))
        try:
            elements[key] = _read(item, element)
        except CtyError as error:
            raise error.under(index_step(key)) from None
    if type_.has_dynamic:
        return map_value(_common_type(list(elements.values()), element), elements)
    return Value(type_, elements)


def _read_tuple(data: object, type_: TupleType) -> Value:
    if not isinstance(data, list):
        raise CtyError(f"a tuple is required, not {_json_name(data)}")
    types = type_.elements
    if len(data) != len(types):
        raise CtyError(f"a tuple of length {len(types)} is required, not {len(data)}")
    elements: list[Value] = []
    for i, item in enumerate(data):
        try:
            elements.append(_read(item, types[i]))
        except CtyError as error:
            raise error.under(index_step(i)) from None
    return tuple_value(elements) if type_.has_dynamic else Value(type_, tuple(elements))


def _read_object(data: object, type_: ObjectType) -> Value:
    if not isinstance(data, tuple):
        raise CtyError(f"an object is required, not {_json_name(data)}")
    types = type_.attributes
    attributes: dict[str, Value] = {}
    for name, item in data:
        attribute_type = types.get(name)
        if attribute_type is None:
            name = normalize(clean_text(name))
            attribute_type = types.get(name)
            if attribute_type is None:
                raise CtyError(f'there is no attribute "{name}"')
        try:
            attributes[name] = _read(item, attribute_type)
        except CtyError as error:
            raise error.under(GetAttr(name)) from None
    if len(attributes) != len(types):
        for name, attribute_type in types.items():
            if name not in attributes:
                attributes[name] = null(attribute_type)
    return object_value(attributes) if type_.has_dynamic else Value(type_, attributes)


def _read_dynamic(data: object) -> Value:
    if not isinstance(data, tuple) or {key for key, _ in data} != {"type", "value"}:
        raise CtyError('a value of any type is written as {"value": …, "type": …}')
    pair = dict(data)
    return _read(pair["value"], without_optional(type_from_data(pair["type"], 1)))


# -- reading without a type ---------------------------------------------------------------------


def implied_type(text: str | bytes) -> Type:
    """Infer the type of a JSON text; null implies `DYNAMIC`."""
    return implied_value_from_json(text).type


def implied_value_from_json(text: str | bytes) -> Value:
    """Parse a JSON text as a value of the type that it implies.

    An object may repeat a name if the types agree; the last value wins.
    """
    check_json(text)
    with CollectionPaused(len(text)):
        return _imply(parse_json(text), 1)


def _imply(data: object, depth: int) -> Value:
    if isinstance(data, str):
        return _read_string(data)
    if isinstance(data, bytes):
        return _read_number(data)
    if data is None:
        return null(DYNAMIC)
    if isinstance(data, bool):
        return TRUE if data else FALSE
    if isinstance(data, list):
        if depth > USUAL_DEPTH:
            allow_depth(depth)
        return tuple_value([_imply(item, depth + 1) for item in data])
    assert isinstance(data, tuple)
    if depth > USUAL_DEPTH:
        allow_depth(depth)
    if not data:
        return EMPTY_OBJECT
    attributes: dict[str, Value] = {}
    for name, item in data:
        name = normalize(clean_text(name))
        value = _imply(item, depth + 1)
        if name in attributes and attributes[name].type != value.type:
            raise CtyError(
                f'the name "{name}" occurs twice in an object, with values of different types'
            )
        attributes[name] = value
    return object_value(attributes)

"""Conversions between two types, compiled to objects that are applied to many values.

`compile_conversion` requires a pair of types that convert (`unify.conversion_exists`). A conversion
may still fail on a value, with a `CtyError` whose path leads to the wrong part. Nothing is cached
here; `convert` does that.
"""

from __future__ import annotations

from nigari.cty import numbers
from nigari.cty.conversion_results import (
    causes_within,
    converted_unknown,
    empty_collection,
    fill_dynamic,
    join_flags,
    mapping_of,
    sequence_of,
)
from nigari.cty.errors import CtyError
from nigari.cty.mismatch import mismatch
from nigari.cty.paths import GetAttr, Index, index_step
from nigari.cty.types import (
    BOOL,
    KIND_BOOL,
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_NUMBER,
    KIND_OBJECT,
    KIND_SET,
    NUMBER,
    STRING,
    CollectionType,
    MapType,
    ObjectType,
    TupleType,
    Type,
    collection,
    without_optional,
)
from nigari.cty.unify import common_element, conversion_exists, unify
from nigari.cty.unknown import Unknown
from nigari.cty.values import (
    FALSE,
    HAS_UNKNOWN,
    NO_MARKS,
    TRUE,
    Value,
    null,
    object_value,
    tuple_value,
    unknown,
)
from nigari.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Conversion:
    """Converts values of one type to another, `result`.

    `exact` means that `result` has no open part, so that every converted value is of exactly that
    type.
    """

    __slots__ = ("exact", "result")

    result: Type
    exact: bool

    def __init__(self, result: Type) -> None:
        self.result = result
        self.exact = not result.has_dynamic

    def apply(self, value: Value) -> Value:
        """Convert any value of the source type."""
        marks = value.marks
        if marks:
            return self.apply(value.unmark()[0]).with_marks(marks)
        data = value.data
        if data is None:
            return null(self._result_of(value.type))
        if isinstance(data, Unknown):
            return converted_unknown(value, self._result_of(value.type))
        return self.known(value)

    def known(self, value: Value) -> Value:
        """Convert a known value that is neither null nor marked itself."""
        raise AssertionError(value)

    def _result_of(self, source: Type) -> Type:
        return self.result if self.exact else fill_dynamic(source, self.result)


class Identity(Conversion):
    """For values that have the type already, and for targets that accept any type."""

    __slots__ = ()

    def apply(self, value: Value) -> Value:
        return value


class FromDynamic(Conversion):
    """From an undetermined type. Only unknown and null values have it."""

    __slots__ = ()


class NumberToString(Conversion):
    __slots__ = ()

    def known(self, value: Value) -> Value:
        return Value(STRING, numbers.to_text(value.as_number()))


class BoolToString(Conversion):
    __slots__ = ()

    def known(self, value: Value) -> Value:
        return Value(STRING, "true" if value.data else "false")


class StringToNumber(Conversion):
    __slots__ = ()

    def known(self, value: Value) -> Value:
        try:
            return Value(NUMBER, numbers.parse(value.as_string()))
        except CtyError:
            raise CtyError("a number is required, and this string does not represent one") from None


_BOOLS: Final = {"true": TRUE, "1": TRUE, "false": FALSE, "0": FALSE}


class StringToBool(Conversion):
    __slots__ = ()

    def known(self, value: Value) -> Value:
        text = value.as_string()
        found = _BOOLS.get(text)
        if found is None:
            if text.lower() in _BOOLS:
                raise CtyError(f'a bool is required: write "{text.lower()}" in lower case')
            raise CtyError('a bool is required, and this string is neither "true" nor "false"')
        return found


class SequenceToSequence(Conversion):
    """List or set to list or set. Without `element` the elements have the right type already."""

    __slots__ = ("element", "keyed_by_position")

    element: Conversion | None
    keyed_by_position: bool

    def __init__(self, result: Type, element: Conversion | None, keyed_by_position: bool) -> None:
        super().__init__(result)
        self.element = element
        self.keyed_by_position = keyed_by_position

    def known(self, value: Value) -> Value:
        given = value.sequence()
        to_list = self.result.kind == KIND_LIST
        if to_list and value.flags & HAS_UNKNOWN and len(given) > 1 and value.type.kind == KIND_SET:
            # go-cty: unknown elements of a set may turn out equal, so neither their number nor
            # their order is determined.
            whole = unknown(self._result_of(value.type))
            return whole.with_causes(causes_within(value))
        element = self.element
        if element is None:
            parts = list(given)
        else:
            parts = []
            for i, part in enumerate(given):
                try:
                    parts.append(element.apply(part))
                except CtyError as error:
                    step = index_step(i) if self.keyed_by_position else Index(part)
                    raise error.under(step) from None
        if not parts:
            return empty_collection(value.type, self.result)
        return sequence_of(self.result, parts, self.exact)


class MapToMap(Conversion):
    __slots__ = ("element",)

    element: Conversion

    def __init__(self, result: Type, element: Conversion) -> None:
        super().__init__(result)
        self.element = element

    def known(self, value: Value) -> Value:
        parts: dict[str, Value] = {}
        element = self.element
        for key, part in value.mapping().items():
            try:
                parts[key] = element.apply(part)
            except CtyError as error:
                raise error.under(index_step(key)) from None
        if not parts:
            return empty_collection(value.type, self.result)
        if not self.exact:
            parts = _unify_elements(self.result, parts, False)
        return mapping_of(self.result, parts, self.exact)


class TupleToSequence(Conversion):
    """Tuple to list or set."""

    __slots__ = ("elements",)

    elements: list[Conversion | None]

    def __init__(self, result: Type, elements: list[Conversion | None]) -> None:
        super().__init__(result)
        self.elements = elements

    def known(self, value: Value) -> Value:
        parts = _convert_sequence(value.sequence(), self.elements)
        if not parts:
            return Value(self.result, (), NO_MARKS, 0)
        if not self.exact and self.result.kind == KIND_LIST:
            parts = _unify_values(parts, True)
        return sequence_of(self.result, parts, self.exact)


class TupleToTuple(Conversion):
    __slots__ = ("elements",)

    elements: list[Conversion | None]

    def __init__(self, result: Type, elements: list[Conversion | None]) -> None:
        super().__init__(result)
        self.elements = elements

    def known(self, value: Value) -> Value:
        parts = _convert_sequence(value.sequence(), self.elements)
        if not self.exact:
            return tuple_value(parts)
        return Value(self.result, tuple(parts), NO_MARKS, join_flags(parts))


class ObjectToObject(Conversion):
    """Drops attributes that the result lacks; `absent` ones become null."""

    __slots__ = ("absent", "attributes")

    attributes: list[tuple[str, Conversion | None]]
    absent: dict[str, Value]

    def __init__(
        self,
        result: Type,
        attributes: list[tuple[str, Conversion | None]],
        absent: dict[str, Value],
    ) -> None:
        super().__init__(result)
        self.attributes = attributes
        self.absent = absent

    def known(self, value: Value) -> Value:
        given = cast(dict[str, Value], value.data)
        parts: dict[str, Value] = {}
        flags = 0
        for name, conversion in self.attributes:
            part = given[name]
            if conversion is not None:
                try:
                    part = conversion.apply(part)
                except CtyError as error:
                    raise error.under(GetAttr(name)) from None
            flags |= part.flags
            parts[name] = part
        if self.absent:
            parts.update(self.absent)
        if not self.exact:
            return object_value(parts)
        return Value(self.result, parts, NO_MARKS, flags)


class ObjectToMap(Conversion):
    __slots__ = ("attributes",)

    attributes: dict[str, Conversion | None]

    def __init__(self, result: Type, attributes: dict[str, Conversion | None]) -> None:
        super().__init__(result)
        self.attributes = attributes

    def known(self, value: Value) -> Value:
        parts: dict[str, Value] = {}
        for name, part in value.mapping().items():
            conversion = self.attributes[name]
            if conversion is not None:
                try:
                    part = conversion.apply(part)
                except CtyError as error:
                    raise error.under(index_step(name)) from None
            parts[name] = part
        if not parts:
            return Value(self.result, {}, NO_MARKS, 0)
        if not self.exact:
            parts = _unify_elements(self.result, parts, True)
        return mapping_of(self.result, parts, self.exact)


class MapToObject(Conversion):
    """Drops keys that name no attribute. A key of an `impossible` attribute is an error."""

    __slots__ = ("attributes", "impossible", "optional")

    attributes: dict[str, Conversion | None]
    optional: frozenset[str]
    impossible: dict[str, CtyError]

    def __init__(
        self,
        result: Type,
        attributes: dict[str, Conversion | None],
        optional: frozenset[str],
        impossible: dict[str, CtyError],
    ) -> None:
        super().__init__(result)
        self.attributes = attributes
        self.optional = optional
        self.impossible = impossible

    def known(self, value: Value) -> Value:
        given = value.mapping()
        types = cast(ObjectType, self.result).attributes
        parts: dict[str, Value] = {}
        for name, conversion in self.attributes.items():
            part = given.get(name)
            if part is None:
                if name not in self.optional:
                    raise CtyError(f'the map has no element for the required attribute "{name}"')
                part = null(types[name])
            elif name in self.impossible:
                raise self.impossible[name].under(index_step(name))
            elif conversion is not None:
                try:
                    part = conversion.apply(part)
                except CtyError as error:
                    raise error.under(index_step(name)) from None
            parts[name] = part
        if not self.exact:
            return object_value(parts)
        return Value(self.result, parts, NO_MARKS, join_flags(list(parts.values())))


# -- compiling the conversion between two types ---------------------------------------------------


def compile_conversion(source: Type, target: Type, result: Type) -> Conversion:
    """Compile the conversion between two types that convert. `result` is the target without
    optional markers.
    """
    if target.kind == KIND_DYNAMIC:
        return Identity(result)
    if source.kind == KIND_DYNAMIC:
        return FromDynamic(result)
    if source.kind <= KIND_BOOL:
        return _primitive_conversion(source, result)
    if isinstance(source, ObjectType):
        if isinstance(target, ObjectType):
            return _object_to_object(source, target, cast(ObjectType, result))
        return _object_to_map(source, cast(CollectionType, target))
    if isinstance(source, TupleType):
        if isinstance(target, TupleType):
            return _tuple_to_tuple(source, target, cast(TupleType, result))
        return _tuple_to_sequence(source, cast(CollectionType, target))
    assert isinstance(source, CollectionType)
    if isinstance(target, ObjectType):
        return _map_to_object(source, target, cast(ObjectType, result))
    assert isinstance(target, CollectionType)
    inner = cast(CollectionType, result).element
    if source.kind == KIND_MAP:
        return MapToMap(result, compile_conversion(source.element, target.element, inner))
    element = _part(source.element, target.element, inner)
    return SequenceToSequence(result, element, source.kind == KIND_LIST)


def _part(source: Type, target: Type, result: Type) -> Conversion | None:
    """Compile the conversion of a part; None if the part stays unchanged."""
    if target.kind == KIND_DYNAMIC or source == result:
        return None
    return compile_conversion(source, target, result)


def _primitive_conversion(source: Type, result: Type) -> Conversion:
    if source.kind == KIND_NUMBER:
        return NumberToString(STRING)
    if source.kind == KIND_BOOL:
        return BoolToString(STRING)
    return StringToNumber(NUMBER) if result.kind == KIND_NUMBER else StringToBool(BOOL)


def _object_to_object(source: ObjectType, target: ObjectType, result: ObjectType) -> Conversion:
    attributes: list[tuple[str, Conversion | None]] = []
    absent: dict[str, Value] = {}
    for name, wanted in target.attributes.items():
        given = source.attributes.get(name)
        if given is None:
            absent[name] = null(result.attributes[name])
        else:
            attributes.append((name, _part(given, wanted, result.attributes[name])))
    return ObjectToObject(result, attributes, absent)


def _tuple_to_tuple(source: TupleType, target: TupleType, result: TupleType) -> Conversion:
    elements: list[Conversion | None] = []
    for i, wanted in enumerate(target.elements):
        elements.append(_part(source.elements[i], wanted, result.elements[i]))
    return TupleToTuple(result, elements)


def _parts(given: list[Type], element: Type) -> dict[Type, Conversion | None]:
    """Compile one conversion for each distinct type among the parts."""
    result = without_optional(element)
    return {type_: _part(type_, element, result) for type_ in dict.fromkeys(given)}


def _tuple_to_sequence(source: TupleType, target: CollectionType) -> Conversion:
    given = list(source.elements)
    element = common_element(given, target, True)
    assert element is not None
    parts = _parts(given, element)
    result = collection(target.kind, without_optional(element))
    return TupleToSequence(result, [parts[type_] for type_ in given])


def _object_to_map(source: ObjectType, target: CollectionType) -> Conversion:
    given = source.attributes
    element = common_element(list(given.values()), target, True)
    assert element is not None
    parts = _parts(list(given.values()), element)
    result = MapType(without_optional(element))
    return ObjectToMap(result, {name: parts[type_] for name, type_ in given.items()})


def _map_to_object(source: CollectionType, target: ObjectType, result: ObjectType) -> Conversion:
    attributes: dict[str, Conversion | None] = {}
    impossible: dict[str, CtyError] = {}
    for name, wanted in target.attributes.items():
        attributes[name] = None
        if conversion_exists(source.element, wanted, True):
            attributes[name] = _part(source.element, wanted, result.attributes[name])
        else:
            impossible[name] = mismatch(source.element, wanted)
    return MapToObject(result, attributes, target.optional, impossible)


# -- converting the parts of a value ------------------------------------------------------------


def _convert_sequence(
    given: tuple[Value, ...], conversions: list[Conversion | None]
) -> list[Value]:
    parts: list[Value] = []
    for i, part in enumerate(given):
        conversion = conversions[i]
        if conversion is not None:
            try:
                part = conversion.apply(part)
            except CtyError as error:
                raise error.under(index_step(i)) from None
        parts.append(part)
    return parts


def _unify_values(parts: list[Value], unsafe: bool) -> list[Value]:
    """Convert values to their common type.

    Parts converted to a type with open parts may have come out with different types.
    """
    common = unify([part.type for part in parts], unsafe)
    if common is None:
        raise CtyError("the elements have no type in common")
    conversions = _parts([part.type for part in parts], common)
    return _convert_sequence(tuple(parts), [conversions[part.type] for part in parts])


def _unify_elements(result: Type, parts: dict[str, Value], unsafe: bool) -> dict[str, Value]:
    """Convert the elements of a map to their common type, if they can differ."""
    element = cast(CollectionType, result).element
    if not (element.is_collection or element.kind == KIND_OBJECT):
        return parts
    return dict(zip(parts, _unify_values(list(parts.values()), unsafe), strict=True))

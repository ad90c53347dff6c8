"""Shared parts of evaluation: access to parts of values, faults, and closures.

`index` and `attribute` are the language's access operators, more lenient than those of
`nigari.cty`. A `Fault` is a mistake without a source range; the expression that has one turns it
into a diagnostic. Deliberately unknown here: the nodes of the syntax tree.
"""

# ruff: noqa: SIM109 - two comparisons cost less than making a tuple

from __future__ import annotations

from collections.abc import Iterable

from nigari.cty import numbers
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import (
    DYNAMIC,
    KIND_BOOL,
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_NUMBER,
    KIND_OBJECT,
    KIND_SET,
    KIND_STRING,
    KIND_TUPLE,
    NUMBER,
    STRING,
    CollectionType,
    ObjectType,
    TupleType,
    Type,
)
from nigari.cty.unknown import Unknown, join_causes
from nigari.cty.values import Value, unknown


class Fault:
    """A mistake without its source range; `address` names the object concerned."""

    __slots__ = ("address", "detail", "summary")

    summary: str
    detail: str
    address: str

    def __init__(self, summary: str, detail: str, address: str = "") -> None:
        self.summary = summary
        self.detail = detail
        self.address = address


def unknown_from(type_: Type, *origins: Value) -> Value:
    """Build an unknown value of that type with the causes of the origins."""
    causes: tuple[object, ...] = ()
    for origin in origins:
        causes = join_causes(causes, origin.causes)
    return unknown(type_).with_causes(causes)


def sentence(error: CtyError) -> str:
    """Turn the message of a cty error into a sentence, with the path to the part concerned."""
    from nigari.cty.paths import path_text

    return as_sentence(f"{path_text(error.path)}: {error.message}" if error.path else error.message)


def as_sentence(text: str) -> str:
    """Add a full stop unless the text ends a sentence already."""
    return text if text.endswith((".", "?", "!", "…")) else f"{text}."


# -- attributes -------------------------------------------------------------------------------


def attribute(value: Value, name: str) -> Value | Fault:
    """Evaluate `value.name`, or return the mistake."""
    data = value.data
    if data is None:
        return Fault(
            "Attribute of a null value",
            f'This value is null, so it has no attribute "{name}".',
        )
    # HCL: attribute access reads an attribute of an object, or an element of a map. A wrong name of
    # a map's key is an error too, as the reference was literal.
    kind = value.type.kind
    if kind == KIND_OBJECT:
        if isinstance(data, dict):
            found = data.get(name)
            if found is not None:
                return _carry(found, value)
        return _attribute_of_object(value, name)
    if kind == KIND_MAP:
        return _attribute_of_map(value, name)
    # The attribute may exist once the type is known.
    if kind == KIND_DYNAMIC:
        return unknown_from(DYNAMIC, value).with_marks(value.marks)
    return Fault("Unsupported attribute", _no_attributes(value.type, name))


def _carry(part: Value, whole: Value) -> Value:
    return part.with_marks(whole.marks) if whole.marks else part


def _attribute_of_object(value: Value, name: str) -> Value | Fault:
    types = value.type
    assert isinstance(types, ObjectType)
    # The type of an unknown object already has the attribute's type, so mistakes are found early.
    if name in types.attributes and isinstance(value.data, Unknown):
        return unknown_from(types.attributes[name], value).with_marks(value.marks)
    from nigari.hcl.suggestion import did_you_mean

    hint = did_you_mean(name, types.attributes)
    return Fault("Unsupported attribute", f'This object has no attribute named "{name}".{hint}')


def _attribute_of_map(value: Value, name: str) -> Value | Fault:
    data = value.data
    if not isinstance(data, dict):
        return unknown_from(_element_type(value.type), value).with_marks(value.marks)
    found = data.get(name)
    if found is not None:
        return _carry(found, value)
    from nigari.hcl.suggestion import did_you_mean

    # The keys of a marked map may be as sensitive as the map itself, so none is suggested.
    hint = "" if value.marks else did_you_mean(name, data)
    return Fault("Missing map element", f'This map has no element with the key "{name}".{hint}')


def _no_attributes(type_: Type, name: str) -> str:
    kind = type_.kind
    if KIND_STRING <= kind <= KIND_BOOL:
        return f"This is {type_.with_article()}, which has no attributes."
    if isinstance(type_, CollectionType) and isinstance(type_.element, ObjectType):
        whose = "a list" if kind == KIND_LIST else "a set"
        if name in type_.element.attributes:
            every = f"use a splat, [*].{name}, to get the attribute of every element"
            one = (
                f", or an index, [0].{name}, to get it from one element"
                if kind == KIND_LIST
                else ""
            )
            return f'This is {whose} of objects that have an attribute "{name}": {every}{one}.'
        return f'This is {whose} of objects, and they have no attribute "{name}" either.'
    return f"This is {type_.with_article()}, which has no attributes."


# -- indexes ----------------------------------------------------------------------------------

_INVALID = "Invalid index"


def index(collection: Value, key: Value) -> Value | Fault:
    """Evaluate `collection[key]`, or return the mistake."""
    if collection.data is None:
        return Fault("Index of a null value", "This value is null, so it has no elements.")
    if key.data is None:
        return Fault(_INVALID, "The index is null, which does not identify an element.")
    kind = collection.type.kind
    # HCL: without a type, neither the validity of the key nor the type of the element is
    # determined.
    if kind == KIND_DYNAMIC or key.type.kind == KIND_DYNAMIC:
        return unknown_from(DYNAMIC, collection, key).with_marks(collection.marks)
    if kind == KIND_LIST or kind == KIND_TUPLE:
        return _index_sequence(collection, key)
    if kind == KIND_MAP:
        return _index_map(collection, key)
    if kind == KIND_OBJECT:
        return _index_object(collection, key)
    if kind == KIND_SET:
        return Fault(
            _INVALID,
            "The elements of a set have no index or key. Use a for expression or a splat to get "
            "all of them, or convert the set to a list first.",
        )
    return Fault(_INVALID, f"This is {collection.type.with_article()}, which has no elements.")


def _element_type(type_: Type) -> Type:
    return type_.element if isinstance(type_, CollectionType) else DYNAMIC


def _wrong_key(error: CtyError) -> Fault:
    return Fault(_INVALID, f"This index does not identify an element: {error.message}.")


def _index_sequence(collection: Value, key: Value) -> Value | Fault:
    # HCL converts keys, so that a list can be indexed by a numeric string.
    if key.type.kind != KIND_NUMBER:
        try:
            key = convert(key, NUMBER)
        except CtyError as error:
            return _wrong_key(error)
    data = collection.data
    position = key.data
    if isinstance(position, Unknown):
        return unknown_from(_element_type(collection.type), collection, key).with_marks(
            collection.marks
        )
    if not isinstance(data, tuple):
        type_ = collection.type
        if not isinstance(type_, TupleType):
            return unknown_from(_element_type(type_), collection).with_marks(collection.marks)
        # The types of an unknown tuple's elements are known, so the index can be checked now.
        data = tuple([unknown_from(element, collection) for element in type_.elements])
    if isinstance(position, numbers.Number) and numbers.sign(position) == 0:
        position = 0  # there is a negative zero
    if isinstance(position, int) and 0 <= position < len(data):
        found: Value = data[position]
        marks = collection.marks | key.marks
        return found.with_marks(marks) if marks else found
    return Fault(_INVALID, _outside(key, len(data), bool(collection.marks)))


def _outside(key: Value, length: int, secret: bool) -> str:
    position = key.as_number()
    if not numbers.is_whole(position):
        return "This index is not a whole number. Round the result of a division with floor()."
    if numbers.sign(position) < 0:
        return "This index is negative. Elements are counted from zero, starting at the beginning."
    if secret:
        return "There is no element at this index."
    if length == 0:
        return "There is no element at this index: the collection is empty."
    return f"There is no element at this index: the last one is at index {length - 1}."


def _index_map(collection: Value, key: Value) -> Value | Fault:
    # HCL converts keys, so that a map can be indexed by a number.
    if key.type.kind != KIND_STRING:
        try:
            key = convert(key, STRING)
        except CtyError as error:
            return _wrong_key(error)
    data, name = collection.data, key.data
    if not isinstance(data, dict) or not isinstance(name, str):
        return unknown_from(_element_type(collection.type), collection, key).with_marks(
            collection.marks
        )
    found: Value | None = data.get(name)
    if found is None:
        if key.marks or collection.marks:
            return Fault(_INVALID, "The map has no element with this key.")
        return Fault(_INVALID, _no_element(name, data))
    marks = collection.marks | key.marks
    return found.with_marks(marks) if marks else found


def _index_object(collection: Value, key: Value) -> Value | Fault:
    # HCL: an object can be indexed like a map, if the key names an attribute.
    by_number = key.type.kind == KIND_NUMBER
    try:
        key = convert(key, STRING)
    except CtyError as error:
        return _wrong_key(error)
    name = key.data
    type_ = collection.type
    assert isinstance(type_, ObjectType)
    if not isinstance(name, str):
        return unknown_from(DYNAMIC, collection, key).with_marks(collection.marks)
    if name in type_.attributes:
        data = collection.data
        if not isinstance(data, dict):
            return unknown_from(type_.attributes[name], collection).with_marks(collection.marks)
        found: Value = data[name]
        return _carry(found, collection)
    if by_number:
        return Fault(_INVALID, "The attributes of an object have names, not numbers.")
    if key.marks or collection.marks:
        return Fault(_INVALID, "The object has no attribute with this name.")
    return Fault(_INVALID, _no_element(name, type_.attributes))


def _no_element(name: str, names: Iterable[str]) -> str:
    """Report a missing key, and list the existing ones."""
    from nigari.hcl.quoting import quoted
    from nigari.hcl.suggestion import did_you_mean, listed

    keys = sorted(names)
    if not keys:
        have = "there are none"
    elif len(keys) == 1:
        have = f"the only one has the key {quoted(keys[0])}"
    else:
        have = f"the keys are {listed([quoted(each) for each in keys])}"
    return f"There is no element with the key {quoted(name)}: {have}.{did_you_mean(name, keys)}"

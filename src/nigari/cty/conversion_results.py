"""Results of conversions: their types, and the refinements that survive on unknown values.

A target type may leave parts open with `DYNAMIC`. The result then adopts the source's types for
those parts, as far as they are determined.
"""

from __future__ import annotations

from nigari.cty.errors import CtyError
from nigari.cty.refinements import Refinement, refine
from nigari.cty.types import (
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_SET,
    CollectionType,
    ObjectType,
    TupleType,
    Type,
    collection,
)
from nigari.cty.unify import unify
from nigari.cty.unknown import MAX_CAUSES, Unknown, join_causes
from nigari.cty.values import (
    HAS_UNKNOWN,
    NO_MARKS,
    Value,
    list_value,
    map_value,
    set_value,
    unknown,
)
from nigari.typed import cast


def fill_dynamic(source: Type, target: Type) -> Type:
    """Fill the open parts of the target type from the source type, where it has them."""
    if not target.has_dynamic or source.kind == KIND_DYNAMIC:
        return target
    if target.kind == KIND_DYNAMIC:
        return source
    if isinstance(target, CollectionType):
        element = _element_of(source, target.kind)
        if element is None:
            return target
        return collection(target.kind, fill_dynamic(element, target.element))
    if isinstance(target, ObjectType):
        return _fill_object(source, target)
    if isinstance(target, TupleType) and isinstance(source, TupleType):
        if len(source.elements) == len(target.elements):
            pairs = zip(source.elements, target.elements, strict=True)
            return TupleType(tuple([fill_dynamic(have, want) for have, want in pairs]))
    return target


def _element_of(source: Type, target_kind: int) -> Type | None:
    """Return the element type if the source becomes a collection of that kind."""
    as_map = target_kind == KIND_MAP
    if isinstance(source, CollectionType):
        return source.element if (source.kind == KIND_MAP) == as_map else None
    if isinstance(source, ObjectType) and as_map:
        return unify(source.attributes.values(), True)
    if isinstance(source, TupleType) and not as_map:
        return unify(source.elements, True)
    return None


def _fill_object(source: Type, target: ObjectType) -> Type:
    attributes: dict[str, Type] = {}
    for name, wanted in target.attributes.items():
        given: Type | None = None
        if isinstance(source, ObjectType):
            given = source.attributes.get(name)
        elif isinstance(source, CollectionType) and source.kind == KIND_MAP:
            given = source.element
        attributes[name] = wanted if given is None else fill_dynamic(given, wanted)
    return ObjectType(attributes)


def converted_unknown(value: Value, result: Type) -> Value:
    """Build the unknown value of the result's type, with the refinements that still hold."""
    have = cast(Unknown, value.data)
    whole = unknown(result).with_causes(have.causes)
    source = value.type
    shortest, longest = 0, -1
    if isinstance(source, ObjectType) and result.kind == KIND_MAP:
        shortest = longest = len(source.attributes)
    elif isinstance(source, TupleType) and KIND_LIST <= result.kind <= KIND_SET:
        shortest = longest = len(source.elements)
    elif source.is_collection and result.is_collection:
        shortest, longest = have.min_length, have.max_length
    if result.kind == KIND_SET:
        # Equal elements of a set become one, so only "at least one" survives.
        shortest = min(shortest, 1)
    if not have.not_null and shortest == 0 and longest < 0:
        return whole
    return refine(whole, Refinement(have.not_null, None, None, "", shortest, longest))


def causes_within(value: Value) -> tuple[object, ...]:
    """Collect causes of unknown parts; the first few are enough for a message."""
    causes: tuple[object, ...] = ()
    pending = [value]
    while pending and len(causes) < MAX_CAUSES:
        part = pending.pop()
        if not part.flags & HAS_UNKNOWN:
            continue
        if isinstance(part.data, Unknown):
            causes = join_causes(causes, part.data.causes)
        else:
            pending.extend(reversed(part.elements()))
    return causes


def join_flags(parts: list[Value]) -> int:
    flags = 0
    for part in parts:
        flags |= part.flags
    return flags


def sequence_of(result: Type, parts: list[Value], exact: bool) -> Value:
    """Build a list or set of converted elements."""
    element = cast(CollectionType, result).element
    if not exact:
        element = type_of_all(parts, element)
    if result.kind == KIND_SET:
        return set_value(element, parts)
    if exact:
        return Value(result, tuple(parts), NO_MARKS, join_flags(parts))
    return list_value(element, parts)


def mapping_of(result: Type, parts: dict[str, Value], exact: bool) -> Value:
    """Build a map of converted elements."""
    if exact:
        return Value(result, parts, NO_MARKS, join_flags(list(parts.values())))
    element = cast(CollectionType, result).element
    return map_value(type_of_all(list(parts.values()), element), parts)


def type_of_all(parts: list[Value], otherwise: Type) -> Type:
    """Return the one type of a collection's elements; `otherwise` if there are none.

    Elements of unknown type are assumed to have it, as they will once they are known.
    """
    found: Type | None = None
    for part in parts:
        if found is None or found.kind == KIND_DYNAMIC:
            found = part.type
        elif part.type is not found and part.type != found and part.type.kind != KIND_DYNAMIC:
            raise CtyError("all elements of a collection must have the same type")
    return otherwise if found is None else found


def empty_collection(source: Type, result: Type) -> Value:
    """Build an empty collection of the result's type; an open element type is filled from the
    source.
    """
    element = cast(CollectionType, result).element
    if element.kind == KIND_DYNAMIC:
        element = cast(CollectionType, source).element
    data: object = {} if result.kind == KIND_MAP else ()
    return Value(collection(result.kind, element), data)

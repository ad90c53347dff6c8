"""Type conversion rules: which conversions exist, and the common type of several types.

Only types are handled here; `convert` converts values. Both rules are in one module because they
depend on each other: a tuple converts to a list of anything if its elements have a common type, and
types have a common type if all of them convert to it.

A conversion is *safe* if it cannot fail for any value. Unsafe conversions include the safe ones.
"""

from __future__ import annotations

from collections.abc import Iterable

from nigari.cty.types import (
    DYNAMIC,
    KIND_BOOL,
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_OBJECT,
    KIND_SET,
    KIND_STRING,
    KIND_TUPLE,
    CollectionType,
    ListType,
    MapType,
    ObjectType,
    TupleType,
    Type,
    check_types,
    collection,
    without_optional,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_MOST_REMEMBERED: Final = 8192
_answers: Final[dict[tuple[Type, Type, bool], bool]] = {}

_SEQUENCES: Final = frozenset((KIND_LIST, KIND_SET, KIND_TUPLE))
_MAPPINGS: Final = frozenset((KIND_MAP, KIND_OBJECT))


def conversion_exists(source: Type, target: Type, unsafe: bool) -> bool:
    """Check that values of one type convert to another; an unsafe conversion may still fail on a
    value.
    """
    if source is target or target.kind == KIND_DYNAMIC:
        return True
    if source.kind == KIND_DYNAMIC:
        # go-cty: a value whose type is undetermined is assumed to convert, and checked once it is
        # known.
        return unsafe
    if source.kind <= KIND_BOOL:
        if source.kind == target.kind or target.kind == KIND_STRING:
            return True
        return unsafe and source.kind == KIND_STRING and target.kind <= KIND_BOOL
    if target.kind <= KIND_BOOL:
        return False
    question = (source, target, unsafe)
    answer = _answers.get(question)
    if answer is None:
        answer = source == target or _complex_exists(source, target, unsafe)
        if len(_answers) >= _MOST_REMEMBERED:
            _answers.clear()
        _answers[question] = answer
    return answer


def _complex_exists(source: Type, target: Type, unsafe: bool) -> bool:
    if isinstance(source, ObjectType):
        if isinstance(target, ObjectType):
            return _objects_convert(source, target, unsafe)
        if isinstance(target, MapType):
            return common_element(list(source.attributes.values()), target, unsafe) is not None
    elif isinstance(source, TupleType):
        if isinstance(target, TupleType):
            return _tuples_convert(source, target, unsafe)
        if isinstance(target, CollectionType) and target.kind != KIND_MAP:
            return common_element(list(source.elements), target, unsafe) is not None
    elif isinstance(source, CollectionType):
        if isinstance(target, ObjectType):
            return unsafe and source.kind == KIND_MAP and _map_converts(source.element, target)
        if isinstance(target, CollectionType):
            if (source.kind == KIND_MAP) != (target.kind == KIND_MAP):
                return False
            # go-cty: from list to set is unsafe, as it loses the order and duplicates.
            if source.kind == KIND_LIST and target.kind == KIND_SET and not unsafe:
                return False
            return conversion_exists(source.element, target.element, unsafe)
    return False


def _objects_convert(source: ObjectType, target: ObjectType, unsafe: bool) -> bool:
    given = source.attributes
    for name, wanted in target.attributes.items():
        if name in given:
            if not conversion_exists(given[name], wanted, unsafe):
                return False
        elif name not in target.optional:
            return False
    return True


def _tuples_convert(source: TupleType, target: TupleType, unsafe: bool) -> bool:
    given = source.elements
    if len(given) != len(target.elements):
        return False
    for i, wanted in enumerate(target.elements):
        if not conversion_exists(given[i], wanted, unsafe):
            return False
    return True


def _map_converts(element: Type, target: ObjectType) -> bool:
    """Check a conversion to an object. An optional attribute of incompatible type is acceptable, as
    it only matters if the map has its key.
    """
    for name, wanted in target.attributes.items():
        if name not in target.optional and not conversion_exists(element, wanted, True):
            return False
    return True


def common_element(given: list[Type], target: CollectionType, unsafe: bool) -> Type | None:
    """Find the element type of the collection into which parts of these types are converted.

    This is the target's element type, or if that is open the common type of the parts; None if a
    part does not convert.
    """
    element = target.element
    if not given:
        return element
    distinct = list(dict.fromkeys(given))
    if element.kind == KIND_DYNAMIC:
        common = unify(distinct, unsafe)
        if common is None:
            return None
        if common.kind == KIND_DYNAMIC and target.kind != KIND_MAP and len(distinct) > 1:
            return None
        element = common
    for part in distinct:
        if not conversion_exists(part, element, unsafe):
            return None
    return element


def unify(types: Iterable[Type], unsafe: bool = False) -> Type | None:
    """Find the most specific type to which all of these convert; None if there is none."""
    distinct = list(dict.fromkeys(types))
    check_types(distinct)
    if len(distinct) < 2:
        return without_optional(distinct[0]) if distinct else None
    kinds = {type_.kind for type_ in distinct}
    has_dynamic = KIND_DYNAMIC in kinds
    kinds.discard(KIND_DYNAMIC)
    if len(kinds) == 1:
        kind = kinds.pop()
        if kind > KIND_BOOL and has_dynamic:
            # go-cty: once the dynamic ones are known, the common type may be any.
            return DYNAMIC
        if KIND_LIST <= kind <= KIND_MAP:
            return _unify_collections(kind, distinct, unsafe)
        if kind == KIND_OBJECT:
            return _unify_objects(distinct, unsafe)
        if kind == KIND_TUPLE:
            return _unify_tuples(distinct, unsafe)
    # go-cty: an object and a tuple never unify.
    elif KIND_OBJECT in kinds and KIND_TUPLE in kinds:
        return None
    elif not (kinds <= _SEQUENCES or kinds <= _MAPPINGS or max(kinds) <= KIND_BOOL):
        return DYNAMIC if has_dynamic else None
    elif kinds == _MAPPINGS or kinds == {KIND_LIST, KIND_TUPLE}:
        found = _unify_as_collections(distinct, unsafe)
        if found is not None:
            return found
    return _preferred(distinct, unsafe)


def _all_convert(types: list[Type], target: Type, unsafe: bool) -> bool:
    return all(conversion_exists(type_, target, unsafe) for type_ in types)


def _preferred(types: list[Type], unsafe: bool) -> Type | None:
    """Return the first of these types, in order of preference, to which all others convert."""
    for i in sort_types(types):
        if _all_convert(types, types[i], unsafe):
            return types[i]
    return None


def _unify_collections(kind: int, types: list[Type], unsafe: bool) -> Type | None:
    element = unify([t.element for t in types if isinstance(t, CollectionType)], unsafe)
    if element is None:
        return None
    common = collection(kind, element)
    return common if _all_convert(types, common, unsafe) else None


def _unify_objects(types: list[Type], unsafe: bool) -> Type | None:
    """Return one object type if all have the same attribute names, otherwise a map of their
    attributes.

    This is stricter than conversion, which may drop attributes: go-cty does not lose any for the
    sake of a common type.
    """
    objects = [t for t in types if isinstance(t, ObjectType)]
    first = objects[0].attributes
    if any(t.attributes.keys() != first.keys() for t in objects):
        return _unify_parts(types, unsafe)
    attributes: dict[str, Type] = {}
    for name in first:
        common = unify([t.attributes[name] for t in objects], unsafe)
        if common is None:
            return None
        attributes[name] = common
    whole = ObjectType(attributes)
    return whole if _all_convert(types, whole, unsafe) else _unify_parts(types, unsafe)


def _unify_tuples(types: list[Type], unsafe: bool) -> Type | None:
    """Return one tuple type if all have the same length, otherwise a list of their elements."""
    tuples = [t for t in types if isinstance(t, TupleType)]
    length = len(tuples[0].elements)
    if any(len(t.elements) != length for t in tuples):
        return _unify_parts(types, unsafe)
    elements: list[Type] = []
    for i in range(length):
        common = unify([t.elements[i] for t in tuples], unsafe)
        if common is None:
            return None
        elements.append(common)
    whole = TupleType(tuple(elements))
    return whole if _all_convert(types, whole, unsafe) else _unify_parts(types, unsafe)


def _unify_parts(types: list[Type], unsafe: bool) -> Type | None:
    """Return the map or list that can hold all parts of these objects or tuples."""
    parts: dict[Type, None] = {}
    for type_ in types:
        if isinstance(type_, ObjectType):
            parts.update(dict.fromkeys(type_.attributes.values()))
        elif isinstance(type_, TupleType):
            parts.update(dict.fromkeys(type_.elements))
    element = unify(parts, unsafe)
    if element is None:
        return None
    whole: Type = MapType(element) if types[0].kind == KIND_OBJECT else ListType(element)
    return whole if _all_convert(types, whole, unsafe) else None


def _unify_as_collections(types: list[Type], unsafe: bool) -> Type | None:
    """Unify maps with objects, or lists with tuples, by treating the latter as collections. go-cty
    does so because an object is often a map in disguise, and a tuple a list.
    """
    structures = [t for t in types if t.is_structural]
    stand_in = _unify_parts(structures, unsafe)
    if stand_in is None:
        return None
    common = unify([stand_in if t.is_structural else t for t in types], unsafe)
    return common if common is not None and common.is_collection else None


# -- preference among types ---------------------------------------------------------------------


def compare_types(a: Type, b: Type) -> int:
    """Compare generality: negative if `a` is more general than `b`, positive if less, 0 if neither.

    The comparison does not check that a conversion exists; the caller does.
    """
    if a.kind == KIND_DYNAMIC or b.kind == KIND_DYNAMIC:
        return int(a.kind == KIND_DYNAMIC) - int(b.kind == KIND_DYNAMIC)
    if a.is_primitive and b.is_primitive:
        return int(b.kind == KIND_STRING) - int(a.kind == KIND_STRING)
    if isinstance(a, CollectionType) and isinstance(b, CollectionType) and a.kind == b.kind:
        return compare_types(a.element, b.element)
    if isinstance(a, ObjectType) and isinstance(b, ObjectType):
        if a.attributes.keys() != b.attributes.keys():
            return 0
        return _compare_parts([(t, b.attributes[name]) for name, t in a.attributes.items()])
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        if len(a.elements) != len(b.elements):
            return 0
        return _compare_parts(list(zip(a.elements, b.elements, strict=True)))
    rank_a, rank_b = _GENERALITY.get(a.kind), _GENERALITY.get(b.kind)
    if rank_a is None or rank_b is None or rank_a[0] != rank_b[0]:
        return 0
    return -1 if rank_a[1] < rank_b[1] else 1


_GENERALITY: Final = {
    KIND_LIST: ("sequence", 0),
    KIND_TUPLE: ("sequence", 1),
    KIND_SET: ("sequence", 2),
    KIND_MAP: ("mapping", 0),
    KIND_OBJECT: ("mapping", 1),
}


def _compare_parts(pairs: list[tuple[Type, Type]]) -> int:
    """Compare pairwise: more general if some part is and no part is less so."""
    more = less = False
    for a, b in pairs:
        order = compare_types(a, b)
        more = more or order < 0
        less = less or order > 0
    return int(less) - int(more)


def sort_types(types: list[Type]) -> list[int]:
    """Sort the types topologically, more general ones first; return their indexes."""
    count = len(types)
    less_general: list[list[int]] = [[] for _ in types]
    waiting_for = [0] * count
    for i in range(count):
        for j in range(i + 1, count):
            order = compare_types(types[i], types[j])
            if order < 0:
                less_general[i].append(j)
                waiting_for[j] += 1
            elif order > 0:
                less_general[j].append(i)
                waiting_for[i] += 1
    ordered = [i for i in range(count) if waiting_for[i] == 0]
    for i in ordered:
        for j in less_general[i]:
            waiting_for[j] -= 1
            if waiting_for[j] == 0:
                ordered.append(j)
    return ordered

"""Explanation of type mismatches, by the innermost part that does not convert."""

from nigari.cty.errors import CtyError
from nigari.cty.paths import GetAttr, Index, index_step
from nigari.cty.types import (
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_SET,
    NUMBER,
    STRING,
    CollectionType,
    ObjectType,
    TupleType,
    Type,
)
from nigari.cty.unify import conversion_exists
from nigari.cty.values import unknown

_MOST_NAMED = 5


def mismatch(given: Type, wanted: Type) -> CtyError:
    """Explain why `given` does not convert to `wanted`, with the path to the wrong part.

    Call it only if there is no conversion.
    """
    if isinstance(given, ObjectType) and isinstance(wanted, ObjectType):
        return _between_objects(given, wanted)
    if isinstance(given, TupleType) and isinstance(wanted, TupleType):
        return _between_tuples(given, wanted)
    if isinstance(given, ObjectType) and wanted.kind == KIND_MAP:
        return _into_map(given, wanted)
    if isinstance(given, TupleType) and wanted.kind in (KIND_LIST, KIND_SET):
        return _into_sequence(given, wanted)
    if isinstance(given, CollectionType):
        found = _within_collection(given, wanted)
        if found is not None:
            return found
    return CtyError(f"{_name(wanted)} is required, not {_name(given)}")


def _name(type_: Type) -> str:
    return "any type" if type_.kind == KIND_DYNAMIC else type_.with_article()


def _between_objects(given: ObjectType, wanted: ObjectType) -> CtyError:
    missing = sorted(wanted.attributes.keys() - given.attributes.keys() - wanted.optional)
    if missing:
        names = ", ".join([f'"{name}"' for name in missing[:_MOST_NAMED]])
        if len(missing) > _MOST_NAMED:
            names += f" and {len(missing) - _MOST_NAMED} more"
        if len(missing) == 1:
            return CtyError(f"the required attribute {names} is missing")
        return CtyError(f"the required attributes {names} are missing")
    for name in sorted(wanted.attributes):
        have, want = given.attributes.get(name), wanted.attributes[name]
        if have is not None and not conversion_exists(have, want, True):
            return mismatch(have, want).under(GetAttr(name))
    return CtyError("the attributes of the object do not match")


def _between_tuples(given: TupleType, wanted: TupleType) -> CtyError:
    if len(given.elements) != len(wanted.elements):
        count = len(wanted.elements)
        noun = "element" if count == 1 else "elements"
        return CtyError(f"a tuple of {count} {noun} is required, not of {len(given.elements)}")
    for i, want in enumerate(wanted.elements):
        if not conversion_exists(given.elements[i], want, True):
            return mismatch(given.elements[i], want).under(index_step(i))
    return CtyError("the elements of the tuple do not match")


def _into_map(given: ObjectType, wanted: Type) -> CtyError:
    element = wanted.element if isinstance(wanted, CollectionType) else wanted
    for name in sorted(given.attributes):
        have = given.attributes[name]
        if not conversion_exists(have, element, True):
            return mismatch(have, element).under(index_step(name))
    return CtyError("all elements of a map must have the same type")


def _into_sequence(given: TupleType, wanted: Type) -> CtyError:
    element = wanted.element if isinstance(wanted, CollectionType) else wanted
    for i, have in enumerate(given.elements):
        if not conversion_exists(have, element, True):
            return mismatch(have, element).under(index_step(i))
    noun = "set" if wanted.kind == KIND_SET else "list"
    return CtyError(f"all elements of a {noun} must have the same type")


def _within_collection(given: CollectionType, wanted: Type) -> CtyError | None:
    """Explain a mismatch of the elements; None if the collection itself does not fit."""
    element = given.element
    if given.kind == KIND_MAP:
        if isinstance(wanted, ObjectType):
            for name in sorted(wanted.attributes.keys() - wanted.optional):
                want = wanted.attributes[name]
                if not conversion_exists(element, want, True):
                    return mismatch(element, want).under(index_step(name))
        if isinstance(wanted, CollectionType) and wanted.kind == KIND_MAP:
            return mismatch(element, wanted.element).under(Index(unknown(STRING)))
    elif isinstance(wanted, CollectionType) and wanted.kind != KIND_MAP:
        key = NUMBER if given.kind == KIND_LIST else element
        return mismatch(element, wanted.element).under(Index(unknown(key)))
    return None

"""Type conformance: checks a type against another whose `DYNAMIC` parts accept anything."""

from nigari.cty.errors import CtyError
from nigari.cty.paths import GetAttr, Index, Path, index_step
from nigari.cty.types import (
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    NUMBER,
    STRING,
    CollectionType,
    ObjectType,
    TupleType,
    Type,
)
from nigari.cty.values import unknown


def conformance_errors(given: Type, wanted: Type) -> list[CtyError]:
    """List the reasons why `given` does not conform to `wanted`; empty if it does.

    To conform is to be equal, except that dynamic parts of `wanted` accept any type.
    """
    found: list[CtyError] = []
    _check(given, wanted, (), found)
    return found


def _check(given: Type, wanted: Type, path: Path, found: list[CtyError]) -> None:
    if wanted.kind == KIND_DYNAMIC or given == wanted:
        return
    if isinstance(given, ObjectType) and isinstance(wanted, ObjectType):
        _check_object(given, wanted, path, found)
    elif isinstance(given, TupleType) and isinstance(wanted, TupleType):
        _check_tuple(given, wanted, path, found)
    elif (
        isinstance(given, CollectionType)
        and isinstance(wanted, CollectionType)
        and given.kind == wanted.kind
    ):
        key_type = {KIND_LIST: NUMBER, KIND_MAP: STRING}.get(given.kind, given.element)
        step = Index(unknown(key_type))
        _check(given.element, wanted.element, (*path, step), found)
    else:
        message = f"{wanted.with_article()} is required, not {given.with_article()}"
        found.append(CtyError(message, path))


def _check_object(given: ObjectType, wanted: ObjectType, path: Path, found: list[CtyError]) -> None:
    found.extend(
        CtyError(f'attribute "{name}" is not part of the required type', path)
        for name in sorted(given.attributes.keys() - wanted.attributes.keys())
    )
    for name in sorted(wanted.attributes):
        if name in given.attributes:
            step = GetAttr(name)
            _check(given.attributes[name], wanted.attributes[name], (*path, step), found)
        else:
            found.append(CtyError(f'the required attribute "{name}" is missing', path))


def _check_tuple(given: TupleType, wanted: TupleType, path: Path, found: list[CtyError]) -> None:
    if len(given.elements) != len(wanted.elements):
        message = f"{len(wanted.elements)} elements required, not {len(given.elements)}"
        found.append(CtyError(message, path))
        return
    for i, (have, want) in enumerate(zip(given.elements, wanted.elements, strict=True)):
        _check(have, want, (*path, index_step(i)), found)

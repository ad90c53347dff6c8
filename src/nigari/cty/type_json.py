"""JSON form of types: `"string"`, `["list", "string"]`, `["object", {"a": "number"}, ["a"]]`."""

from __future__ import annotations

from nigari.cty.errors import CtyError
from nigari.cty.json_text import (
    check_json,
    clean_text,
    escape_like_go,
    parse_json,
    quote,
)
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_SET,
    NUMBER,
    STRING,
    USUAL_DEPTH,
    CollectionType,
    ObjectType,
    TupleType,
    Type,
    allow_depth,
    check_type,
    collection,
)
from nigari.cty.values import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_PRIMITIVES: Final[dict[str, Type]] = {
    "string": STRING,
    "number": NUMBER,
    "bool": BOOL,
    "dynamic": DYNAMIC,
}
_COLLECTIONS: Final = {"list": KIND_LIST, "set": KIND_SET, "map": KIND_MAP}
_NAMES: Final = {kind: name for name, kind in _COLLECTIONS.items()}


def type_to_json(type_: Type) -> str:
    """Write a type as JSON; raise a `CtyError` if it contains a capsule."""
    check_type(type_)
    parts: list[str] = []
    _write(type_, parts)
    return escape_like_go("".join(parts))


def _write(type_: Type, parts: list[str]) -> None:
    if isinstance(type_, CollectionType):
        parts.append(f'["{_NAMES[type_.kind]}",')
        _write(type_.element, parts)
    elif isinstance(type_, TupleType):
        parts.append('["tuple",[')
        for i, element in enumerate(type_.elements):
            if i:
                parts.append(",")
            _write(element, parts)
        parts.append("]")
    elif isinstance(type_, ObjectType):
        _write_object(type_, parts)
    elif type_.is_primitive or type_ is DYNAMIC:
        parts.append(f'"{type_.friendly_name()}"')
        return
    else:
        raise CtyError(f"the type {type_.friendly_name()} has no JSON form")
    parts.append("]")


def _write_object(type_: ObjectType, parts: list[str]) -> None:
    parts.append('["object",{')
    for i, name in enumerate(sorted(type_.attributes)):
        parts.append(f",{quote(name)}:" if i else f"{quote(name)}:")
        _write(type_.attributes[name], parts)
    parts.append("}")
    if type_.optional:
        parts.append(f",[{','.join([quote(name) for name in sorted(type_.optional)])}]")


def type_from_json(text: str | bytes) -> Type:
    """Parse a type, or raise a `CtyError`."""
    check_json(text)
    return type_from_data(parse_json(text), 1)


def type_from_data(data: object, depth: int) -> Type:
    """Build a type from parsed JSON (see `json_text`) found at that depth."""
    if depth > USUAL_DEPTH:
        allow_depth(depth)
    if isinstance(data, str):
        found = _PRIMITIVES.get(data)
        if found is None:
            raise CtyError(f"unknown type {quote(data)}")
        return found
    if not isinstance(data, list) or len(data) < 2:
        raise CtyError("a type is a name, or an array of a kind and its arguments")
    kind, inner = data[0], data[1]
    if len(data) > (3 if kind == "object" else 2):
        raise CtyError("unexpected elements after the description of a type")
    if isinstance(kind, str) and kind in _COLLECTIONS:
        return collection(_COLLECTIONS[kind], type_from_data(inner, depth + 1))
    if inner is None and (kind == "tuple" or kind == "object"):
        # Go programs write a nil slice or map, meaning an empty one, as null.
        return TupleType(()) if kind == "tuple" else ObjectType({})
    if kind == "tuple" and isinstance(inner, list):
        return TupleType(tuple([type_from_data(element, depth + 1) for element in inner]))
    if kind == "object" and isinstance(inner, tuple):
        return _object_from_data(inner, data[2] if len(data) == 3 else [], depth)
    raise CtyError("a type must be a list, set, map, tuple or object, or a name")


def _object_from_data(pairs: tuple[tuple[str, object], ...], optional: object, depth: int) -> Type:
    attributes = {
        normalize(clean_text(name)): type_from_data(attribute, depth + 1)
        for name, attribute in pairs
    }
    names: set[str] = set()
    for name in optional if isinstance(optional, list) else [None]:
        if not isinstance(name, str) or normalize(name) not in attributes:
            raise CtyError("the optional attributes must be an array of attribute names")
        names.add(normalize(name))
    return ObjectType(attributes, frozenset(names))

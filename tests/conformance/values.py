"""How the conformance tables write types and values, and how a result is compared with one.

A type is `"string"`, `["list", T]`, `["tuple", [T, …]]`, `["object", {name: T}, [optional …]]`.
A value is `{"t": type, "v": …}`, alone or inside `{"$val": …}`. In `v`, an object is one of
`{"$unknown": T}`, the same with `"$refined"`, `{"$marked": [names], "v": …}`, `{"$number": text}`,
or the attributes of an object or elements of a map. `"$refined": "complex"` stands for refinements
that the tables do not spell out; `matches` takes any there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    KIND_BOOL,
    KIND_LIST,
    KIND_MAP,
    KIND_NUMBER,
    KIND_SET,
    KIND_STRING,
    NUMBER,
    STRING,
    CollectionType,
    ListType,
    MapType,
    ObjectType,
    SetType,
    TupleType,
    Type,
)
from nigari.cty.unknown import NOT_NULL, UNREFINED
from nigari.cty.values import (
    Mark,
    Value,
    boolean,
    list_value,
    map_value,
    null,
    number,
    object_value,
    set_value,
    string,
    tuple_value,
    unknown,
)
from tests.conformance import Json

NO_NAMES: Final[Mapping[str, Mark]] = {}
_PRIMITIVES: Final = {"string": STRING, "number": NUMBER, "bool": BOOL, "dynamic": DYNAMIC}


@dataclass(frozen=True, slots=True)
class _AnyRefinement:
    """A mark put on an unknown whose refinements the table does not spell out."""


_ANY_REFINEMENT: Final = _AnyRefinement()


def decode_type(text: Json) -> Type:
    """Give the type that the tables write as `text`, with or without its `$type` wrapper."""
    if isinstance(text, dict):
        return decode_type(text["$type"])
    if isinstance(text, str):
        return _PRIMITIVES[text]
    assert isinstance(text, list), text
    kind, inner = text[0], text[1]
    if kind == "list":
        return ListType(decode_type(inner))
    if kind == "set":
        return SetType(decode_type(inner))
    if kind == "map":
        return MapType(decode_type(inner))
    if kind == "tuple":
        assert isinstance(inner, list), text
        return TupleType(tuple(decode_type(element) for element in inner))
    assert kind == "object", text
    assert isinstance(inner, dict), text
    optional = text[2] if len(text) > 2 else []
    assert isinstance(optional, list), text
    return ObjectType(
        {name: decode_type(attribute) for name, attribute in inner.items()},
        frozenset(str(name) for name in optional),
    )


def decode_value(written: Json, marks: Mapping[str, Mark] = NO_NAMES) -> Value | None:
    """Give the value of `{"t": …, "v": …}` or `{"$val": …}`; none for Go's absent value.

    A mark is the text the table has for it, unless `marks` gives another meaning to that text.
    Unknowns with unspelled refinements come without any.
    """
    value = _decode_wrapped(written, marks)
    return None if value is None else _without_placeholder(value)


def the_value(written: Json, marks: Mapping[str, Mark] = NO_NAMES) -> Value:
    """Like `decode_value` where there must be one."""
    value = decode_value(written, marks)
    assert value is not None, "the row has no value here"
    return value


def matches(got: Value, written: Json, marks: Mapping[str, Mark] = NO_NAMES) -> bool:
    """Tell whether a result is the written one, as far as the row spells it out."""
    wanted = _decode_wrapped(written, marks)
    return wanted is not None and _same(got, wanted)


def is_spelled_out(written: Json) -> bool:
    """Tell whether a written value says everything, so that it can serve as an argument."""
    if isinstance(written, dict):
        return written.get("$refined") != "complex" and all(map(is_spelled_out, written.values()))
    return not isinstance(written, list) or all(map(is_spelled_out, written))


def _decode_wrapped(written: Json, marks: Mapping[str, Mark]) -> Value | None:
    assert isinstance(written, dict), written
    if "$nilval" in written:
        return None
    if "$val" in written:
        return _decode_wrapped(written["$val"], marks)
    return _decode(decode_type(written["t"]), written["v"], marks)


def _decode(type_: Type, written: Json, marks: Mapping[str, Mark]) -> Value:
    if written is None:
        return null(type_)
    if isinstance(written, dict):
        if "$marked" in written:
            return _decode_marked(type_, written, marks)
        if "$unknown" in written:
            return _decode_unknown(written)
    kind = type_.kind
    if kind == KIND_STRING:
        assert isinstance(written, str), written
        return string(written)
    if kind == KIND_NUMBER:
        return _decode_number(written)
    if kind == KIND_BOOL:
        assert isinstance(written, bool), written
        return boolean(written)
    if isinstance(type_, CollectionType):
        return _decode_collection(type_, written, marks)
    return _decode_structure(type_, written, marks)


def _decode_marked(type_: Type, written: dict[str, Json], marks: Mapping[str, Mark]) -> Value:
    inner = written["v"]
    if "$refined" in written and isinstance(inner, dict):
        inner = {**inner, "$refined": written["$refined"]}
    names = written["$marked"]
    assert isinstance(names, list), written
    found = frozenset(marks.get(str(name), str(name)) for name in names)
    value = _decode(type_, inner, marks)
    return value.with_marks(value.marks | found)


def _decode_unknown(written: dict[str, Json]) -> Value:
    type_ = decode_type(written["$unknown"])
    refined = written.get("$refined")
    value = unknown(type_, NOT_NULL if refined == "notnull" else UNREFINED)
    return value.mark(_ANY_REFINEMENT) if refined == "complex" else value


def _decode_number(written: Json) -> Value:
    if isinstance(written, dict):
        text = written["$number"]
        assert isinstance(text, str), written
        return number(float(text)) if text.endswith("Inf") else number(text)
    assert isinstance(written, int | float), written
    return number(written)


def _decode_collection(type_: CollectionType, written: Json, marks: Mapping[str, Mark]) -> Value:
    element = type_.element
    if type_.kind == KIND_MAP:
        assert isinstance(written, dict), written
        return map_value(
            element, {key: _decode(element, part, marks) for key, part in written.items()}
        )
    assert type_.kind in (KIND_LIST, KIND_SET), type_
    assert isinstance(written, list), written
    elements = [_decode(element, part, marks) for part in written]
    return (list_value if type_.kind == KIND_LIST else set_value)(element, elements)


def _decode_structure(type_: Type, written: Json, marks: Mapping[str, Mark]) -> Value:
    if isinstance(type_, TupleType):
        assert isinstance(written, list), written
        pairs = zip(type_.elements, written, strict=True)
        return tuple_value([_decode(element, part, marks) for element, part in pairs])
    assert isinstance(type_, ObjectType), type_
    assert isinstance(written, dict), written
    return object_value(
        {name: _decode(type_.attributes[name], part, marks) for name, part in written.items()}
    )


def _without_placeholder(value: Value) -> Value:
    if not value.contains_marked:
        return value
    return _strip(value)


def _strip(value: Value) -> Value:
    from nigari.cty.paths import transform

    return transform(value, lambda _path, part: part.with_marks(part.marks - {_ANY_REFINEMENT}))


def _same(got: Value, wanted: Value) -> bool:
    if got == wanted:
        return True
    if got.type != wanted.type:
        return False
    if _ANY_REFINEMENT in wanted.marks:
        return not got.is_known and got.marks == wanted.marks - {_ANY_REFINEMENT}
    if got.marks != wanted.marks or not (got.is_known and wanted.is_known):
        return False
    if got.is_null or wanted.is_null or not wanted.contains_marked:
        return False
    return _same_parts(got, wanted)


def _same_parts(got: Value, wanted: Value) -> bool:
    if isinstance(got.type, MapType | ObjectType):
        if got.mapping().keys() != wanted.mapping().keys():
            return False
        return all(_same(part, wanted.mapping()[key]) for key, part in got.mapping().items())
    if not isinstance(got.type, ListType | SetType | TupleType):
        return False
    if got.length_int() != wanted.length_int():
        return False
    return all(map(_same, got.elements(), wanted.elements()))

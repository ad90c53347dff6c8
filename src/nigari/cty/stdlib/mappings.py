"""Functions on maps and objects: keys, values, lookup, merge, zipmap.

Known parts of the result stay known: an object's keys are, even while its values are not. The names
of the functions in a language are chosen by its own package.
"""

from __future__ import annotations

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.types import (
    DYNAMIC,
    KIND_DYNAMIC,
    STRING,
    ListType,
    MapType,
    ObjectType,
    SetType,
    TupleType,
    Type,
)
from nigari.cty.values import (
    Mark,
    Value,
    list_value,
    map_value,
    object_value,
    string,
    tuple_value,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


def _keys_type(args: list[Value]) -> Type:
    type_ = args[0].type
    if isinstance(type_, MapType):
        return ListType(STRING)
    if isinstance(type_, ObjectType):
        return TupleType((STRING,) * len(type_.attributes))
    raise FunctionError(f"a map or object is required, not {type_.with_article()}", 0)


def _keys(args: list[Value], expected: Type) -> Value:
    given = args[0]
    if isinstance(given.type, ObjectType):
        names = [string(name) for name in sorted(given.type.attributes)]
        return tuple_value(names).with_marks(given.marks)
    if not given.is_known:
        return unknown(expected).with_marks(given.marks)
    keys = [string(key) for key in sorted(given.mapping())]
    return list_value(STRING, keys).with_marks(given.marks)


KEYS: Final = Function(
    (Parameter("inputMap", DYNAMIC, allow_unknown=True, allow_marked=True),),
    None,
    _keys_type,
    _keys,
    NOT_NULL_RESULT,
)


def _values_type(args: list[Value]) -> Type:
    type_ = args[0].type
    if isinstance(type_, MapType):
        return ListType(type_.element)
    if isinstance(type_, ObjectType):
        return TupleType(tuple([type_.attributes[name] for name in sorted(type_.attributes)]))
    raise FunctionError(f"a map or object is required, not {type_.with_article()}", 0)


def _values(args: list[Value], expected: Type) -> Value:
    given = args[0]
    elements = given.elements()
    if isinstance(expected, ListType):
        return list_value(expected.element, elements).with_marks(given.marks)
    return tuple_value(elements).with_marks(given.marks)


VALUES: Final = Function(
    (Parameter("mapping", DYNAMIC, allow_marked=True),),
    None,
    _values_type,
    _values,
    NOT_NULL_RESULT,
)


def _lookup_type(args: list[Value]) -> Type:
    type_ = args[0].type
    if isinstance(type_, ObjectType):
        if not args[1].is_known:
            return DYNAMIC
        found = type_.attributes.get(args[1].as_string())
        return args[2].type if found is None else found
    if isinstance(type_, MapType):
        try:
            convert(args[2], type_.element)
        except CtyError as error:
            raise FunctionError(
                "the default must have the same type as the elements of the map", 2, error.path
            ) from error
        return type_.element
    raise FunctionError(f"a map or object is required, not {type_.with_article()}", 0)


def _lookup(args: list[Value], expected: Type) -> Value:
    given, key, default = args
    marks = given.marks | key.marks
    if not given.is_wholly_known:
        return unknown(expected).with_marks(marks)
    found = given.mapping().get(key.as_string())
    if found is None:
        found = convert(default, expected)
    return found.with_marks(marks)


LOOKUP: Final = Function(
    (
        Parameter("inputMap", DYNAMIC, allow_marked=True),
        Parameter("key", STRING, allow_marked=True),
        Parameter("default", DYNAMIC, allow_marked=True),
    ),
    None,
    _lookup_type,
    _lookup,
)


def _merge_type(args: list[Value]) -> Type:
    attributes: dict[str, Type] = {}
    all_same = True
    all_known = True
    for i, arg in enumerate(args):
        type_ = arg.type
        if type_.kind == KIND_DYNAMIC:
            return DYNAMIC
        if isinstance(type_, ObjectType):
            if arg.data is not None:
                attributes.update(type_.attributes)
        elif isinstance(type_, MapType):
            if not arg.is_known:
                all_known = False
            elif arg.data is not None:
                for key in arg.mapping():
                    attributes[key] = type_.element
        else:
            raise FunctionError(f"a map or object is required, not {type_.with_article()}", i)
        all_same = all_same and type_ == args[0].type
    if args and all_same and (attributes or not isinstance(args[0].type, ObjectType)):
        return args[0].type
    return ObjectType(attributes) if all_known else DYNAMIC


def _merge(args: list[Value], expected: Type) -> Value:
    merged: dict[str, Value] = {}
    marks: set[Mark] = set()
    for i, arg in enumerate(args):
        if isinstance(arg.data, dict):
            marks.update(arg.marks)
            merged.update(arg.data)
        elif arg.data is not None:
            # A null of unknown type among the arguments disables the type check of the others.
            merged.update(_elements_by_text(arg, i))
    if isinstance(expected, MapType):
        return map_value(expected.element, merged).with_marks(frozenset(marks))
    return object_value(merged).with_marks(frozenset(marks))


def _elements_by_text(arg: Value, position: int) -> dict[str, Value]:
    """Map a set of strings to itself, as OpenTofu's `merge` accepts; anything else must be empty."""
    if isinstance(arg.data, tuple) and (not arg.data or arg.type == SetType(STRING)):
        return {element.as_string(): element for element in arg.data}
    raise FunctionError(f"a map or object is required, not {arg.type.with_article()}", position)


MERGE: Final = Function(
    (),
    Parameter("maps", DYNAMIC, allow_null=True, allow_dynamic=True, allow_marked=True),
    _merge_type,
    _merge,
    NOT_NULL_RESULT,
)


def _zipmap_type(args: list[Value]) -> Type:
    keys, values = args
    type_ = values.type
    if isinstance(type_, ListType):
        return MapType(type_.element)
    if not isinstance(type_, TupleType):
        raise FunctionError(f"a list or tuple is required, not {type_.with_article()}", 1)
    if not keys.is_wholly_known:
        return DYNAMIC
    _check_lengths(keys.length_int(), len(type_.elements))
    names = [_key(key, i) for i, key in enumerate(keys.sequence())]
    return ObjectType(dict(zip(names, type_.elements, strict=True)))


def _check_lengths(keys: int, values: int) -> None:
    if keys != values:
        raise FunctionError(
            f"there must be a value for each key, and the numbers differ: {keys} and {values}"
        )


def _key(key: Value, index: int) -> str:
    if key.data is None:
        raise FunctionError(f"key {index} is null", 0)
    return key.as_string()


def _zipmap(args: list[Value], expected: Type) -> Value:
    keys, values = args
    marks = keys.marks | values.marks
    if not keys.is_wholly_known:
        return unknown(expected).with_marks(marks)
    _check_lengths(keys.length_int(), values.length_int())
    key_marks: set[Mark] = set()
    zipped: dict[str, Value] = {}
    for i, (key, value) in enumerate(zip(keys.sequence(), values.sequence(), strict=True)):
        key_marks.update(key.marks)
        zipped[_key(key, i)] = value
    marks |= key_marks
    if isinstance(expected, MapType):
        return map_value(expected.element, zipped).with_marks(marks)
    return object_value(zipped).with_marks(marks)


ZIPMAP: Final = Function(
    (
        Parameter("keys", ListType(STRING), allow_marked=True),
        Parameter("values", DYNAMIC, allow_marked=True),
    ),
    None,
    _zipmap_type,
    _zipmap,
    NOT_NULL_RESULT,
)

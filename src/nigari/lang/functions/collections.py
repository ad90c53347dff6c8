"""Collection functions that OpenTofu adds to cty's, or has in its own variant.

Where OpenTofu accepts more than cty, such as a null argument or several kinds of collection, the
variant is here; the table takes everything else from `nigari.cty.stdlib`.
"""

from __future__ import annotations

from nigari.cty import operations
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.paths import index_step, path_text
from nigari.cty.stdlib.strings import STRLEN
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_OBJECT,
    KIND_SET,
    KIND_STRING,
    KIND_TUPLE,
    NUMBER,
    STRING,
    CollectionType,
    ListType,
    MapType,
    ObjectType,
    TupleType,
    Type,
)
from nigari.cty.unify import unify
from nigari.cty.values import (
    FALSE,
    TRUE,
    Value,
    list_value,
    map_value,
    null,
    number,
    string,
    unknown,
)
from nigari.lang.functions.host_environment import redacted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_SEQUENCES: Final = (KIND_LIST, KIND_SET, KIND_TUPLE)
_WITH_LENGTH: Final = (*_SEQUENCES, KIND_MAP, KIND_OBJECT, KIND_STRING, KIND_DYNAMIC)
_ANY_LIST: Final = ListType(DYNAMIC)


def _length_type(args: list[Value]) -> Type:
    if args[0].type.kind not in _WITH_LENGTH:
        raise FunctionError("a string, a collection, an object or a tuple is required", 0)
    return NUMBER


def _length(args: list[Value], _: Type) -> Value:
    given = args[0]
    type_ = given.type
    # The length of a value of unknown type is a number in any case.
    if type_.kind == KIND_DYNAMIC:
        return unknown(NUMBER).with_marks(given.marks)
    if type_.kind == KIND_STRING:
        # LengthFunc leaves strings to cty, which counts grapheme clusters.
        return STRLEN.call([given])
    # The type of a tuple or object determines its length, even if the value is unknown.
    if isinstance(type_, TupleType):
        return number(len(type_.elements)).with_marks(given.marks)
    if isinstance(type_, ObjectType):
        return number(len(type_.attributes)).with_marks(given.marks)
    return operations.length(given)


LENGTH: Final = Function(
    (Parameter("value", DYNAMIC, allow_unknown=True, allow_dynamic=True, allow_marked=True),),
    None,
    _length_type,
    _length,
    NOT_NULL_RESULT,
)


def _all_true(args: list[Value], expected: Type) -> Value:
    # AllTrueFunc: elements are read in order, and the first that is not true decides. So
    # false after an unknown element is not noticed.
    for element in args[0].sequence():
        if not element.is_known:
            return unknown(expected)
        if not element.data:
            return FALSE
    return TRUE


def _any_true(args: list[Value], expected: Type) -> Value:
    uncertain = False
    # A true element decides, even beside unknown ones, so the search continues.
    for element in args[0].sequence():
        if not element.is_known:
            uncertain = True
        elif element.data:
            return TRUE
    return unknown(expected) if uncertain else FALSE


_BOOLS: Final = Parameter("list", ListType(BOOL))
ALL_TRUE: Final = Function((_BOOLS,), None, BOOL, _all_true, NOT_NULL_RESULT)
ANY_TRUE: Final = Function((_BOOLS,), None, BOOL, _any_true, NOT_NULL_RESULT)


def _common_type(args: list[Value]) -> Type:
    common = unify([arg.type for arg in args], unsafe=True)
    if common is None:
        raise FunctionError("all arguments must have the same type")
    return common


def _coalesce(args: list[Value], expected: Type) -> Value:
    for arg in args:
        try:
            # As each argument may be null or empty, an argument that cannot be converted is skipped
            # like one.
            found = convert(arg, expected)
        except CtyError:
            continue
        # An unknown argument may turn out to be null, in which case a later one is the result.
        if not found.is_known:
            return unknown(expected)
        # OpenTofu's coalesce, unlike cty's, skips empty strings as well.
        if found.data is None or (expected.kind == KIND_STRING and found.data == ""):
            continue
        return found
    raise FunctionError("every argument is null or an empty string")


COALESCE: Final = Function(
    (),
    Parameter("vals", DYNAMIC, allow_null=True, allow_unknown=True, allow_dynamic=True),
    _common_type,
    _coalesce,
    NOT_NULL_RESULT,
)


def _index(args: list[Value], expected: Type) -> Value:
    given, wanted = args
    if given.type.kind not in (KIND_LIST, KIND_TUPLE):
        raise FunctionError("a list or tuple is required")
    elements = given.sequence()
    # IndexFunc: to search nothing is an error, unlike to find nothing in a list for contains.
    if not elements:
        raise FunctionError("an empty list has no elements to search")
    for position, element in enumerate(elements):
        # An unknown element may be equal, in which case the index is that of the element.
        equal = operations.equals(element, wanted)
        if not equal.is_known:
            return unknown(expected)
        if equal.as_bool():
            return number(position)
    raise FunctionError("no element is equal to that value")


INDEX: Final = Function(
    (Parameter("list", DYNAMIC), Parameter("value", DYNAMIC)), None, NUMBER, _index, NOT_NULL_RESULT
)


# -- lookup -------------------------------------------------------------------------------------


def _lookup_type(args: list[Value]) -> Type:
    if len(args) > 3:
        raise FunctionError(f"two or three arguments are required, {len(args)} given")
    type_ = args[0].type
    # An object's attributes may differ in type, so the type of the result depends on the key.
    if isinstance(type_, ObjectType):
        if not args[1].is_known:
            return DYNAMIC
        key = args[1].as_string()
        if key in type_.attributes:
            return type_.attributes[key]
        if len(args) == 3:
            return args[2].type
        raise FunctionError(f"the object has no attribute {redacted(key, args[1].marks)}", 0)
    if not isinstance(type_, MapType):
        raise FunctionError(f"a map is required, not {type_.with_article()}", 0)
    # The default must be convertible to the element type, as every result of a map has one type.
    if len(args) == 3:
        try:
            convert(args[2], type_.element)
        except CtyError as error:
            raise FunctionError(
                "the default must have the same type as the elements of the map", 2, error.path
            ) from error
    return type_.element


def _lookup(args: list[Value], expected: Type) -> Value:
    given, key = args[0], args[1]
    marks = given.marks | key.marks
    found = given.mapping().get(key.as_string())
    if found is None:
        if len(args) < 3:
            raise FunctionError(f"there is no element {redacted(key.as_string(), key.marks)}")
        # The default keeps its own marks beside those of the map and the key.
        found = convert(args[2], expected)
    return found.with_marks(marks)


LOOKUP: Final = Function(
    (
        Parameter("inputMap", DYNAMIC, allow_marked=True),
        Parameter("key", STRING, allow_marked=True),
    ),
    Parameter(
        "default",
        DYNAMIC,
        allow_null=True,
        allow_unknown=True,
        allow_dynamic=True,
        allow_marked=True,
    ),
    _lookup_type,
    _lookup,
)


# -- matchkeys, one, sum, transpose -------------------------------------------------------------


def _match_keys_type(args: list[Value]) -> Type:
    if unify([args[1].type, args[2].type], unsafe=True) is None:
        raise FunctionError("the keys and the search set must have the same type")
    return args[0].type


def _match_keys(args: list[Value], expected: Type) -> Value:
    assert isinstance(expected, ListType)
    values = args[0]
    if values.length_int() != args[1].length_int():
        raise FunctionError("there must be the same number of keys and values")
    common = unify([args[1].type, args[2].type], unsafe=True)
    assert common is not None
    keys, search_set = convert(args[1], common), convert(args[2], common)
    # An empty search set matches nothing, so even unknown keys do not matter.
    if not search_set.length_int():
        return list_value(expected.element, [])
    if not values.is_wholly_known or not keys.is_wholly_known:
        return unknown(expected)
    if search_set.is_wholly_known:
        wanted = set(search_set.sequence())
        found = [key in wanted for key in keys.sequence()]
    else:
        found = []
        for key in keys.sequence():
            equal = _first_equal(key, search_set)
            if equal is None:
                # OpenTofu's matchkeys returns an empty list at the first comparison with an unknown
                # element.
                return list_value(expected.element, [])
            found.append(equal)
    pairs = zip(values.sequence(), found, strict=True)
    return list_value(expected.element, [value for value, matches in pairs if matches])


def _first_equal(key: Value, search_set: Value) -> bool | None:
    """Check whether an element equals the key; None if an unknown one precedes it."""
    for element in search_set.sequence():
        equal = operations.equals(key, element)
        if not equal.is_known:
            return None
        if equal.as_bool():
            return True
    return False


MATCH_KEYS: Final = Function(
    (
        Parameter("values", _ANY_LIST),
        Parameter("keys", _ANY_LIST),
        Parameter("searchset", _ANY_LIST),
    ),
    None,
    _match_keys_type,
    _match_keys,
    NOT_NULL_RESULT,
)


_AT_MOST_ONE: Final = "a list, set or tuple with at most one element is required"


def _one_type(args: list[Value]) -> Type:
    type_ = args[0].type
    if isinstance(type_, CollectionType) and type_.kind != KIND_MAP:
        return type_.element
    if isinstance(type_, TupleType) and len(type_.elements) < 2:
        # The empty tuple has no element type; its result is null of any type.
        return type_.elements[0] if type_.elements else DYNAMIC
    raise FunctionError(_AT_MOST_ONE, 0)


def _one(args: list[Value], expected: Type) -> Value:
    given = args[0]
    # Unknown elements of a set may turn out to be equal, so that only one remains.
    if given.type.kind == KIND_SET and not operations.length(given).is_known:
        return unknown(expected)
    elements = given.sequence()
    if len(elements) > 1:
        raise FunctionError(_AT_MOST_ONE, 0)
    return elements[0] if elements else null(expected)


ONE: Final = Function((Parameter("list", DYNAMIC),), None, _one_type, _one)


def _sum(args: list[Value], expected: Type) -> Value:
    given = args[0]
    if given.type.kind not in _SEQUENCES:
        raise FunctionError(f"a list, set or tuple is required, not {_name(given)}", 0)
    elements = given.sequence()
    if not elements:
        raise FunctionError("the sum of an empty list is undefined", 0)
    # SumFunc: one unknown element makes the sum unknown. Bounds are not added.
    if not given.is_wholly_known:
        return unknown(expected)
    total = _summand(elements[0])
    for element in elements[1:]:
        total = operations.add(total, _summand(element))
    return total


def _name(value: Value) -> str:
    return value.type.with_article()


def _summand(element: Value) -> Value:
    if element.data is not None:
        try:
            return convert(element, NUMBER)
        except CtyError:
            pass
    raise FunctionError("every element must be a number", 0)


SUM: Final = Function((Parameter("list", DYNAMIC),), None, NUMBER, _sum, NOT_NULL_RESULT)

_LISTS_BY_KEY: Final = MapType(ListType(STRING))


def _transpose(args: list[Value], expected: Type) -> Value:
    if not args[0].is_wholly_known:
        return unknown(expected)
    keys_by_element: dict[str, list[str]] = {}
    lists = args[0].mapping()
    # TransposeFunc: in order of the keys, so that the lists of the result are sorted.
    for key in sorted(lists):
        if lists[key].data is None:
            raise FunctionError(f"the list {path_text((index_step(key),))} is null", 0)
        for position, element in enumerate(lists[key].sequence()):
            if element.data is None:
                where = path_text((index_step(key), index_step(position)))
                raise FunctionError(f"the string {where} is null", 0)
            keys_by_element.setdefault(element.as_string(), []).append(key)
    return map_value(
        ListType(STRING),
        {
            element: list_value(STRING, [string(key) for key in keys])
            for element, keys in keys_by_element.items()
        },
    )


TRANSPOSE: Final = Function(
    (Parameter("values", _LISTS_BY_KEY),), None, _LISTS_BY_KEY, _transpose, NOT_NULL_RESULT
)


# -- removed functions, which only name their replacement ---------------------------------------


def _list(args: list[Value]) -> Type:
    # The name is kept, so that old configurations get an error that names the successor.
    raise FunctionError("this function was removed in Terraform 0.12: write tolist([ … ])")


def _map(args: list[Value]) -> Type:
    raise FunctionError("this function was removed in Terraform 0.12: write tomap({ … })")


def _first(args: list[Value], _: Type) -> Value:
    return args[0]


_VALS: Final = Parameter("vals", DYNAMIC, allow_null=True, allow_unknown=True, allow_dynamic=True)
LIST: Final = Function((), _VALS, _list, _first)
MAP: Final = Function((), _VALS, _map, _first)

FUNCTIONS: Final = {
    "alltrue": ALL_TRUE,
    "anytrue": ANY_TRUE,
    "coalesce": COALESCE,
    "index": INDEX,
    "length": LENGTH,
    "list": LIST,
    "lookup": LOOKUP,
    "map": MAP,
    "matchkeys": MATCH_KEYS,
    "one": ONE,
    "sum": SUM,
    "transpose": TRANSPOSE,
}

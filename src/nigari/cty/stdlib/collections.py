"""Collection functions: length, membership, indexing, products.

Each is data: parameters with the kinds of value they accept (null, unknown, marked), the result
type, and a few lines that compute it. Their names in a language are chosen by its own package.
"""

from __future__ import annotations

from itertools import product

from nigari.cty import operations
from nigari.cty.convert import convert
from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.refinements import Refinement, length_bounds, refine
from nigari.cty.stdlib.arguments import int_argument, list_of, set_of
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_NUMBER,
    KIND_SET,
    KIND_STRING,
    KIND_TUPLE,
    NUMBER,
    CollectionType,
    ListType,
    SetType,
    TupleType,
    Type,
)
from nigari.cty.unify import unify
from nigari.cty.values import (
    FALSE,
    TRUE,
    Mark,
    Value,
    is_among,
    tuple_value,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_INDEXABLE: Final = (KIND_LIST, KIND_MAP, KIND_TUPLE)


def _has_index_type(args: list[Value]) -> Type:
    if args[0].type.kind not in (KIND_LIST, KIND_MAP, KIND_TUPLE, KIND_DYNAMIC):
        raise FunctionError("a list, tuple or map is required", 0)
    return BOOL


def _has_index(args: list[Value], _: Type) -> Value:
    return operations.has_index(args[0], args[1])


HAS_INDEX: Final = Function(
    (
        Parameter("collection", DYNAMIC, allow_dynamic=True),
        Parameter("key", DYNAMIC, allow_dynamic=True),
    ),
    None,
    _has_index_type,
    _has_index,
    NOT_NULL_RESULT,
)


def _index_type(args: list[Value]) -> Type:
    type_, key = args[0].type, args[1]
    if type_.kind not in _INDEXABLE:
        raise FunctionError("a list, tuple or map is required", 0)
    wanted = KIND_STRING if type_.kind == KIND_MAP else KIND_NUMBER
    if key.type.kind not in (wanted, KIND_DYNAMIC):
        noun = "string" if wanted == KIND_STRING else "number"
        raise FunctionError(f"the key must be a {noun}", 1)
    if isinstance(type_, CollectionType):
        return type_.element
    assert isinstance(type_, TupleType)
    if not key.is_known:
        return DYNAMIC
    position = int_argument(key, 1)
    if not 0 <= position < len(type_.elements):
        raise FunctionError("the tuple has no element at that index", 1)
    return type_.elements[position]


def _index(args: list[Value], _: Type) -> Value:
    return operations.index(args[0], args[1])


INDEX: Final = Function(
    (Parameter("collection", DYNAMIC), Parameter("key", DYNAMIC, allow_dynamic=True)),
    None,
    _index_type,
    _index,
)


def _length_type(args: list[Value]) -> Type:
    if args[0].type.kind not in (KIND_LIST, KIND_MAP, KIND_TUPLE, KIND_SET, KIND_DYNAMIC):
        raise FunctionError("a list, tuple, set or map is required", 0)
    return NUMBER


def _length(args: list[Value], _: Type) -> Value:
    return operations.length(args[0])


LENGTH: Final = Function(
    (Parameter("collection", DYNAMIC, allow_unknown=True, allow_dynamic=True, allow_marked=True),),
    None,
    _length_type,
    _length,
    NOT_NULL_RESULT,
)


def _contains(args: list[Value], expected: Type) -> Value:
    given, wanted = args
    if given.type.kind not in (KIND_LIST, KIND_SET, KIND_TUPLE):
        raise FunctionError("a list, tuple or set is required", 0)
    elements = given.sequence()
    is_plain = not (given.flags | wanted.flags) and not wanted.is_null
    if is_plain and given.type.kind != KIND_TUPLE:
        return TRUE if is_among(wanted, elements) else FALSE
    uncertain = False
    for element in elements:
        equal = operations.equals(wanted, element)
        if not equal.is_known:
            uncertain = True
        elif equal.as_bool():
            return TRUE
    return unknown(expected) if uncertain else FALSE


CONTAINS: Final = Function(
    (
        Parameter("list", DYNAMIC),
        # A literal null has no type of its own.
        Parameter("value", DYNAMIC, allow_null=True, allow_dynamic=True),
    ),
    None,
    BOOL,
    _contains,
    NOT_NULL_RESULT,
)


# -- setproduct ---------------------------------------------------------------------------------

_LONGEST_BOUNDED: Final = 2048
_LARGEST_PRODUCT: Final = 10_000_000


def _product_type(args: list[Value]) -> Type:
    if len(args) < 2:
        raise FunctionError("at least two arguments are required")
    elements: list[Type] = []
    ordered = True
    for i, arg in enumerate(args):
        type_ = arg.type
        if isinstance(type_, ListType | SetType):
            elements.append(type_.element)
            ordered = ordered and type_.kind == KIND_LIST
        elif isinstance(type_, TupleType):
            common = unify(type_.elements, unsafe=True) if type_.elements else DYNAMIC
            if common is None:
                raise FunctionError("all elements must have the same type", i)
            elements.append(common)
        else:
            raise FunctionError("a set, list or tuple is required", i)
    combination = TupleType(tuple(elements))
    return ListType(combination) if ordered else SetType(combination)


def _set_product(args: list[Value], expected: Type) -> Value:
    marks: frozenset[Mark] = frozenset()
    lengths: list[int] = []
    for arg in args:
        marks |= arg.marks
        if arg.is_known and operations.length(arg).is_known:
            lengths.append(arg.length_int())
    if len(lengths) < len(args):
        return _unknown_product(args, expected).with_marks(marks)
    total = 1
    for length in lengths:
        total *= length
    if total > _LARGEST_PRODUCT:
        raise FunctionError("the product would have too many elements")
    assert isinstance(expected, CollectionType)
    combination = expected.element
    assert isinstance(combination, TupleType)
    columns = [
        [convert(element, type_) for element in arg.sequence()]
        for arg, type_ in zip(args, combination.elements, strict=True)
    ]
    rows = [tuple_value(row) for row in product(*columns)]
    build = list_of if expected.kind == KIND_LIST else set_of
    return build(expected, rows).with_marks(marks)


def _unknown_product(args: list[Value], expected: Type) -> Value:
    """Build an unknown product, with a bounded length if the lengths of the arguments are bounded."""
    result = unknown(expected)
    longest = 1
    for arg in args:
        most = len(arg.type.elements) if isinstance(arg.type, TupleType) else length_bounds(arg)[1]
        if most < 0:
            return result
        longest *= most
        if longest > _LONGEST_BOUNDED:
            return result
    least = 1 if longest else 0
    return refine(result, Refinement(not_null=True, min_length=least, max_length=longest))


SET_PRODUCT: Final = Function(
    (),
    Parameter("sets", DYNAMIC, allow_unknown=True, allow_marked=True),
    _product_type,
    _set_product,
    NOT_NULL_RESULT,
)

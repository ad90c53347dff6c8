"""Functions on lists and tuples: concatenation, slicing, reordering, flattening.

Lists retain their element type; tuples are computed element by element, as their types may differ.
The names of the functions in a language are chosen by its own package.
"""

from __future__ import annotations

from nigari.cty import numbers, operations
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.numbers import Number
from nigari.cty.stdlib.arguments import int_argument, list_of
from nigari.cty.types import (
    DYNAMIC,
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_SET,
    KIND_TUPLE,
    NUMBER,
    CollectionType,
    ListType,
    TupleType,
    Type,
)
from nigari.cty.unify import unify
from nigari.cty.values import (
    EMPTY_TUPLE,
    HAS_UNKNOWN,
    Mark,
    Value,
    list_value,
    number,
    tuple_value,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ANY_LIST: Final = ListType(DYNAMIC)
_MARKED_SEQUENCE: Final = Parameter("list", DYNAMIC, allow_marked=True)
_LONGEST_RANGE: Final = 1024


def _as_sequence(expected: Type, elements: list[Value] | tuple[Value, ...]) -> Value:
    """Build a list or a tuple, whichever is expected."""
    if isinstance(expected, CollectionType):
        return list_of(expected, elements)
    return tuple_value(elements)


# -- concat -------------------------------------------------------------------------------------


def _concat_type(args: list[Value]) -> Type:
    if not args:
        raise FunctionError("at least one argument is required")
    if all(arg.type.kind == KIND_LIST for arg in args):
        common = unify([arg.type for arg in args], unsafe=True)
        if common is not None:
            return common
    elements: list[Type] = []
    for i, arg in enumerate(args):
        type_ = arg.type
        if isinstance(type_, TupleType):
            elements.extend(type_.elements)
        elif isinstance(type_, ListType):
            if not arg.is_known:
                return DYNAMIC
            elements.extend([type_.element] * arg.length_int())
        else:
            raise FunctionError(f"a list or tuple is required, not {type_.with_article()}", i)
    return TupleType(tuple(elements))


def _concat(args: list[Value], expected: Type) -> Value:
    elements: list[Value] = []
    marks: frozenset[Mark] = frozenset()
    for i, arg in enumerate(args):
        marks |= arg.marks
        if expected.kind == KIND_LIST:
            try:
                arg = convert(arg, expected)
            except CtyError as error:
                raise FunctionError(error.message, i, error.path) from error
        elements.extend(arg.sequence())
    return _as_sequence(expected, elements).with_marks(marks)


CONCAT: Final = Function(
    (), Parameter("seqs", DYNAMIC, allow_marked=True), _concat_type, _concat, NOT_NULL_RESULT
)


# -- range --------------------------------------------------------------------------------------


def _range(args: list[Value], _: Type) -> Value:
    if not 1 <= len(args) <= 3:
        raise FunctionError("one, two or three arguments are required")
    given = [arg.as_number() for arg in args]
    start: int | Number = given[0] if len(given) > 1 else 0
    end = given[1] if len(given) > 1 else given[0]
    if len(given) == 3:
        step = given[2]
    else:
        step = -1 if numbers.compare(end, start) < 0 else 1
    direction = numbers.sign(step)
    wanted = numbers.compare(end, start)
    if wanted == 0:
        return list_value(NUMBER, [])
    if direction == 0:
        raise FunctionError("the step must not be zero", 2)
    if wanted != direction:
        raise FunctionError("the step leads away from the end", 1)
    elements: list[Value] = []
    current = start
    while numbers.compare(end, current) == direction:
        if len(elements) == _LONGEST_RANGE:
            raise FunctionError(f"a range can have at most {_LONGEST_RANGE} elements")
        elements.append(number(current))
        current = numbers.add(current, step)
    return list_value(NUMBER, elements)


RANGE: Final = Function((), Parameter("params", NUMBER), ListType(NUMBER), _range, NOT_NULL_RESULT)


# -- element, reverse, slice, chunklist ---------------------------------------------------------


def _element_type(args: list[Value]) -> Type:
    type_ = args[0].type
    if isinstance(type_, ListType):
        return type_.element
    if not isinstance(type_, TupleType):
        raise FunctionError(f"a list or tuple is required, not {type_.with_article()}", 0)
    if not args[1].is_known:
        return DYNAMIC
    index = int_argument(args[1], 1)
    if not type_.elements:
        raise FunctionError("an empty tuple has no elements", 0)
    return type_.elements[index % len(type_.elements)]


def _element(args: list[Value], _: Type) -> Value:
    index = int_argument(args[1], 1)
    elements = args[0].sequence()
    if not elements:
        raise FunctionError("an empty list has no elements", 0)
    return elements[index % len(elements)].with_marks(args[0].marks)


ELEMENT: Final = Function(
    (_MARKED_SEQUENCE, Parameter("index", NUMBER)), None, _element_type, _element
)


def _reverse_type(args: list[Value]) -> Type:
    type_ = args[0].type
    if isinstance(type_, TupleType):
        return TupleType(tuple(reversed(type_.elements)))
    if isinstance(type_, CollectionType) and type_.kind in (KIND_LIST, KIND_SET):
        return ListType(type_.element)
    raise FunctionError(f"a list or tuple is required, not {type_.with_article()}", 0)


def _reverse(args: list[Value], expected: Type) -> Value:
    return _as_sequence(expected, args[0].sequence()[::-1]).with_marks(args[0].marks)


REVERSE_LIST: Final = Function((_MARKED_SEQUENCE,), None, _reverse_type, _reverse, NOT_NULL_RESULT)


def _slice_type(args: list[Value]) -> Type:
    type_ = args[0].type
    if type_.kind == KIND_SET:
        raise FunctionError("the elements of a set have no order; convert it to a list first", 0)
    if not isinstance(type_, ListType | TupleType):
        raise FunctionError(f"a list or tuple is required, not {type_.with_article()}", 0)
    start, end = _slice_bounds(args)
    if isinstance(type_, ListType):
        return type_
    if start is None or end is None:
        return DYNAMIC
    return TupleType(type_.elements[start:end])


def _slice_bounds(args: list[Value]) -> tuple[int | None, int | None]:
    type_ = args[0].type
    length: int | None = None
    if isinstance(type_, TupleType):
        length = len(type_.elements)
    elif args[0].is_known:
        length = args[0].length_int()
    bounds: list[int | None] = []
    for i in (1, 2):
        bound = int_argument(args[i], i) if args[i].is_known else None
        if bound is not None and bound < 0:
            raise FunctionError("an index must not be negative", i)
        if bound is not None and length is not None and bound > length:
            raise FunctionError(f"the index is greater than the length, {length}", i)
        bounds.append(bound)
    start, end = bounds
    if start is not None and end is not None and start > end:
        raise FunctionError("the start must not be after the end", 1)
    return start, end


def _slice(args: list[Value], expected: Type) -> Value:
    start, end = _slice_bounds(args)
    return _as_sequence(expected, args[0].sequence()[start:end]).with_marks(args[0].marks)


SLICE: Final = Function(
    (_MARKED_SEQUENCE, Parameter("start_index", NUMBER), Parameter("end_index", NUMBER)),
    None,
    _slice_type,
    _slice,
    NOT_NULL_RESULT,
)


def _chunk_type(args: list[Value]) -> Type:
    return ListType(args[0].type)


def _chunk(args: list[Value], _: Type) -> Value:
    given = args[0]
    size = int_argument(args[1], 1)
    if size < 0:
        raise FunctionError("the size must not be negative", 1)
    type_ = given.type
    assert isinstance(type_, ListType)
    elements = given.sequence()
    size = size or max(len(elements), 1)
    chunks = [
        list_value(type_.element, elements[i : i + size]) for i in range(0, len(elements), size)
    ]
    return list_value(type_, chunks).with_marks(given.marks | args[1].marks)


CHUNK_LIST: Final = Function(
    (
        Parameter("list", _ANY_LIST, allow_marked=True),
        Parameter("size", NUMBER, allow_marked=True),
    ),
    None,
    _chunk_type,
    _chunk,
    NOT_NULL_RESULT,
)


# -- distinct, flatten, coalescelist ------------------------------------------------------------


def _same_type(args: list[Value]) -> Type:
    return args[0].type


def _distinct(args: list[Value], expected: Type) -> Value:
    if not args[0].is_wholly_known:
        return unknown(expected)
    return _as_sequence(expected, list(dict.fromkeys(args[0].sequence())))


DISTINCT: Final = Function(
    (Parameter("list", _ANY_LIST),), None, _same_type, _distinct, NOT_NULL_RESULT
)


def _is_sequence(type_: Type) -> bool:
    return type_.kind in (KIND_LIST, KIND_SET, KIND_TUPLE)


def _flatten_into(value: Value, found: list[Value], marks: set[Mark]) -> bool:
    """Append the parts of a sequence at all depths; return False if some of them are unknown."""
    marks.update(value.marks)
    if value.type.kind == KIND_SET and not operations.length(value).is_known:
        return False
    complete = True
    for element in value.sequence():
        if not element.is_known and element.type.kind == KIND_DYNAMIC:
            complete = False
        if element.data is None or not _is_sequence(element.type):
            found.append(element)
        elif not element.is_known:
            marks.update(element.marks)
            complete = False
        elif not _flatten_into(element, found, marks):
            complete = False
    return complete


def _flatten_type(args: list[Value]) -> Type:
    if args[0].flags & HAS_UNKNOWN:
        return DYNAMIC
    if not _is_sequence(args[0].type):
        raise FunctionError("only lists, sets and tuples can be flattened", 0)
    found: list[Value] = []
    _flatten_into(args[0], found, set())
    return TupleType(tuple([element.type for element in found]))


def _flatten(args: list[Value], expected: Type) -> Value:
    if not _is_sequence(args[0].type):
        raise FunctionError("only lists, sets and tuples can be flattened", 0)
    found: list[Value] = []
    marks: set[Mark] = set()
    if not _flatten_into(args[0], found, marks):
        return unknown(expected).with_marks(frozenset(marks))
    return (tuple_value(found) if found else EMPTY_TUPLE).with_marks(frozenset(marks))


FLATTEN: Final = Function((_MARKED_SEQUENCE,), None, _flatten_type, _flatten, NOT_NULL_RESULT)


def _coalesce_type(args: list[Value]) -> Type:
    if not args:
        raise FunctionError("at least one argument is required")
    for i, arg in enumerate(args):
        if not arg.is_known:
            return DYNAMIC
        if not isinstance(arg.type, ListType | TupleType):
            raise FunctionError("a list or tuple is required", i)
    first = args[0].type
    return first if all(arg.type == first for arg in args) else DYNAMIC


def _coalesce(args: list[Value], expected: Type) -> Value:
    for arg in args:
        if not arg.is_known:
            return unknown(expected)
        if arg.data is not None and arg.length_int() > 0:
            return arg
    raise FunctionError("every argument is null or empty")


COALESCE_LIST: Final = Function(
    (),
    Parameter("vals", DYNAMIC, allow_null=True, allow_unknown=True, allow_dynamic=True),
    _coalesce_type,
    _coalesce,
    NOT_NULL_RESULT,
)

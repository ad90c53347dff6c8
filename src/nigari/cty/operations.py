"""Operators of the language on values.

Operands may be known, null, unknown, dynamic or marked. Marks of the operands are copied to the
result, unknown operands yield an unknown result with their causes and every provable refinement,
and an operand that does not fit raises a `CtyError`. Nothing is converted here: callers convert
operands first.
"""

from collections.abc import Callable

from nigari.cty import numbers
from nigari.cty.conform import conformance_errors
from nigari.cty.errors import CtyError
from nigari.cty.numbers import INFINITY, NEGATIVE_INFINITY, Number
from nigari.cty.paths import GetAttr, Index, Path
from nigari.cty.refinements import (
    Refinement,
    definitely_not_null,
    length_bounds,
    number_bounds,
    range_excludes,
    refine,
)
from nigari.cty.types import (
    BOOL,
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_NUMBER,
    KIND_SET,
    KIND_STRING,
    KIND_TUPLE,
    NUMBER,
    CollectionType,
    ObjectType,
    TupleType,
    Type,
)
from nigari.cty.unknown import NOT_NULL, Unknown, join_causes
from nigari.cty.values import (
    DYNAMIC_UNKNOWN,
    FALSE,
    HAS_MARKS,
    HAS_UNKNOWN,
    NO_MARKS,
    TRUE,
    Mark,
    Value,
    boolean,
    is_among,
    normalize,
    unknown,
)

NumberOperation = Callable[[int | Number, int | Number], int | Number]


def _unknown_result(type_: Type, a: Value, b: Value) -> Value:
    """Build a non-null unknown that carries the operands' causes."""
    causes = join_causes(a.causes, b.causes)
    return unknown(type_, NOT_NULL.with_causes(causes) if causes else NOT_NULL)


def _unmarked(value: Value) -> Value:
    return value.unmark()[0] if value.marks else value


def _undetermined(required: Type, a: Value, b: Value) -> bool:
    """Check for an operand that is unknown or of unknown type; a wrong type is an error."""
    for operand in (a, b):
        if operand.type is not required and operand.type.kind != KIND_DYNAMIC:
            raise CtyError(
                f"{required.with_article()} is required, not {operand.type.with_article()}"
            )
    return (
        not (a.is_known and b.is_known)
        or a.type.kind == KIND_DYNAMIC
        or b.type.kind == KIND_DYNAMIC
    )


def _number(value: Value) -> int | Number:
    if value.data is None:
        raise CtyError("a number is required, not null")
    return value.as_number()


def _truth(value: Value) -> bool:
    if value.data is None:
        raise CtyError("a bool is required, not null")
    return value.as_bool()


# -- equality -----------------------------------------------------------------------------------


def equals(a: Value, b: Value) -> Value:
    """Compare types and values. Nulls of any types are equal."""
    flags = a.flags | b.flags
    if not flags:
        if a.data is None or b.data is None:
            return boolean(a.data is b.data)
        return boolean(a.type == b.type and a.data == b.data)
    if flags & HAS_MARKS:
        return _equals_marked(a, b)
    settled = _equals_by_range(a, b)
    if settled is not None:
        return settled
    if a.data is None or b.data is None:
        return boolean(a.data is b.data)
    # go-cty: types that cannot become equal once known make the values unequal already.
    if not (has_known_type(a) and has_known_type(b)):
        if conformance_errors(a.type, b.type) and conformance_errors(b.type, a.type):
            return FALSE
        return _unknown_result(BOOL, *_first_unknowns(a, b))
    if a.type != b.type:
        return FALSE
    return _equals_parts(a, b)


def not_equals(a: Value, b: Value) -> Value:
    return logical_not(equals(a, b))


def _equals_marked(a: Value, b: Value) -> Value:
    plain_a, marks_a = a.unmark_deep()
    plain_b, marks_b = b.unmark_deep()
    if (a.data is None) != (b.data is None):
        # Comparing with null does not read the inside of the other value, so its marks do not
        # apply.
        marks_a, marks_b = a.marks, b.marks
    return equals(plain_a, plain_b).with_marks(marks_a | marks_b)


def _equals_by_range(a: Value, b: Value) -> Value | None:
    """Compare if an operand is itself unknown; None if both are known."""
    if a.is_known and b.is_known:
        return None
    # go-cty: comparing with null is decided as soon as the other operand cannot be null.
    if (a.data is None and definitely_not_null(b)) or (b.data is None and definitely_not_null(a)):
        return FALSE
    if a.is_known or b.is_known:
        known, open_ = (a, b) if a.is_known else (b, a)
        if known.data is not None:
            if conformance_errors(known.type, open_.type):
                return FALSE
            if known.type == open_.type and range_excludes(open_, known):
                return FALSE
    return _unknown_result(BOOL, a, b)


def has_known_type(value: Value) -> bool:
    """Check that no part of the value is of unknown type."""
    if not value.flags & HAS_UNKNOWN:
        return True
    if not value.is_known:
        return not value.type.has_dynamic
    if not value.type.has_dynamic:
        return True
    return all(has_known_type(element) for element in value.elements())


def _first_unknowns(a: Value, b: Value) -> tuple[Value, Value]:
    """Find an unknown part of each operand, to name as a cause of the result."""
    return _first_unknown(a), _first_unknown(b)


def _first_unknown(value: Value) -> Value:
    while value.is_known and value.flags & HAS_UNKNOWN:
        for element in value.elements():
            if element.flags & HAS_UNKNOWN:
                value = element
                break
    return value


def _equals_parts(a: Value, b: Value) -> Value:
    """Compare the parts; both operands have the same type and are known, but not wholly."""
    if a.type.kind == KIND_SET:
        return _unknown_result(BOOL, *_first_unknowns(a, b))
    if isinstance(a.data, dict):
        return _equals_by_key(a.mapping(), b.mapping())
    if a.length_int() != b.length_int():
        return FALSE
    for part_a, part_b in zip(a.sequence(), b.sequence(), strict=True):
        equal = equals(part_a, part_b)
        if not equal.is_known or not equal.as_bool():
            return equal
    return TRUE


def _equals_by_key(a: dict[str, Value], b: dict[str, Value]) -> Value:
    if a.keys() != b.keys():
        return FALSE
    result = TRUE
    for key, part in a.items():
        equal = equals(part, b[key])
        if not equal.is_known:
            result = equal
        elif not equal.as_bool():
            return FALSE
    return result


# -- arithmetic ---------------------------------------------------------------------------------


def add(a: Value, b: Value) -> Value:
    if a.type is NUMBER and b.type is NUMBER and not (a.flags | b.flags):
        return Value(NUMBER, numbers.add(_number(a), _number(b)))
    return _arithmetic(a, b, numbers.add, True)


def subtract(a: Value, b: Value) -> Value:
    if a.type is NUMBER and b.type is NUMBER and not (a.flags | b.flags):
        return Value(NUMBER, numbers.subtract(_number(a), _number(b)))
    return _arithmetic(a, b, numbers.subtract, True)


def multiply(a: Value, b: Value) -> Value:
    """Multiply. Zero times an unknown number is zero."""
    if a.type is NUMBER and b.type is NUMBER and not (a.flags | b.flags):
        return Value(NUMBER, numbers.multiply(_number(a), _number(b)))
    if _undetermined(NUMBER, a, b) and (a.data == 0 or b.data == 0):
        return Value(NUMBER, 0).with_marks(a.marks | b.marks)
    return _arithmetic(a, b, numbers.multiply, True)


def divide(a: Value, b: Value) -> Value:
    """Divide; a zero divisor yields an infinity."""
    return _arithmetic(a, b, numbers.divide, False)


def modulo(a: Value, b: Value) -> Value:
    """Compute the remainder of division towards zero."""
    return _arithmetic(a, b, numbers.modulo, False)


def _arithmetic(a: Value, b: Value, operation: NumberOperation, monotone: bool) -> Value:
    marks = a.marks | b.marks if a.marks or b.marks else NO_MARKS
    if _undetermined(NUMBER, a, b):
        result = _unknown_result(NUMBER, a, b)
        if monotone:
            result = _refine_arithmetic(result, a, b, operation)
    else:
        result = Value(NUMBER, operation(_number(a), _number(b)))
    return result.with_marks(marks)


def _bounds(value: Value) -> tuple[int | Number, int | Number] | None:
    """Return the least and greatest possible number; None if the type may not be number."""
    if value.type.kind != KIND_NUMBER:
        return None
    if value.data is None:
        return NEGATIVE_INFINITY, INFINITY
    lower, _, upper, _ = number_bounds(value)
    return lower, upper


def _refine_arithmetic(result: Value, a: Value, b: Value, operation: NumberOperation) -> Value:
    """Bound the result by combining the operands' bounds; sound where extremes map to extremes."""
    bounds_a, bounds_b = _bounds(a), _bounds(b)
    if bounds_a is None or bounds_b is None:
        return result
    try:
        corners = [operation(x, y) for x in bounds_a for y in bounds_b]
    except CtyError:
        return result
    least = greatest = corners[0]
    for corner in corners[1:]:
        if numbers.compare(corner, least) < 0:
            least = corner
        if numbers.compare(corner, greatest) > 0:
            greatest = corner
    lower = None if least == NEGATIVE_INFINITY else (least, True)
    upper = None if greatest == INFINITY else (greatest, True)
    if lower is None and upper is None:
        return result
    return refine(result, Refinement(lower=lower, upper=upper))


def negate(a: Value) -> Value:
    if _undetermined(NUMBER, a, a):
        return _unknown_result(NUMBER, a, a).with_marks(a.marks)
    return Value(NUMBER, numbers.negate(_number(a))).with_marks(a.marks)


def absolute(a: Value) -> Value:
    if _undetermined(NUMBER, a, a):
        result = refine(_unknown_result(NUMBER, a, a), Refinement(lower=(0, True)))
        return result.with_marks(a.marks)
    return Value(NUMBER, numbers.absolute(_number(a))).with_marks(a.marks)


# -- comparison ---------------------------------------------------------------------------------


def less_than(a: Value, b: Value) -> Value:
    if a.type is NUMBER and b.type is NUMBER and not (a.flags | b.flags):
        return boolean(numbers.compare(_number(a), _number(b)) < 0)
    marks = a.marks | b.marks
    if not _undetermined(NUMBER, a, b):
        return boolean(numbers.compare(_number(a), _number(b)) < 0).with_marks(marks)
    bounds_a, bounds_b = _bounds(a), _bounds(b)
    if bounds_a is not None and bounds_b is not None:
        if numbers.compare(bounds_a[1], bounds_b[0]) < 0:
            return TRUE.with_marks(marks)
        if numbers.compare(bounds_a[0], bounds_b[1]) > 0:
            return FALSE.with_marks(marks)
    return _unknown_result(BOOL, a, b).with_marks(marks)


def greater_than(a: Value, b: Value) -> Value:
    return less_than(b, a)


def less_than_or_equal(a: Value, b: Value) -> Value:
    return logical_or(less_than(a, b), equals(a, b))


def greater_than_or_equal(a: Value, b: Value) -> Value:
    return logical_or(less_than(b, a), equals(a, b))


# -- logic --------------------------------------------------------------------------------------


def logical_not(a: Value) -> Value:
    if _undetermined(BOOL, a, a):
        return _unknown_result(BOOL, a, a).with_marks(a.marks)
    return boolean(not _truth(a)).with_marks(a.marks)


def logical_and(a: Value, b: Value) -> Value:
    """Combine with "and": a false operand decides, even beside an unknown one."""
    if a.type is BOOL and b.type is BOOL and not (a.flags | b.flags):
        return boolean(_truth(a) and _truth(b))
    return _logical(a, b, False)


def logical_or(a: Value, b: Value) -> Value:
    """Combine with "or": a true operand decides, even beside an unknown one."""
    if a.type is BOOL and b.type is BOOL and not (a.flags | b.flags):
        return boolean(_truth(a) or _truth(b))
    return _logical(a, b, True)


def _logical(a: Value, b: Value, deciding: bool) -> Value:
    marks = a.marks | b.marks
    if _undetermined(BOOL, a, b):
        if a.data is deciding or b.data is deciding:
            return boolean(deciding).with_marks(marks)
        return _unknown_result(BOOL, a, b).with_marks(marks)
    decided = _truth(a) is deciding or _truth(b) is deciding
    return boolean(deciding if decided else not deciding).with_marks(marks)


# -- parts of a value ---------------------------------------------------------------------------


def get_attr(value: Value, name: str) -> Value:
    """Return an attribute of an object."""
    type_ = value.type
    if type_.kind == KIND_DYNAMIC:
        return DYNAMIC_UNKNOWN.with_causes(value.causes).with_marks(value.marks)
    if not isinstance(type_, ObjectType):
        raise CtyError(f"an object is required, not {type_.with_article()}")
    if not name.isascii():
        name = normalize(name)
    attribute_type = type_.attributes.get(name)
    if attribute_type is None:
        raise CtyError(f'the object has no attribute "{name}"')
    data = value.data
    if isinstance(data, Unknown):
        return _unknown_part(attribute_type, value, value)
    if data is None:
        raise CtyError("a null object has no attributes")
    return value.mapping()[name].with_marks(value.marks)


def _unknown_part(type_: Type, value: Value, key: Value) -> Value:
    causes = join_causes(value.causes, key.causes)
    marks: frozenset[Mark] = value.marks | key.marks
    return unknown(type_).with_causes(causes).with_marks(marks)


def index(value: Value, key: Value) -> Value:
    """Return an element of a list or tuple by number, or of a map by string."""
    type_ = value.type
    kind = type_.kind
    if kind == KIND_DYNAMIC:
        return _unknown_part(type_, value, key)
    if kind == KIND_MAP:
        return _index_map(value, key)
    if kind != KIND_LIST and kind != KIND_TUPLE:
        raise CtyError(f"a list, tuple or map is required, not {type_.with_article()}")
    element_type = type_.element if isinstance(type_, CollectionType) else DYNAMIC_UNKNOWN.type
    if key.type.kind == KIND_DYNAMIC:
        return _unknown_part(element_type, value, key)
    if key.type.kind != KIND_NUMBER:
        raise CtyError(f"a number is required as key, not {key.type.with_article()}")
    if not key.is_known:
        return _unknown_part(element_type, value, key)
    position = _position(key)
    if isinstance(type_, TupleType):
        if not 0 <= position < len(type_.elements):
            raise CtyError("the tuple has no element at that index")
        element_type = type_.elements[position]
    if not value.is_known:
        return _unknown_part(element_type, value, key)
    if value.data is None:
        raise CtyError("a null value has no elements")
    sequence = value.sequence()
    if not 0 <= position < len(sequence):
        raise CtyError("the list has no element at that index")
    element = sequence[position]
    if value.marks or key.marks:
        return element.with_marks(value.marks | key.marks)
    return element


def _index_map(value: Value, key: Value) -> Value:
    assert isinstance(value.type, CollectionType)
    if key.type.kind == KIND_DYNAMIC:
        return _unknown_part(value.type.element, value, key)
    if key.type.kind != KIND_STRING:
        raise CtyError(f"a string is required as key, not {key.type.with_article()}")
    if not key.is_known or not value.is_known:
        return _unknown_part(value.type.element, value, key)
    if key.data is None or value.data is None:
        raise CtyError("null has no elements and cannot be a key")
    element = value.mapping().get(key.as_string())
    if element is None:
        raise CtyError("the map has no element with that key")
    return element.with_marks(value.marks | key.marks)


def _position(key: Value) -> int:
    """Convert a known key to an integer; -1 if it cannot be a position."""
    if key.data is None:
        raise CtyError("a number is required as key, not null")
    position = numbers.whole(key.as_number(), 63)
    return -1 if position is None else position


def has_index(value: Value, key: Value) -> Value:
    """Check whether `index` would find an element. A key of the wrong type never does."""
    type_ = value.type
    kind = type_.kind
    marks = value.marks | key.marks
    if kind not in (KIND_DYNAMIC, KIND_LIST, KIND_MAP, KIND_TUPLE):
        raise CtyError(f"a list, tuple or map is required, not {type_.with_article()}")
    wanted = KIND_STRING if kind == KIND_MAP else KIND_NUMBER
    if kind == KIND_DYNAMIC or key.type.kind == KIND_DYNAMIC:
        return _unknown_result(BOOL, value, key).with_marks(marks)
    if key.type.kind != wanted:
        return FALSE.with_marks(marks)
    if not key.is_known or (not value.is_known and kind != KIND_TUPLE):
        return _unknown_result(BOOL, value, key).with_marks(marks)
    if key.data is None or (value.data is None and kind != KIND_TUPLE):
        raise CtyError("null has no elements and cannot be a key")
    if kind == KIND_MAP:
        return boolean(key.as_string() in value.mapping()).with_marks(marks)
    length = len(type_.elements) if isinstance(type_, TupleType) else value.length_int()
    return boolean(0 <= _position(key) < length).with_marks(marks)


def has_element(value: Value, element: Value) -> Value:
    """Check for an element of a set."""
    type_ = value.type
    if value.data is None:
        raise CtyError("a null set has no elements")
    marks = value.marks | element.marks
    if not value.is_known:
        return _unknown_result(BOOL, value, element).with_marks(marks)
    if not isinstance(type_, CollectionType) or type_.kind != KIND_SET:
        raise CtyError(f"a set is required, not {type_.with_article()}")
    if element.type.kind == KIND_DYNAMIC and not element.is_known:
        return _unknown_result(BOOL, value, element).with_marks(marks)
    if element.type != type_.element:
        return FALSE.with_marks(marks)
    element = _unmarked(element)
    if element.is_wholly_known and is_among(element, value.sequence()):
        return TRUE.with_marks(marks)
    if value.is_wholly_known and _matches_none(element, value.sequence()):
        return FALSE.with_marks(marks)
    return _unknown_result(BOOL, *_first_unknowns(value, element)).with_marks(marks)


def _matches_none(element: Value, others: tuple[Value, ...]) -> bool:
    """Check that a distinct element cannot turn out equal to one of these once all are known."""
    if element.is_wholly_known:
        return True
    if not element.is_known:
        return False
    for other in others:
        equal = equals(element, other)
        if not equal.is_known or equal.as_bool():
            return False
    return True


def length(value: Value) -> Value:
    """Count the elements of a collection or structure; an unknown one yields bounds."""
    type_ = value.type
    if isinstance(type_, TupleType):
        return Value(NUMBER, len(type_.elements)).with_marks(value.marks)
    if isinstance(type_, ObjectType):
        return Value(NUMBER, len(type_.attributes)).with_marks(value.marks)
    if type_.kind != KIND_DYNAMIC and not isinstance(type_, CollectionType):
        raise CtyError(f"a collection is required, not {type_.with_article()}")
    if value.data is None:
        raise CtyError("a null value has no length")
    least, most = length_bounds(value) if type_.kind != KIND_DYNAMIC else (0, -1)
    if least == most:
        return Value(NUMBER, least).with_marks(value.marks)
    result = unknown(NUMBER, NOT_NULL.with_causes(_first_unknown(value).causes))
    upper = (most, True) if most >= 0 else None
    return refine(result, Refinement(lower=(least, True), upper=upper)).with_marks(value.marks)


def apply_path(value: Value, path: Path) -> Value:
    """Follow a path to a part. The path of an error ends where it broke off."""
    for i, step in enumerate(path):
        try:
            if isinstance(step, GetAttr):
                value = get_attr(value, step.name)
            elif isinstance(step, Index):
                if value.type.kind == KIND_SET:
                    value = _set_element(value, step.key)
                else:
                    value = index(value, step.key)
        except CtyError as error:
            raise CtyError(error.message, path[: i + 1]) from None
    return value


def _set_element(value: Value, element: Value) -> Value:
    """Return the set element at the last step of a path, with the identity that walking the set
    yields.
    """
    present = has_element(value, element)
    if not present.is_known:
        assert isinstance(value.type, CollectionType)
        return _unknown_part(value.type.element, value, element)
    if not present.as_bool():
        raise CtyError("the set has no such element")
    return element.with_marks(present.marks)

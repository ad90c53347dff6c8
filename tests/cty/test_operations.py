"""Operations on values: known, null, unknown, dynamic and marked operands."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.cty import operations
from nigari.cty.errors import CtyError
from nigari.cty.refinements import Refinement, refine, refine_not_null
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    NUMBER,
    STRING,
    ListType,
    MapType,
    ObjectType,
    SetType,
    TupleType,
    Type,
)
from nigari.cty.values import (
    DYNAMIC_NULL,
    DYNAMIC_UNKNOWN,
    EMPTY_TUPLE,
    FALSE,
    TRUE,
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

Binary = Callable[[Value, Value], Value]

N1, N2, N3 = number(1), number(2), number(3)
A, B = string("a"), string("b")
U_NUMBER, U_STRING, U_BOOL = unknown(NUMBER), unknown(STRING), unknown(BOOL)
SOME_BOOL = refine_not_null(U_BOOL)
SOME_NUMBER = refine_not_null(U_NUMBER)
LIST_AB = list_value(STRING, [A, B])
MAP_A = map_value(STRING, {"a": A})
OBJECT = object_value({"name": A, "count": N1})


def between(low: int, high: int) -> Value:
    return refine(U_NUMBER, Refinement(lower=(low, True), upper=(high, True)))


def some_between(low: int, high: int) -> Value:
    return refine(U_NUMBER, Refinement(not_null=True, lower=(low, True), upper=(high, True)))


def beginning(prefix: str) -> Value:
    return refine(U_STRING, Refinement(prefix=prefix))


def of_length(type_: Type, low: int, high: int) -> Value:
    return refine(unknown(type_), Refinement(min_length=low, max_length=high))


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        pytest.param(N1, number("1.0"), TRUE, id="same number"),
        pytest.param(number("-0"), number(0), TRUE, id="negative zero"),
        pytest.param(N1, A, FALSE, id="different types"),
        pytest.param(null(STRING), null(NUMBER), TRUE, id="nulls of any types"),
        pytest.param(DYNAMIC_NULL, A, FALSE, id="null and not null"),
        pytest.param(LIST_AB, list_value(STRING, [A, B]), TRUE, id="same list"),
        pytest.param(LIST_AB, tuple_value([A, B]), FALSE, id="a list is no tuple"),
        pytest.param(OBJECT, object_value({"count": N1, "name": A}), TRUE, id="same object"),
        pytest.param(U_NUMBER, N1, SOME_BOOL, id="unknown"),
        pytest.param(U_NUMBER, A, FALSE, id="unknown of another type"),
        pytest.param(DYNAMIC_UNKNOWN, A, SOME_BOOL, id="dynamic"),
        pytest.param(U_STRING, DYNAMIC_NULL, SOME_BOOL, id="unknown may be null"),
        pytest.param(refine_not_null(U_STRING), DYNAMIC_NULL, FALSE, id="known not to be null"),
        pytest.param(between(2, 5), N1, FALSE, id="out of range"),
        pytest.param(between(2, 5), N2, SOME_BOOL, id="in range"),
        pytest.param(beginning("x-"), A, FALSE, id="prefix differs"),
        pytest.param(of_length(ListType(STRING), 3, 5), LIST_AB, FALSE, id="length differs"),
        pytest.param(
            tuple_value([U_STRING, A]), tuple_value([U_STRING, A]), SOME_BOOL, id="unknown part"
        ),
        pytest.param(
            tuple_value([A, U_STRING]), tuple_value([B, U_STRING]), FALSE, id="known part differs"
        ),
        pytest.param(
            object_value({"a": U_STRING, "b": N1}),
            object_value({"a": U_STRING, "b": N2}),
            FALSE,
            id="known attribute differs",
        ),
        pytest.param(
            set_value(STRING, [A, U_STRING]), set_value(STRING, [A, B]), SOME_BOOL, id="unknown in set"
        ),
        pytest.param(A.mark("m"), A, TRUE.mark("m"), id="marked"),
        pytest.param(
            tuple_value([A.mark("m")]), tuple_value([B.mark("n")]), FALSE.mark("m", "n"), id="marked part"
        ),
        pytest.param(
            tuple_value([A.mark("m")]), DYNAMIC_NULL, FALSE, id="null does not look at marked parts"
        ),
    ],
)  # fmt: skip
def test_equals(a: Value, b: Value, wanted: Value) -> None:
    assert operations.equals(a, b) == wanted
    assert operations.equals(b, a) == wanted


@pytest.mark.parametrize(
    ("operation", "a", "b", "wanted"),
    [
        (operations.add, N1, N2, N3),
        (operations.subtract, N1, N2, number(-1)),
        (operations.multiply, N2, N3, number(6)),
        (operations.divide, N1, number(4), number("0.25")),
        (operations.modulo, number(7), N3, N1),
        (operations.add, U_NUMBER, N1, SOME_NUMBER),
        (operations.add, DYNAMIC_UNKNOWN, N1, SOME_NUMBER),
        (operations.divide, between(1, 2), N1, SOME_NUMBER),
        (operations.add, between(1, 2), N3, some_between(4, 5)),
        (operations.subtract, N3, between(1, 2), some_between(1, 2)),
        (operations.multiply, between(-1, 2), N3, some_between(-3, 6)),
        (operations.multiply, number(0), U_NUMBER, number(0)),
        (operations.add, N1.mark("m"), N2, N3.mark("m")),
        (operations.add, N1.mark("m"), U_NUMBER.mark("n"), SOME_NUMBER.mark("m", "n")),
    ],
)
def test_arithmetic(operation: Binary, a: Value, b: Value, wanted: Value) -> None:
    assert operation(a, b) == wanted


@pytest.mark.parametrize(
    ("a", "b"), [(A, N1), (N1, null(NUMBER)), (N1, TRUE), (U_STRING, N1)], ids=str
)
def test_arithmetic_wants_numbers(a: Value, b: Value) -> None:
    with pytest.raises(CtyError):
        operations.add(a, b)
    with pytest.raises(CtyError):
        operations.less_than(a, b)


def test_negate_and_absolute() -> None:
    assert operations.negate(N1) == number(-1)
    assert operations.absolute(number(-3)) == N3
    assert operations.negate(U_NUMBER.mark("m")) == SOME_NUMBER.mark("m")
    at_least_zero = refine(U_NUMBER, Refinement(not_null=True, lower=(0, True)))
    assert operations.absolute(U_NUMBER) == at_least_zero


@pytest.mark.parametrize(
    ("operation", "a", "b", "wanted"),
    [
        (operations.less_than, N1, N2, TRUE),
        (operations.less_than, N2, N2, FALSE),
        (operations.less_than_or_equal, N2, N2, TRUE),
        (operations.greater_than, N2, N1, TRUE),
        (operations.greater_than_or_equal, N1, N2, FALSE),
        (operations.less_than, U_NUMBER, N1, SOME_BOOL),
        (operations.less_than, DYNAMIC_UNKNOWN, N1, SOME_BOOL),
        (operations.less_than, between(2, 5), number(9), TRUE),
        (operations.less_than, between(2, 5), N1, FALSE),
        (operations.less_than, between(2, 5), N3, SOME_BOOL),
        (operations.greater_than, between(2, 5), N1, TRUE),
        (operations.less_than, N1.mark("m"), N2, TRUE.mark("m")),
    ],
)
def test_comparison(operation: Binary, a: Value, b: Value, wanted: Value) -> None:
    assert operation(a, b) == wanted


@pytest.mark.parametrize(
    ("operation", "a", "b", "wanted"),
    [
        (operations.logical_and, TRUE, FALSE, FALSE),
        (operations.logical_and, TRUE, TRUE, TRUE),
        (operations.logical_or, FALSE, TRUE, TRUE),
        (operations.logical_or, FALSE, FALSE, FALSE),
        (operations.logical_and, U_BOOL, FALSE, FALSE),
        (operations.logical_and, U_BOOL, TRUE, SOME_BOOL),
        (operations.logical_or, TRUE, DYNAMIC_UNKNOWN, TRUE),
        (operations.logical_or, FALSE, DYNAMIC_UNKNOWN, SOME_BOOL),
        (operations.logical_and, TRUE.mark("m"), FALSE, FALSE.mark("m")),
        (operations.logical_and, U_BOOL, FALSE.mark("m"), FALSE.mark("m")),
    ],
)
def test_logic(operation: Binary, a: Value, b: Value, wanted: Value) -> None:
    assert operation(a, b) == wanted


def test_not() -> None:
    assert operations.logical_not(TRUE) == FALSE
    assert operations.logical_not(U_BOOL) == SOME_BOOL
    assert operations.logical_not(FALSE.mark("m")) == TRUE.mark("m")
    with pytest.raises(CtyError):
        operations.logical_not(null(BOOL))


@pytest.mark.parametrize(
    ("value", "key", "wanted"),
    [
        (LIST_AB, N1, B),
        (tuple_value([A, N2]), N1, N2),
        (MAP_A, A, A),
        (LIST_AB, U_NUMBER, U_STRING),
        (tuple_value([A, N2]), U_NUMBER, DYNAMIC_UNKNOWN),
        (unknown(TupleType((STRING, NUMBER))), N1, U_NUMBER),
        (unknown(ListType(STRING)), N1, U_STRING),
        (MAP_A, DYNAMIC_UNKNOWN, U_STRING),
        (DYNAMIC_UNKNOWN, A, DYNAMIC_UNKNOWN),
        (LIST_AB.mark("m"), N1.mark("n"), B.mark("m", "n")),
    ],
)
def test_index(value: Value, key: Value, wanted: Value) -> None:
    assert operations.index(value, key) == wanted


@pytest.mark.parametrize(
    ("value", "key"),
    [
        (LIST_AB, N2),
        (LIST_AB, number(-1)),
        (LIST_AB, number("0.5")),
        (LIST_AB, A),
        (LIST_AB, null(NUMBER)),
        (null(ListType(STRING)), N1),
        (MAP_A, B),
        (MAP_A, N1),
        (EMPTY_TUPLE, number(0)),
        (set_value(STRING, [A]), A),
        (A, N1),
    ],
    ids=str,
)
def test_no_such_element(value: Value, key: Value) -> None:
    with pytest.raises(CtyError):
        operations.index(value, key)


def test_has_index() -> None:
    assert operations.has_index(LIST_AB, N1) == TRUE
    assert operations.has_index(LIST_AB, N2) == FALSE
    assert operations.has_index(LIST_AB, A) == FALSE
    assert operations.has_index(MAP_A, B) == FALSE
    assert operations.has_index(unknown(TupleType((STRING,))), N1) == FALSE
    assert operations.has_index(unknown(MapType(STRING)), A.mark("m")) == SOME_BOOL.mark("m")
    with pytest.raises(CtyError):
        operations.has_index(OBJECT, A)


def test_has_element() -> None:
    letters = set_value(STRING, [A])
    assert operations.has_element(letters, A) == TRUE
    assert operations.has_element(letters, B) == FALSE
    assert operations.has_element(letters, N1) == FALSE
    assert operations.has_element(letters, U_STRING) == SOME_BOOL
    assert operations.has_element(set_value(STRING, [A, U_STRING]), B) == SOME_BOOL
    assert operations.has_element(set_value(STRING, [A, U_STRING]), A) == TRUE
    assert operations.has_element(unknown(SetType(STRING)), A) == SOME_BOOL


def test_has_element_of_which_a_part_is_unknown() -> None:
    pair = TupleType((STRING, STRING))
    pairs = set_value(pair, [tuple_value([A, B])])
    assert operations.has_element(pairs, tuple_value([A, U_STRING])) == SOME_BOOL
    assert operations.has_element(pairs, tuple_value([B, U_STRING])) == FALSE
    assert operations.has_element(set_value(pair, []), tuple_value([A, U_STRING])) == FALSE
    assert operations.has_element(set_value(pair, []), unknown(pair)) == SOME_BOOL


def test_get_attr() -> None:
    assert operations.get_attr(OBJECT, "name") == A
    assert operations.get_attr(OBJECT.mark("m"), "name") == A.mark("m")
    assert operations.get_attr(unknown(OBJECT.type), "count") == U_NUMBER
    assert operations.get_attr(DYNAMIC_UNKNOWN, "x") == DYNAMIC_UNKNOWN
    for value, name in ((OBJECT, "x"), (null(OBJECT.type), "name"), (MAP_A, "a")):
        with pytest.raises(CtyError):
            operations.get_attr(value, name)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (LIST_AB, N2),
        (MAP_A, N1),
        (OBJECT, N2),
        (unknown(TupleType((STRING, STRING))), N2),
        (set_value(STRING, [U_STRING]), N1),
        (set_value(STRING, [A, U_STRING]), some_between(1, 2)),
        (of_length(ListType(STRING), 1, 3), some_between(1, 3)),
        (LIST_AB.mark("m"), N2.mark("m")),
    ],
)
def test_length(value: Value, wanted: Value) -> None:
    assert operations.length(value) == wanted


def test_length_of_an_unknown_is_never_negative() -> None:
    for type_ in (ListType(STRING), DYNAMIC):
        length = operations.length(unknown(type_))
        assert operations.less_than(length, number(-1)) == FALSE
        assert not length.is_known


def test_results_carry_the_causes_of_their_operands() -> None:
    one, two = U_NUMBER.with_causes(("one",)), U_NUMBER.with_causes(("two",))
    assert operations.add(one, two).causes == ("one", "two")
    assert operations.less_than(one, N1).causes == ("one",)
    assert operations.index(LIST_AB, two).causes == ("two",)
    assert operations.get_attr(unknown(OBJECT.type).with_causes(("x",)), "name").causes == ("x",)
    assert operations.equals(tuple_value([one]), tuple_value([N1])).causes == ("one",)
    total = number(0)
    for i in range(10):
        total = operations.add(total, U_NUMBER.with_causes((i,)))
    assert total.causes == (0, 1, 2, 3)


small = st.integers(-4, 4)


@given(small, small, small, small)
def test_operations_on_ranges_never_contradict_the_known_result(
    a: int, slack_a: int, b: int, slack_b: int
) -> None:
    known = (number(a), number(b))
    ranges = (
        between(a - abs(slack_a), a + abs(slack_a)),
        between(b - abs(slack_b), b + abs(slack_b)),
    )
    for operation in (
        operations.add,
        operations.subtract,
        operations.multiply,
        operations.less_than,
        operations.greater_than_or_equal,
        operations.equals,
    ):
        wanted = operation(*known)
        guessed = operation(*ranges)
        if guessed.is_known:
            assert guessed == wanted
        else:
            possible = operations.equals(guessed, wanted)
            assert not possible.is_known or possible.as_bool()


values = st.recursive(
    st.one_of(
        small.map(number),
        st.booleans().map(boolean),
        st.sampled_from([A, B, null(STRING), U_STRING, U_NUMBER, DYNAMIC_UNKNOWN]),
    ),
    lambda parts: st.one_of(
        st.lists(parts, max_size=3).map(tuple_value),
        st.dictionaries(st.sampled_from("xyz"), parts, max_size=3).map(object_value),
    ),
    max_leaves=6,
)


@given(values, values)
def test_equality_is_symmetric_and_keeps_marks(a: Value, b: Value) -> None:
    assert operations.equals(a, b) == operations.equals(b, a)
    assert operations.equals(a.mark("m"), b).marks == {"m"}
    if a.is_wholly_known:
        assert operations.equals(a, a) == TRUE
    else:
        assert operations.equals(a, a) != FALSE


def test_object_type_of_an_unknown_object() -> None:
    type_ = ObjectType({"a": DYNAMIC})
    assert operations.get_attr(unknown(type_), "a") == DYNAMIC_UNKNOWN


def test_sets_of_objects_with_long_numbers_do_not_depend_on_order() -> None:
    one, two = (
        object_value({"id": number(123456789011)}),
        object_value({"id": number(123456789012)}),
    )
    equal = operations.equals(set_value(one.type, [one, two]), set_value(one.type, [two, one]))
    assert equal == TRUE

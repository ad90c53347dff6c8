"""Laws that hold for all values: conversion, unification, serialisation, sets, marks, unknowns."""

import contextlib
import gc
import pickle
from collections.abc import Callable, Iterator
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nigari import cty
from nigari.cty import operations
from nigari.cty.types import without_optional
from tests.cty.strategies import (
    NAMES,
    OPEN_TYPES,
    TYPES,
    all_marks,
    could_become,
    known,
    typed,
    unknowns,
    values,
)

PAIRS = st.tuples(TYPES, TYPES)


def converted(value: cty.Value, type_: cty.Type) -> cty.Value | None:
    try:
        return cty.convert(value, type_)
    except cty.CtyError:
        return None


# -- conversion -----------------------------------------------------------------------------------


@given(typed())
def test_conversion_to_its_own_type_is_the_value(value: cty.Value) -> None:
    assert cty.convert(value, value.type) is value
    assert cty.convert(value, cty.DYNAMIC) is value


@given(typed(), TYPES)
def test_the_result_is_of_the_type(value: cty.Value, wanted: cty.Type) -> None:
    result = converted(value, wanted)
    if result is not None:
        assert cty.conversion_exists(value.type, wanted, True)
        assert result.type == wanted
        assert cty.convert(result, wanted) is result


@given(typed(), OPEN_TYPES)
def test_the_result_conforms_to_an_open_type(value: cty.Value, wanted: cty.Type) -> None:
    result = converted(value, wanted)
    if result is not None and result.type != cty.DYNAMIC:
        assert not cty.conformance_errors(result.type, wanted)


@given(typed(), TYPES)
def test_safe_conversions_never_fail(value: cty.Value, wanted: cty.Type) -> None:
    if cty.conversion_exists(value.type, wanted, False):
        assert cty.conversion_exists(value.type, wanted, True)
        assert cty.convert(value, wanted).type == wanted


@given(TYPES, TYPES, st.data())
def test_without_a_conversion_everything_fails(
    source: cty.Type, wanted: cty.Type, data: st.DataObject
) -> None:
    assume(not cty.conversion_exists(source, wanted, True))
    with pytest.raises(cty.CtyError) as caught:
        cty.convert(data.draw(values(source)), wanted)
    assert caught.value.message


@given(typed(marked=True), TYPES)
def test_conversion_keeps_marks(value: cty.Value, wanted: cty.Type) -> None:
    result = converted(value, wanted)
    if result is not None:
        # What is dropped takes its marks along, and nothing else does.
        assert all_marks(result) <= all_marks(value)
        assert value.marks <= all_marks(result)
        plain = converted(value.unmark_deep()[0], wanted)
        assert plain is not None
        assert plain == result.unmark_deep()[0]


@given(typed(TYPES, marked=False), TYPES, st.data())
def test_conversion_of_unknowns_leaves_room_for_the_actual_value(
    value: cty.Value, wanted: cty.Type, data: st.DataObject
) -> None:
    promise = data.draw(blurred(value))
    expected, actual = converted(promise, wanted), converted(value, wanted)
    if actual is not None:
        assert expected is not None
        assert could_become(expected, actual)


def blurred(value: cty.Value) -> st.SearchStrategy[cty.Value]:
    """The value with parts of it made unknown, refined only by what is true of them."""

    def blur(_path: cty.Path, part: cty.Value) -> cty.Value:
        index = next(choices, 0)
        if index == 0:
            return part
        whole = cty.unknown(part.type)
        return cty.refine_not_null(whole) if index == 2 and cty.definitely_not_null(part) else whole

    choices: Iterator[int] = iter(())

    def apply(picked: list[int]) -> cty.Value:
        nonlocal choices
        choices = iter(picked)
        return cty.transform(value, blur)

    return st.lists(st.sampled_from([0, 0, 1, 2]), max_size=12).map(apply)


# -- unification ----------------------------------------------------------------------------------


@given(st.lists(OPEN_TYPES, min_size=1, max_size=4), st.booleans())
def test_all_types_convert_to_what_they_have_in_common(types: list[cty.Type], unsafe: bool) -> None:
    common = cty.unify(types, unsafe)
    if common is not None and common != cty.DYNAMIC:
        assert all(cty.conversion_exists(type_, common, unsafe) for type_ in types)


@given(st.lists(TYPES, min_size=1, max_size=4))
def test_order_and_repetition_do_not_matter(types: list[cty.Type]) -> None:
    common = cty.unify(types)
    assert cty.unify([*types, *types]) == common
    assert cty.unify(list(reversed(types))) == common
    if common is not None:
        assert cty.unify([common]) == common


@given(TYPES)
def test_a_type_has_itself_in_common_with_itself(type_: cty.Type) -> None:
    assert cty.unify([type_, type_]) == type_
    assert cty.unify([]) is None
    assert without_optional(type_) is type_


# -- serialisation --------------------------------------------------------------------------------


@given(OPEN_TYPES)
def test_types_survive_json(type_: cty.Type) -> None:
    assert cty.type_from_json(cty.type_to_json(type_)) == type_


@given(typed(unknown=False, marked=False))
def test_values_survive_json(value: cty.Value) -> None:
    text = cty.value_to_json(value)
    assert cty.value_from_json(text, value.type) == value
    assert cty.value_from_json(text.encode(), value.type) == value
    dynamic = cty.value_to_json(value, cty.DYNAMIC)
    assert cty.value_from_json(dynamic, cty.DYNAMIC) == value
    assert not set("<>&\u2028\u2029") & set(text)


@given(typed(unknown=False, marked=False))
def test_implied_values_write_the_same_json(value: cty.Value) -> None:
    text = cty.value_to_json(value)
    implied = cty.implied_value_from_json(text)
    assert cty.value_to_json(implied) == text
    assert cty.json.implied_type(text) == implied.type


@given(typed(marked=False))
def test_values_survive_msgpack(value: cty.Value) -> None:
    data = cty.msgpack.marshal(value, value.type)
    wanted = with_one_zero(value)
    assert cty.msgpack.unmarshal(data, value.type) == wanted
    dynamic = cty.msgpack.marshal(value, cty.DYNAMIC)
    assert cty.msgpack.unmarshal(dynamic, cty.DYNAMIC) == wanted
    cty.msgpack.implied_type(data)


def with_one_zero(value: cty.Value) -> cty.Value:
    """What msgpack makes of a value: -0 is 0 there, which sorts elsewhere in a set of objects."""
    zero = cty.number(0)
    return cty.transform(value, lambda _, part: zero if part == cty.number("-0") else part)


HOLLOW = st.recursive(
    st.just(cty.null(cty.DYNAMIC)) | typed(TYPES, unknown=False, marked=False),
    lambda inner: (
        st.dictionaries(NAMES, inner, min_size=1, max_size=4).map(cty.object_value)
        | st.lists(inner, min_size=1, max_size=4).map(cty.tuple_value)
    ),
    max_leaves=8,
)
"""Values with nulls of no type inside, whose types are rebuilt when they are read."""


@given(st.lists(HOLLOW, min_size=2, max_size=8), st.booleans())
def test_open_parts_are_each_read_with_their_own_type(
    parts: list[cty.Value], pressed: bool
) -> None:
    value = cty.object_value({f"part{i}": part for i, part in enumerate(parts)})
    open_type = cty.ObjectType(dict.fromkeys(value.mapping(), cty.DYNAMIC))
    packed, text = cty.msgpack.marshal(value, open_type), cty.value_to_json(value, open_type)
    with memory_reused() if pressed else contextlib.nullcontext():
        assert cty.msgpack.unmarshal(packed, open_type) == with_one_zero(value)
        assert cty.value_from_json(text, open_type) == value
        assert cty.value_to_json(value, open_type) == text


@contextlib.contextmanager
def memory_reused() -> Iterator[None]:
    """Collect as often as possible, so that what is freed makes room for the next thing."""
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(1, 1, 1)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@given(typed())
def test_values_survive_pickling(value: cty.Value) -> None:
    again: cty.Value = pickle.loads(pickle.dumps(value))
    assert again == value
    assert hash(again) == hash(value)
    assert repr(again) == repr(value)


@given(typed(unknown=False, marked=False))
def test_what_goes_to_python_comes_back(value: cty.Value) -> None:
    assume(cty.NUMBER not in {part.type for _, part in cty.walk(value)})
    assert cty.convert(cty.Value.of(value.to_python()), value.type) == value


@given(st.binary(max_size=40), OPEN_TYPES)
def test_any_bytes_are_a_value_or_an_error(data: bytes, type_: cty.Type) -> None:
    for work in (
        lambda: cty.msgpack.unmarshal(data, type_),
        lambda: cty.msgpack.implied_type(data),
        lambda: cty.value_from_json(data, type_),
        lambda: cty.type_from_json(data),
    ):
        with contextlib.suppress(cty.CtyError):
            work()


# -- sets -----------------------------------------------------------------------------------------


@given(TYPES.flatmap(lambda t: st.tuples(st.just(t), st.lists(known(t), max_size=6))), st.randoms())
def test_sets_have_one_form(found: tuple[cty.Type, list[cty.Value]], random: Random) -> None:
    type_, elements = found
    whole = cty.set_value(type_, elements)
    shuffled = list(elements)
    random.shuffle(shuffled)
    assert cty.set_value(type_, [*shuffled, *elements]) == whole
    assert whole.length_int() == len(set(elements))
    assert all(operations.has_element(whole, element).as_bool() for element in elements)
    as_list = cty.convert(whole, cty.ListType(type_))
    assert cty.convert(as_list, whole.type) == whole


# -- marks ----------------------------------------------------------------------------------------


@given(typed())
def test_marks_come_off_and_go_back(value: cty.Value) -> None:
    plain, marks = cty.unmark_deep_with_paths(value)
    assert not plain.contains_marked
    assert cty.mark_with_paths(plain, marks) == value
    assert value.contains_marked == bool(marks)


NUMERIC: list[Callable[[cty.Value, cty.Value], cty.Value]] = [
    operations.add,
    operations.subtract,
    operations.multiply,
    operations.less_than,
    operations.greater_than_or_equal,
    operations.equals,
    operations.not_equals,
]
PROBES = st.integers(-10, 310).map(cty.number)


@given(st.sampled_from(NUMERIC), PROBES | unknowns(cty.NUMBER), PROBES | unknowns(cty.NUMBER))
def test_operations_keep_marks(
    operation: Callable[[cty.Value, cty.Value], cty.Value], a: cty.Value, b: cty.Value
) -> None:
    plain = operation(a, b)
    result = operation(a.mark("left"), b.mark("right"))
    assert result.marks == {"left", "right"}
    assert result.unmark()[0] == plain


# -- unknown operands -----------------------------------------------------------------------------


def unknown_for(number: cty.Value) -> st.SearchStrategy[cty.Value]:
    """Unknown numbers that may turn out to be this one."""
    exact = number.as_number()
    lower = st.sampled_from([None, (exact, True), (-20, False)])
    upper = st.sampled_from([None, (exact, True), (400, False)])
    return st.builds(
        lambda low, high, sure: cty.refine(
            cty.unknown(cty.NUMBER), cty.Refinement(sure, low, high)
        ),
        lower,
        upper,
        st.booleans(),
    )


@given(st.sampled_from(NUMERIC), PROBES, PROBES, st.data())
def test_unknown_operands_never_contradict_the_known_result(
    operation: Callable[[cty.Value, cty.Value], cty.Value],
    a: cty.Value,
    b: cty.Value,
    data: st.DataObject,
) -> None:
    actual = operation(a, b)
    left, right = data.draw(unknown_for(a)), data.draw(unknown_for(b))
    for promise in (operation(left, b), operation(a, right), operation(left, right)):
        assert could_become(promise, actual)


@given(typed(TYPES, marked=False), typed(TYPES, unknown=False, marked=False), st.data())
def test_equality_with_unknown_parts_never_contradicts(
    value: cty.Value, other: cty.Value, data: st.DataObject
) -> None:
    value = cty.unknown_as_null(value)
    promise = data.draw(blurred(value))
    for right in (other, value):
        assert could_become(operations.equals(promise, right), operations.equals(value, right))


@given(typed(TYPES, unknown=False, marked=False), st.data())
def test_length_with_unknown_parts_never_contradicts(value: cty.Value, data: st.DataObject) -> None:
    assume(not value.is_null and not value.type.is_primitive)
    promise = data.draw(blurred(value))
    assert could_become(operations.length(promise), operations.length(value))

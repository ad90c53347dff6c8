"""What is known of unknown values."""

import pytest

from nigari import cty
from nigari.cty import BOOL, NUMBER, STRING, ListType, MapType, Refinement, SetType, Value
from nigari.cty.refinements import (
    definitely_not_null,
    length_bounds,
    number_bounds,
    range_excludes,
    string_prefix,
)

of = Value.of


def refined(type_: cty.Type, *by: Refinement) -> Value:
    value = cty.unknown(type_)
    for refinement in by:
        value = cty.refine(value, refinement)
    return value


def test_ranges_get_narrower_only() -> None:
    value = refined(NUMBER, Refinement(lower=(1, True)), Refinement(lower=(0, True)))
    assert number_bounds(value)[:2] == (1, True)
    value = refined(NUMBER, Refinement(lower=(1, True)), Refinement(lower=(1, False)))
    assert number_bounds(value)[:2] == (1, False)
    value = refined(NUMBER, Refinement(upper=(5, False)), Refinement(upper=(9, True)))
    assert number_bounds(value)[2:] == (5, False)
    value = refined(STRING, Refinement(prefix="ab"), Refinement(prefix="a"))
    assert string_prefix(value) == "ab"
    value = refined(ListType(BOOL), Refinement(min_length=2), Refinement(max_length=3))
    assert length_bounds(value) == (2, 3)


@pytest.mark.parametrize(
    ("value", "by"),
    [
        (refined(NUMBER, Refinement(lower=(5, True))), Refinement(upper=(4, True))),
        (refined(NUMBER, Refinement(lower=(5, True))), Refinement(upper=(5, False))),
        (refined(STRING, Refinement(prefix="a")), Refinement(prefix="b")),
        (refined(ListType(BOOL), Refinement(min_length=3)), Refinement(max_length=2)),
        (cty.null(STRING), Refinement(not_null=True)),
        (of(5), Refinement(lower=(5, False))),
        (of("abc"), Refinement(prefix="b")),
        (cty.list_value(BOOL, []), Refinement(min_length=1)),
    ],
)
def test_contradictions(value: Value, by: Refinement) -> None:
    with pytest.raises(cty.CtyError):
        cty.refine(value, by)


@pytest.mark.parametrize(
    ("type_", "by", "value"),
    [
        (NUMBER, Refinement(True, (5, True), (5, True)), of(5)),
        (ListType(BOOL), Refinement(True, max_length=0), cty.list_value(BOOL, [])),
        (MapType(BOOL), Refinement(True, max_length=0), cty.map_value(BOOL, {})),
        (SetType(BOOL), Refinement(True, max_length=0), cty.set_value(BOOL, [])),
        (
            ListType(BOOL),
            Refinement(True, min_length=2, max_length=2),
            cty.list_value(BOOL, [cty.unknown(BOOL)] * 2),
        ),
    ],
)
def test_only_one_possibility_left(type_: cty.Type, by: Refinement, value: Value) -> None:
    assert refined(type_, by) == value
    by.not_null = False
    assert not refined(type_, by).is_known


def test_what_holds_already_changes_nothing() -> None:
    assert cty.refine(of("abc"), Refinement(True, prefix="ab")) == of("abc")
    assert cty.refine(cty.DYNAMIC_UNKNOWN, Refinement(True)) == cty.DYNAMIC_UNKNOWN
    assert cty.refine_not_null(of(1)) == of(1)


def test_marks_and_causes_stay() -> None:
    value = cty.unknown(NUMBER).with_causes(("x",)).mark("m")
    value = cty.refine(value, Refinement(True, (0, True)))
    assert value.marks == {"m"}
    assert value.causes == ("x",)


@pytest.mark.parametrize(
    ("value", "candidate", "excluded"),
    [
        (cty.unknown(STRING), cty.null(STRING), False),
        (cty.refine_not_null(cty.unknown(STRING)), cty.null(STRING), True),
        (refined(STRING, Refinement(prefix="a")), of("b"), True),
        (refined(STRING, Refinement(prefix="a")), of("ab"), False),
        (refined(NUMBER, Refinement(lower=(1, True))), of(0), True),
        (refined(NUMBER, Refinement(lower=(1, True))), of(1), False),
        (refined(ListType(BOOL), Refinement(min_length=1)), cty.list_value(BOOL, []), True),
        (cty.unknown(STRING), cty.unknown(STRING), False),
    ],
)
def test_exclusion(value: Value, candidate: Value, excluded: bool) -> None:
    assert range_excludes(value, candidate) is excluded


def test_ranges_of_known_values() -> None:
    assert definitely_not_null(of("a"))
    assert not definitely_not_null(cty.null(STRING))
    assert number_bounds(of(3)) == (3, True, 3, True)
    assert string_prefix(of("abc")) == "abc"
    assert length_bounds(cty.list_value(BOOL, [cty.TRUE])) == (1, 1)
    some = cty.set_value(STRING, [of("a"), cty.unknown(STRING)])
    assert length_bounds(some) == (1, 2)


@pytest.mark.parametrize(
    ("type_", "by"),
    [
        (STRING, Refinement(lower=(0, True))),
        (NUMBER, Refinement(prefix="a")),
        (STRING, Refinement(min_length=1)),
        (cty.TupleType(()), Refinement(max_length=1)),
    ],
)
def test_misuse(type_: cty.Type, by: Refinement) -> None:
    with pytest.raises(TypeError):
        refined(type_, by)

"""Values: how they are built, what they hold, how they compare."""

import math
import pickle
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from typing import cast

import pytest

from nigari import cty
from nigari.cty import BOOL, DYNAMIC, NUMBER, STRING, ListType, MapType, SetType, Value

of = Value.of


def test_strings_are_composed() -> None:
    assert cty.string("e\u0301").as_string() == "é"
    assert list(cty.object_value({"e\u0301": cty.TRUE}).mapping()) == ["é"]
    assert list(cty.map_value(BOOL, {"e\u0301": cty.TRUE}).mapping()) == ["é"]


@pytest.mark.parametrize(
    ("python", "type_"),
    [
        (None, DYNAMIC),
        (True, BOOL),
        (1, NUMBER),
        (1.5, NUMBER),
        ("a", STRING),
        ([1, "a"], cty.TupleType((NUMBER, STRING))),
        ((), cty.TupleType(())),
        ({"a": 1}, cty.ObjectType({"a": NUMBER})),
        ({"a", "b"}, SetType(STRING)),
        (frozenset(), SetType(DYNAMIC)),
        (cty.TRUE, BOOL),
    ],
)
def test_from_python(python: object, type_: cty.Type) -> None:
    assert of(python).type == type_


@pytest.mark.parametrize(
    ("python", "way"),
    [
        ({1: 2}, ""),
        (object(), ""),
        (b"a", ""),
        ([1, b"a"], "[1]: "),
        ({"a": [{}, {"b": (b"c",)}]}, "['a'][1]['b'][0]: "),
        ({"a": [{1: 2}]}, "['a'][0]: "),
    ],
)
def test_not_from_python(python: object, way: str) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(way)}an? "):
        of(python)


def test_dates_and_times_are_texts() -> None:
    moment = datetime(2026, 5, 17, 8, 30, tzinfo=UTC)
    assert of([moment, moment.date(), moment.time()]).to_python() == [
        "2026-05-17T08:30:00+00:00",
        "2026-05-17",
        "08:30:00",
    ]


def test_to_python() -> None:
    data = {"a": [1, 1.5, None, "x", True], "b": {}}
    assert of(data).to_python() == data
    assert cty.set_value(STRING, [of("b"), of("a")]).to_python() == ["a", "b"]
    unknown, marked = cty.unknown(STRING), of("a").mark("m")
    elements = {"k": unknown, "l": of("a")}
    for value, message in (
        (unknown, "the value is unknown"),
        (of({"a": ["a", unknown]}), ".a[1] is unknown"),
        (marked, "the value is marked"),
        (of([{"b": marked}]), "[0].b is marked"),
        (of([marked, unknown]), "[1] is unknown"),
        (of([cty.map_value(STRING, elements)]), "[0]['k'] is unknown"),
        (cty.set_value(STRING, [of("a"), unknown]), "[(unknown)] is unknown"),
    ):
        with pytest.raises(cty.CtyError, match=f"^{re.escape(message)}$"):
            value.to_python()


def test_maps_and_objects_are_read_like_dicts() -> None:
    value = of({"b": 1, "a": "x"})
    assert (value.keys(), value.values()) == (["a", "b"], [of("x"), of(1)])
    assert (value.get("a"), value.get("c"), value.get("c", of(2))) == (of("x"), None, of(2))
    assert dict(value) == {"a": of("x"), "b": of(1)}
    assert value.mark("m").values() == [of("x").mark("m"), of(1).mark("m")]
    with pytest.raises(TypeError):
        of([1]).keys()


def test_slices() -> None:
    value = of([1, "a", True])
    assert value[1:] == of(["a", True])
    assert value[::-1].mark("m") == value.mark("m")[::-1]
    numbers = cty.list_value(NUMBER, [of(1), of(2)])
    assert (numbers[:1].type, numbers[2:]) == (numbers.type, cty.list_value(NUMBER, []))
    with pytest.raises(TypeError, match="no positions"):
        cty.set_value(NUMBER, [of(1)])[:1]


def test_a_tuple_type_takes_any_sequence() -> None:
    assert cty.TupleType([STRING, NUMBER]) == cty.TupleType((STRING, NUMBER))


def test_flags_tell_what_is_inside() -> None:
    plain = of({"a": [1]})
    assert plain.is_wholly_known
    assert not plain.contains_marked
    partly = of({"a": [cty.unknown(STRING)]})
    assert partly.is_known
    assert not partly.is_wholly_known
    marked = of({"a": [of(1).mark("m")]})
    assert marked.contains_marked
    assert not marked.is_marked
    assert marked.unmark_deep() == (plain, frozenset({"m"}))
    assert not marked.unmark_deep()[0].contains_marked


def test_payloads() -> None:
    assert of("a").as_string() == "a"
    assert of(True).as_bool() is True
    assert of(7).as_number() == 7
    assert of([1, 2]).length_int() == 2
    assert of({"b": 1, "a": 2}).elements() == (of(2), of(1))
    assert of({"b": 1}).items() == [(of("b"), of(1))]
    assert of(["x"]).items() == [(of(0), of("x"))]
    for misuse in (of(1).as_string, of("a").as_bool, of(True).as_number, of("a").sequence):
        with pytest.raises(TypeError, match="is required"):
            misuse()
    with pytest.raises(TypeError):
        cty.unknown(STRING).as_string()
    with pytest.raises(TypeError):
        bool(cty.TRUE)


def test_sets_are_sorted_and_free_of_duplicates() -> None:
    numbers = [cty.number(n) for n in (10, 9, -1, 10, 2.5)]
    assert cty.set_value(NUMBER, numbers).to_python() == [-1, 2.5, 9, 10]
    assert cty.set_value(BOOL, [cty.TRUE, cty.FALSE]).elements() == (cty.FALSE, cty.TRUE)
    some = cty.set_value(STRING, [cty.null(STRING), cty.unknown(STRING), of("b"), of("a")])
    assert some.elements() == (of("a"), of("b"), cty.unknown(STRING), cty.null(STRING))
    pair = cty.ObjectType({"a": STRING, "b": NUMBER})
    rows = cty.set_value(pair, [of({"a": "y", "b": 1}), of({"a": "x", "b": 2})])
    assert [row.mapping()["a"].as_string() for row in rows.sequence()] == ["x", "y"]


def test_unknown_elements_of_a_set_are_never_equal() -> None:
    two = cty.set_value(STRING, [cty.unknown(STRING), cty.unknown(STRING)])
    assert two.length_int() == 2


def test_sets_hold_no_marks_inside() -> None:
    marked = cty.set_value(STRING, [of("a").mark("m"), of("b")])
    assert marked.marks == {"m"}
    assert not any(element.contains_marked for element in marked.sequence())


@pytest.mark.parametrize("build", [cty.list_value, cty.set_value])
def test_elements_are_of_the_type(build: object) -> None:
    assert callable(build)
    with pytest.raises(TypeError, match="convert it first"):
        build(STRING, [of(1)])
    late = build(STRING, [cty.DYNAMIC_UNKNOWN])
    assert late.sequence()[0].type == STRING


def test_elements_of_a_map_are_of_the_type() -> None:
    with pytest.raises(TypeError):
        cty.map_value(STRING, {"a": of(1)})
    late = cty.map_value(STRING, {"a": of("x"), "b": cty.DYNAMIC_UNKNOWN})
    assert late.mapping()["b"] == cty.unknown(STRING)
    assert not late.is_wholly_known


def test_equality_is_exact() -> None:
    assert of([1]) == of([1])
    assert of([1]) != cty.list_value(NUMBER, [of(1)])
    assert of(1) != of(1).mark("m")
    assert cty.unknown(STRING) != cty.refine_not_null(cty.unknown(STRING))
    assert cty.unknown(STRING).with_causes(("x",)) == cty.unknown(STRING)
    assert of(1) != 2
    assert len({of({"a": 1}), of({"a": 1}), of({"a": 2})}) == 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (of({"b": [1, None], "a": "x"}), "<object {a = 'x', b = [1, null]}>"),
        (of("secret").mark("sensitive"), "<string (marked)>"),
        (of({"a": of("secret").mark("sensitive")}), "<object {a = (marked)}>"),
        (cty.unknown(ListType(STRING)), "<list of string (unknown)>"),
        (
            cty.refine(cty.unknown(NUMBER), cty.Refinement(True, (0, True), (5, False))),
            "<number (unknown: not null, >= 0, < 5)>",
        ),
        (of(True), "<bool true>"),
    ],
)
def test_repr(value: Value, text: str) -> None:
    assert repr(value) == text


def test_causes_are_carried_and_not_compared() -> None:
    value = cty.unknown(STRING).with_causes(("x",))
    assert value.causes == ("x",)
    assert of("a").with_causes(("x",)).causes == ()
    again: Value = pickle.loads(pickle.dumps(value))
    assert again.causes == ("x",)


def test_capsules_hold_their_python_type() -> None:
    thing = cty.CapsuleType("thing", dict)
    assert cty.capsule_value(thing, {"a": 1}).to_python() == {"a": 1}
    with pytest.raises(TypeError):
        cty.capsule_value(thing, [])


def test_no_number_is_not_a_number() -> None:
    with pytest.raises(cty.CtyError):
        cty.number(math.nan)


def test_nulls_and_unknowns() -> None:
    assert cty.null(MapType(STRING)).is_null
    assert cty.null(STRING) is cty.null(STRING)
    assert cty.unknown(STRING) is cty.unknown(STRING)
    assert not cty.unknown(STRING).is_known
    assert not cty.unknown(STRING).is_null


class Level(Enum):
    LOW = "low"


class Text(str, Enum):  # noqa: UP042 - people have such classes
    A = "a"


@dataclass
class Point:
    x: int
    where: PurePosixPath


@pytest.mark.parametrize(
    ("python", "value"),
    [
        (Decimal("0.1"), cty.number("0.1")),
        (Decimal("1e30"), cty.number(10**30)),
        (PurePosixPath("a/b"), cty.string("a/b")),
        (Level.LOW, cty.string("low")),
        (Text.A, cty.string("a")),
        (Point(1, PurePosixPath("p")), of({"x": 1, "where": "p"})),
        (range(2), of([0, 1])),
        ({"p": [Point(1, PurePosixPath("p"))]}, of({"p": [{"x": 1, "where": "p"}]})),
    ],
)
def test_more_than_plain_data(python: object, value: Value) -> None:
    assert of(python) == value
    assert isinstance(of(python).to_python(), type(value.to_python()))


@pytest.mark.parametrize("given", [True, None, [1]])
def test_what_is_no_number(given: int) -> None:
    with pytest.raises(TypeError):
        cty.number(given)


@pytest.mark.parametrize("given", [b"x", 5, None])
def test_what_is_no_string(given: str) -> None:
    with pytest.raises(TypeError):
        cty.string(given)


def test_strings_of_other_classes() -> None:
    assert type(cty.string(Text.A).data) is str


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("1e400", 10**400),
        ("-1e400", -(10**400)),
        ("0.1", 0.1),
        ("1e-400", 0.0),
        ("18446744073709551617", 2**64 + 1),
    ],
)
def test_numbers_that_a_float_cannot_hold(text: str, python: object) -> None:
    found = cty.number(text).to_python()
    assert found == python
    assert type(found) is type(python)


def test_a_number_too_large_for_memory() -> None:
    with pytest.raises(cty.CtyError):
        cty.number("1e500000").to_python()


def test_a_decimal_has_all_digits() -> None:
    digits = "0.1234567890123456789012345678901234567890"
    assert cty.number(digits).as_decimal() == Decimal(digits)
    assert cty.number(Decimal(digits)) == cty.number(digits)


def test_elements_by_position_and_key() -> None:
    value = of({"a": [1, {"b": "x"}]})
    assert value["a"][1]["b"].as_string() == "x"
    assert value["a"][-2] == of(1)
    assert value[of("a")][of(0)] == of(1)
    with pytest.raises(KeyError):
        value["c"]
    with pytest.raises(IndexError):
        value["a"][2]
    with pytest.raises(TypeError):
        value[0]
    with pytest.raises(TypeError):
        value["a"][True]


def test_an_element_has_the_marks_of_the_whole() -> None:
    secret = of({"a": ["x"]}).mark("sensitive")
    assert secret["a"].marks == secret["a"][0].marks == {"sensitive"}
    assert [each.marks for each in secret["a"] if isinstance(each, Value)] == [{"sensitive"}]


def test_a_value_as_a_python_collection() -> None:
    numbers = of([1, 2])
    assert len(numbers) == 2
    assert list(numbers) == [of(1), of(2)]
    assert 1 in numbers
    assert of(2) in numbers
    assert "1" not in numbers
    both = of({"b": 1, "a": 2})
    assert list(both) == ["a", "b"]
    assert "a" in both
    assert 1 not in both
    for wrong in (of("text"), cty.null(ListType(STRING)), cty.unknown(ListType(STRING))):
        with pytest.raises(TypeError):
            len(wrong)
        with pytest.raises(TypeError):
            iter(wrong)


def test_match() -> None:
    match of(["a"]):
        case Value(cty.TupleType((first,)), data):
            assert (first, data) == (STRING, (of("a"),))
        case _:
            pytest.fail("no case matched")
    match cty.list_value(STRING, []).type:
        case ListType(element):
            assert element is STRING


@pytest.mark.parametrize("given", ["a", 1, None, [cty.TRUE]])
def test_elements_are_values(given: object) -> None:
    """Compiled or not, though the words differ."""
    wrong = cast(cty.Value, given)
    for build in (
        lambda: cty.list_value(cty.STRING, [wrong]),
        lambda: cty.set_value(cty.STRING, [wrong]),
        lambda: cty.map_value(cty.STRING, {"a": wrong}),
        lambda: cty.tuple_value([wrong]),
        lambda: cty.object_value({"a": wrong}),
        lambda: cty.ListType(cast(cty.Type, given)),
        lambda: cty.convert(wrong, cty.NUMBER),
    ):
        with pytest.raises(TypeError):
            build()

"""Conversion: one row per rule. Each gives a value, the type wanted, and what must come out."""

import pytest

from nigari import cty
from nigari.cty import BOOL, DYNAMIC, NUMBER, STRING, ListType, MapType, SetType, Type, Value
from nigari.cty.convert import conversion_for

of = Value.of
not_null = cty.refine_not_null


def obj(optional: str = "", **attributes: Type) -> cty.ObjectType:
    return cty.ObjectType(attributes, frozenset(optional.split()))


def tup(*elements: Type) -> cty.TupleType:
    return cty.TupleType(elements)


def strings(*texts: str) -> Value:
    return cty.list_value(STRING, [cty.string(text) for text in texts])


def a_set(element: Type, *found: object) -> Value:
    return cty.set_value(element, [of(item) for item in found])


CASES: list[tuple[str, Value, Type, Value]] = [
    ("number to string", of(12.5), STRING, of("12.5")),
    ("large number to string", cty.number("1e30"), STRING, of("1" + "0" * 30)),
    ("bool to string", of(True), STRING, of("true")),
    ("string to number", of("1e3"), NUMBER, of(1000)),
    ("string to bool", of("0"), BOOL, of(False)),
    ("null keeps being null", cty.null(NUMBER), STRING, cty.null(STRING)),
    ("null of no type", cty.null(DYNAMIC), obj(a=STRING), cty.null(obj(a=STRING))),
    ("unknown", cty.unknown(NUMBER), STRING, cty.unknown(STRING)),
    (
        "unknown that is not null",
        not_null(cty.unknown(NUMBER)),
        STRING,
        not_null(cty.unknown(STRING)),
    ),
    ("unknown of no type", cty.DYNAMIC_UNKNOWN, ListType(STRING), cty.unknown(ListType(STRING))),
    ("anything to dynamic", of([1, "a"]), DYNAMIC, of([1, "a"])),
    ("tuple to list", of([1, "a", True]), ListType(STRING), strings("1", "a", "true")),
    ("tuple to a list of anything", of([1, "a"]), ListType(DYNAMIC), strings("1", "a")),
    ("empty tuple to a list of anything", of([]), ListType(DYNAMIC), cty.list_value(DYNAMIC, [])),
    ("tuple to set", of(["b", "a", "b"]), SetType(STRING), a_set(STRING, "a", "b")),
    ("tuple to tuple", of([1, "2"]), tup(STRING, NUMBER), of(["1", 2])),
    ("set to list", a_set(NUMBER, 2, 1), ListType(STRING), strings("1", "2")),
    ("list to set", strings("b", "a", "a"), SetType(STRING), a_set(STRING, "a", "b")),
    (
        "list to list",
        strings("1", "2"),
        ListType(NUMBER),
        cty.list_value(NUMBER, [of(1), of(2)]),
    ),
    (
        "a set of what is not known yet has no order",
        cty.set_value(STRING, [of("a"), cty.unknown(STRING)]),
        ListType(STRING),
        cty.unknown(ListType(STRING)),
    ),
    (
        "object to map",
        of({"a": 1, "b": "x"}),
        MapType(STRING),
        cty.map_value(STRING, {"a": of("1"), "b": of("x")}),
    ),
    (
        "object to a map of anything",
        of({"a": 1, "b": 2}),
        MapType(DYNAMIC),
        cty.map_value(NUMBER, {"a": of(1), "b": of(2)}),
    ),
    (
        "map to object",
        cty.map_value(STRING, {"a": of("1"), "extra": of("x")}),
        obj(a=NUMBER),
        of({"a": 1}),
    ),
    (
        "map to object without an optional attribute",
        cty.map_value(STRING, {"a": of("1")}),
        obj("b", a=NUMBER, b=ListType(STRING)),
        cty.object_value({"a": of(1), "b": cty.null(ListType(STRING))}),
    ),
    ("object loses attributes", of({"a": 1, "b": 2}), obj(a=STRING), of({"a": "1"})),
    (
        "optional attributes become null",
        of({"a": 1}),
        obj("b", a=NUMBER, b=obj("c", c=STRING)),
        cty.object_value({"a": of(1), "b": cty.null(obj(c=STRING))}),
    ),
    (
        "rows of different objects",
        of([{"a": 1}, {"a": "x", "b": 2}]),
        ListType(obj("b", a=STRING, b=NUMBER)),
        cty.list_value(
            obj(a=STRING, b=NUMBER),
            [cty.object_value({"a": of("1"), "b": cty.null(NUMBER)}), of({"a": "x", "b": 2})],
        ),
    ),
    (
        "parts left open keep their types",
        of({"a": [1, "x"], "b": 1}),
        obj(a=DYNAMIC, b=STRING),
        of({"a": [1, "x"], "b": "1"}),
    ),
    (
        "lists within a list become alike",
        of([["a"], [1, 2]]),
        ListType(ListType(DYNAMIC)),
        cty.list_value(ListType(STRING), [strings("a"), strings("1", "2")]),
    ),
    (
        "marks stay where they are",
        cty.tuple_value([of(1).mark("m"), of(2)]).mark("n"),
        ListType(STRING),
        cty.list_value(STRING, [of("1").mark("m"), of("2")]).mark("n"),
    ),
    (
        "marks of a set's elements mark the set",
        cty.tuple_value([of("a").mark("m"), of("b")]),
        SetType(STRING),
        a_set(STRING, "a", "b").mark("m"),
    ),
    (
        "an unknown tuple becomes a list of known length",
        not_null(cty.unknown(tup(NUMBER, NUMBER))),
        ListType(STRING),
        cty.list_value(STRING, [cty.unknown(STRING), cty.unknown(STRING)]),
    ),
    (
        "an unknown tuple becomes a set of bounded length",
        not_null(cty.unknown(tup(NUMBER, NUMBER))),
        SetType(STRING),
        cty.refine(cty.unknown(SetType(STRING)), cty.Refinement(True, min_length=1, max_length=2)),
    ),
    (
        "an unknown list keeps its bounds",
        cty.refine(cty.unknown(ListType(NUMBER)), cty.Refinement(min_length=2, max_length=4)),
        ListType(STRING),
        cty.refine(cty.unknown(ListType(STRING)), cty.Refinement(min_length=2, max_length=4)),
    ),
]


@pytest.mark.parametrize(
    ("value", "wanted", "result"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_convert(value: Value, wanted: Type, result: Value) -> None:
    assert cty.conversion_exists(value.type, wanted, True)
    assert cty.convert(value, wanted) == result


REFUSED: list[tuple[str, Value, Type, str, str]] = [
    ("no number", of("x"), NUMBER, "", "number"),
    ("no bool", of("yes"), BOOL, "", "bool"),
    ("a bool in capitals", of("True"), BOOL, "", "lower case"),
    ("bool and number", of(True), NUMBER, "", "a number is required, not a bool"),
    ("number and bool", of(1), BOOL, "", "a bool is required, not a number"),
    ("no list", of("a"), ListType(STRING), "", "a list of string is required"),
    ("one missing attribute", of({}), obj(a=STRING), "", '"a"'),
    ("missing attributes", of({}), obj(a=STRING, b=STRING), "", '"a", "b"'),
    ("an attribute", of({"a": {"b": []}}), obj(a=obj(b=STRING)), ".a.b", "a string is required"),
    ("a value deep inside", of({"a": [{"b": "x"}]}), obj(a=ListType(obj(b=NUMBER))), ".a[0].b", ""),
    ("an element", of([1, []]), ListType(NUMBER), "[1]", "a number is required, not a tuple"),
    (
        "an element of a map",
        of({"x": 1, "y": []}),
        MapType(NUMBER),
        '["y"]',
        "a number is required",
    ),
    ("an element of a list", strings("1", "x"), ListType(NUMBER), "[1]", "number"),
    ("the elements of a list", strings(), ListType(obj(a=STRING)), "[…]", "an object is required"),
    ("elements with nothing in common", of([1, []]), ListType(DYNAMIC), "", "same type"),
    ("attributes with nothing in common", of({"a": 1, "b": []}), MapType(DYNAMIC), "", "same type"),
    ("the length of a tuple", of([1]), tup(NUMBER, NUMBER), "", "2 elements"),
    ("a map without the key", cty.map_value(STRING, {}), obj(a=STRING), "", '"a"'),
    (
        "a map with a key that cannot be",
        cty.map_value(STRING, {"a": of("x")}),
        obj("a", a=ListType(STRING)),
        '["a"]',
        "a list of string is required, not a string",
    ),
]


@pytest.mark.parametrize(
    ("value", "wanted", "path", "message"),
    [case[1:] for case in REFUSED],
    ids=[case[0] for case in REFUSED],
)
def test_refuse(value: Value, wanted: Type, path: str, message: str) -> None:
    with pytest.raises(cty.CtyError) as caught:
        cty.convert(value, wanted)
    assert cty.path_text(caught.value.path) == path
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("source", "target", "safe", "unsafe"),
    [
        (NUMBER, STRING, True, True),
        (STRING, NUMBER, False, True),
        (BOOL, NUMBER, False, False),
        (STRING, STRING, True, True),
        (STRING, DYNAMIC, True, True),
        (DYNAMIC, STRING, False, True),
        (ListType(STRING), SetType(STRING), False, True),
        (SetType(STRING), ListType(STRING), True, True),
        (tup(STRING), SetType(STRING), True, True),
        (tup(STRING), ListType(NUMBER), False, True),
        (MapType(STRING), obj(a=STRING), False, True),
        (obj(a=STRING), MapType(STRING), True, True),
        (obj(a=STRING, b=BOOL), obj(a=STRING), True, True),
        (obj(), obj("a", a=STRING), True, True),
        (obj(), obj(a=STRING), False, False),
        (ListType(STRING), MapType(STRING), False, False),
        (obj(a=STRING), ListType(STRING), False, False),
    ],
)
def test_conversion_exists(source: Type, target: Type, safe: bool, unsafe: bool) -> None:
    assert cty.conversion_exists(source, target, False) is safe
    assert cty.conversion_exists(source, target, True) is unsafe


def test_causes_of_unknowns_are_kept() -> None:
    because = cty.unknown(STRING).with_causes(("x",))
    assert cty.convert(because, NUMBER).causes == ("x",)
    some = cty.set_value(STRING, [of("a"), because])
    assert cty.convert(some, ListType(STRING)).causes == ("x",)


def test_what_is_of_the_type_already_is_returned_as_it_is() -> None:
    value = of({"a": [1, 2], "b": "x"})
    assert cty.convert(value, obj(a=tup(NUMBER, NUMBER), b=STRING)) is value
    assert cty.convert(value, obj("b", a=tup(NUMBER, NUMBER), b=STRING)) is value
    converted = cty.convert(value, obj(a=ListType(NUMBER), b=STRING))
    assert converted.mapping()["b"] is value.mapping()["b"]


def test_conversions_are_worked_out_once() -> None:
    pair = (obj(a=NUMBER), obj(a=STRING))
    assert conversion_for(*pair) is conversion_for(*pair)


def test_capsules_convert_to_nothing_else() -> None:
    thing = cty.CapsuleType("thing", dict)
    value = cty.capsule_value(thing, {})
    assert cty.convert(value, thing) is value
    assert cty.convert(value, DYNAMIC) is value
    with pytest.raises(cty.CtyError):
        cty.convert(value, STRING)
    with pytest.raises(cty.CtyError):
        cty.convert(of("a"), thing)

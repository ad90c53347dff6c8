"""JSON of types and values. Texts are compared byte by byte: other programs read and diff them."""

import pytest

from nigari import cty
from nigari.cty import BOOL, DYNAMIC, NUMBER, STRING, ListType, MapType, ObjectType, SetType, Value

of = Value.of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (of("a<b>&c"), '"a\\u003cb\\u003e\\u0026c"'),
        (of("\u2028\u2029"), '"\\u2028\\u2029"'),
        (of('"\\/'), '"\\"\\\\/"'),
        (of("\n\r\t\b\f\x00\x1f\x7f"), '"\\n\\r\\t\\b\\f\\u0000\\u001f\x7f"'),
        (of("é😀"), '"é😀"'),
        (Value(STRING, "\udcff"), '"\\ufffd"'),
        (cty.number("0.1"), "0.1"),
        (cty.number("1e30"), "1" + "0" * 30),
        (of(12345678901234567890123), "12345678901234567890123"),
        (of({"b": 1, "a": [True, None]}), '{"a":[true,null],"b":1}'),
        (of({"<": 1}), '{"\\u003c":1}'),
        (of({}), "{}"),
        (of([]), "[]"),
        (cty.map_value(NUMBER, {"b": of(1), "a": of(2)}), '{"a":2,"b":1}'),
        (cty.set_value(STRING, [of("b"), of("a")]), '["a","b"]'),
        (cty.null(ListType(STRING)), "null"),
    ],
)
def test_written(value: Value, text: str) -> None:
    assert cty.value_to_json(value) == text


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (cty.object_value({"a": cty.tuple_value([cty.unknown(STRING)])}), ".a[0]"),
        (cty.map_value(STRING, {"k": of("x").mark("m")}), '["k"]'),
        (cty.object_value({"n": cty.number(float("inf"))}), ".n"),
    ],
)
def test_without_a_json_form(value: Value, path: str) -> None:
    with pytest.raises(cty.CtyError) as caught:
        cty.value_to_json(value)
    assert cty.path_text(caught.value.path) == path


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        ('"a"', STRING, of("a")),
        ("1.50", STRING, of("1.50")),
        ("true", STRING, of("true")),
        ('"12"', NUMBER, of(12)),
        ('"true"', BOOL, of(True)),
        (' { "b" : 1 } ', ObjectType({"a": STRING, "b": NUMBER}), None),
        ('{"a":1,"a":2}', MapType(NUMBER), cty.map_value(NUMBER, {"a": of(2)})),
        ('["b","a","b"]', SetType(STRING), cty.set_value(STRING, [of("a"), of("b")])),
        ('{"value":[1],"type":["list","string"]}', DYNAMIC, None),
        ('"e\\u0301"', STRING, of("é")),
        ('"\\ud83d\\ude00"', STRING, of("😀")),
        ('"\\ud83d"', STRING, of("\ufffd")),
    ],
)
def test_read(text: str, type_: cty.Type, value: Value | None) -> None:
    read = cty.value_from_json(text, type_)
    if value is not None:
        assert read == value
    elif type_ == DYNAMIC:
        assert read == cty.list_value(STRING, [of("1")])
    else:
        assert read == cty.object_value({"a": cty.null(STRING), "b": of(1)})


@pytest.mark.parametrize(
    ("text", "type_", "path"),
    [
        ("[1]", STRING, ""),
        ('{"a":["x"]}', ObjectType({"a": ListType(NUMBER)}), ".a[0]"),
        ('{"b":1}', ObjectType({"a": STRING}), ""),
        ('{"k":[]}', MapType(BOOL), '["k"]'),
        ("[1]", cty.TupleType((NUMBER, NUMBER)), ""),
        ('{"a":true,"a":1}', ObjectType({"a": NUMBER}), ".a"),
        ("1", DYNAMIC, ""),
        ('{"value":1}', DYNAMIC, ""),
        (
            '[{"value":1,"type":"number"},{"value":"a","type":"string"}]',
            ListType(DYNAMIC),
            "",
        ),
    ],
)
def test_not_of_the_type(text: str, type_: cty.Type, path: str) -> None:
    with pytest.raises(cty.CtyError) as caught:
        cty.value_from_json(text, type_)
    assert cty.path_text(caught.value.path) == path


def test_an_error_says_where() -> None:
    with pytest.raises(cty.CtyError, match="line 2, column 3"):
        cty.implied_value_from_json("[\n  oops]")
    with pytest.raises(cty.CtyError, match="ends too early"):
        cty.implied_value_from_json("[1,")


@pytest.mark.parametrize("digits", ["0", "-0", "123456789012345678901234567890", "0.1", "1e400"])
def test_numbers_are_exact(digits: str) -> None:
    assert cty.implied_value_from_json(digits) == cty.number(digits)
    assert cty.value_from_json(digits, STRING) == of(digits)


def test_names_may_be_repeated_with_the_same_type() -> None:
    assert cty.implied_value_from_json('{"a":1,"a":2}') == of({"a": 2})
    with pytest.raises(cty.CtyError, match='"a"'):
        cty.implied_value_from_json('{"a":1,"a":"x"}')


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (ListType(DYNAMIC), '["list","dynamic"]'),
        (cty.TupleType((BOOL, STRING)), '["tuple",["bool","string"]]'),
        (cty.TupleType(()), '["tuple",[]]'),
        (ObjectType({}), '["object",{}]'),
        (
            ObjectType({"b": STRING, "a": MapType(NUMBER)}, frozenset("b")),
            '["object",{"a":["map","number"],"b":"string"},["b"]]',
        ),
    ],
)
def test_types(type_: cty.Type, text: str) -> None:
    assert cty.type_to_json(type_) == text
    assert cty.type_from_json(text) == type_


def test_empty_types_as_go_programs_may_write_them() -> None:
    assert cty.type_from_json('["tuple",null]') == cty.TupleType(())
    assert cty.type_from_json('["list",["object",null]]') == ListType(ObjectType({}))


@pytest.mark.parametrize(
    "text",
    [
        '"text"',
        "1",
        "[]",
        '["list"]',
        '["list","string",1]',
        '["heap","string"]',
        '["object",["a"]]',
        '["object",{"a":"string"},["b"]]',
        '["object",{"a":"string"},"a"]',
        '["tuple",{}]',
        '{"a":"string"}',
        "null",
    ],
)
def test_no_types(text: str) -> None:
    with pytest.raises(cty.CtyError):
        cty.type_from_json(text)


def test_capsules_have_no_json() -> None:
    thing = cty.CapsuleType("thing", dict)
    with pytest.raises(cty.CtyError):
        cty.type_to_json(thing)
    with pytest.raises(cty.CtyError):
        cty.value_to_json(cty.capsule_value(thing, {}))

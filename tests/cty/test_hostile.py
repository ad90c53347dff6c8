"""Input meant to hurt: it gives the right value or a `CtyError`, soon and in bounded memory."""

import contextlib
import struct
from collections.abc import Callable

import pytest

from nigari import cty
from nigari.cty.types import MAX_DEPTH
from tests.limits import costs_little

DEEP = 10_000


def refused(work: Callable[..., object], *arguments: object) -> str:
    with costs_little(), pytest.raises(cty.CtyError) as caught:
        work(*arguments)
    return caught.value.message


def nested_list(depth: int) -> cty.Type:
    type_: cty.Type = cty.STRING
    for _ in range(depth):
        type_ = cty.ListType(type_)
    return type_


@pytest.mark.parametrize("depth", [DEEP, 30_000, 300_000])
def test_deep_json_is_refused(depth: int) -> None:
    for text in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth, "[" * depth):
        refused(cty.json.implied_type, text)
        refused(cty.value_from_json, text, cty.DYNAMIC)
        refused(cty.value_from_json, text, nested_list(3))
        refused(cty.type_from_json, text)


def test_deep_type_in_json_is_refused() -> None:
    refused(cty.type_from_json, '["list",' * DEEP + '"string"' + "]" * DEEP)


def test_dynamic_in_dynamic_is_refused_when_deep() -> None:
    text = '{"type":"dynamic","value":' * DEEP + "null" + "}" * DEEP
    refused(cty.value_from_json, text, cty.DYNAMIC)


def test_deep_json_within_the_limit() -> None:
    depth = MAX_DEPTH - 10
    text = "[" * depth + "1" + "]" * depth
    value = cty.implied_value_from_json(text)
    assert cty.value_to_json(value) == text
    assert cty.value_from_json(text, value.type) == value
    assert cty.msgpack.unmarshal(cty.msgpack.marshal(value, value.type), value.type) == value
    again = cty.type_from_json(cty.type_to_json(value.type))
    assert again == value.type


def test_deep_conversion() -> None:
    depth = MAX_DEPTH - 10
    value = cty.implied_value_from_json("[" * depth + "1" + "]" * depth)
    wanted = nested_list(depth)
    converted = cty.convert(value, wanted)
    assert converted.type == wanted
    refused(cty.convert, value, nested_list(depth + 1))
    assert cty.unify([value.type, wanted], unsafe=True) == wanted


@pytest.mark.parametrize("depth", [DEEP, 300_000])
def test_deep_msgpack_is_refused(depth: int) -> None:
    for data in (b"\x91" * depth + b"\x01", b"\x81\xa1a" * depth + b"\x01", b"\x91" * depth):
        refused(cty.msgpack.implied_type, data)
        refused(cty.msgpack.unmarshal, data, cty.DYNAMIC)
        refused(cty.msgpack.unmarshal, data, nested_list(3))


def test_dynamic_in_dynamic_in_msgpack_is_refused_when_deep() -> None:
    data = b'\x92\xc4\x09"dynamic"' * DEEP + b"\xc0"
    refused(cty.msgpack.unmarshal, data, cty.DYNAMIC)


@pytest.mark.parametrize(
    "text", ["1e1000000000", "-1e1000000000", "1e-1000000000", "123e1147483648"]
)
def test_gigantic_exponents(text: str) -> None:
    value = cty.value_from_json(text, cty.NUMBER)
    assert cty.implied_value_from_json(f"[{text}]").sequence() == (value,)
    packed = b"\xd9" + bytes((len(text),)) + text.encode()
    assert cty.msgpack.unmarshal(packed, cty.NUMBER) == value


def test_numbers_too_long_to_write() -> None:
    value = cty.object_value({"n": cty.number("1e100000000")})
    refused(cty.value_to_json, value)
    refused(cty.convert, value, cty.MapType(cty.STRING))
    refused(cty.msgpack.marshal, value, value.type)


def test_very_many_digits() -> None:
    digits = "9" * 100_000
    assert cty.value_from_json(digits, cty.STRING).as_string() == digits
    cty.value_from_json(digits, cty.NUMBER)


@pytest.mark.parametrize("data", [b'"\xff\xfe"', b'"\xc3"', b'"\xed\xa0\x80"', b'"\\ud800"'])
def test_invalid_utf8_in_json_is_replaced(data: bytes) -> None:
    text = cty.value_from_json(data, cty.STRING).as_string()
    assert set(text) == {"\ufffd"}
    assert cty.value_to_json(cty.string(text)).isascii() is False


def test_bytes_that_are_not_utf8_survive_msgpack() -> None:
    for data, type_ in (
        (b"\xa2\xff\xfe", cty.STRING),
        (b"\x81\xa1\xff\xc0", cty.MapType(cty.STRING)),
        (b"\xd6\x0c\x81\x02\xa1\xff", cty.STRING),
    ):
        assert cty.msgpack.marshal(cty.msgpack.unmarshal(data, type_), type_) == data


def test_attribute_names_that_are_not_utf8_are_refused() -> None:
    refused(cty.msgpack.unmarshal, b"\x81\xa1\xff\xc0", cty.ObjectType({"a": cty.STRING}))


def test_a_string_that_is_no_text_is_refused() -> None:
    value = cty.object_value({"a": cty.list_value(cty.STRING, [cty.Value(cty.STRING, "\ud800")])})
    with pytest.raises(cty.CtyError) as caught:
        cty.msgpack.marshal(value, value.type)
    assert cty.path_text(caught.value.path) == ".a[0]"


ROW = cty.object_value(
    {
        "name": cty.string("a name that is longer than thirty-one bytes"),
        "ports": cty.list_value(cty.NUMBER, [cty.number(n) for n in (1, 300, -5, 70_000, 1.5)]),
        "tags": cty.map_value(cty.STRING, {"a": cty.string("b"), "c": cty.null(cty.STRING)}),
        "later": cty.refine_not_null(cty.unknown(cty.STRING)),
        "any": cty.tuple_value([cty.TRUE, cty.unknown(cty.NUMBER)]),
    }
)
ROW_TYPE = cty.ObjectType(
    {
        "name": cty.STRING,
        "ports": cty.ListType(cty.NUMBER),
        "tags": cty.MapType(cty.STRING),
        "later": cty.STRING,
        "any": cty.DYNAMIC,
    }
)


def test_truncated_msgpack_is_refused() -> None:
    data = cty.msgpack.marshal(ROW, ROW_TYPE)
    assert cty.msgpack.unmarshal(data, ROW_TYPE) == ROW
    for end in range(len(data)):
        refused(cty.msgpack.unmarshal, data[:end], ROW_TYPE)
        refused(cty.msgpack.implied_type, data[:end])
    refused(cty.msgpack.unmarshal, data + b"\xc0", ROW_TYPE)


def test_damaged_msgpack_never_fails_otherwise() -> None:
    data = bytearray(cty.msgpack.marshal(ROW, ROW_TYPE))
    for place in range(len(data)):
        was = data[place]
        for byte in (0x00, 0x7F, 0x80, 0x9F, 0xA1, 0xC0, 0xC1, 0xC7, 0xCB, 0xD8, 0xDD, 0xDF, 0xFF):
            data[place] = byte
            with contextlib.suppress(cty.CtyError):
                cty.msgpack.unmarshal(bytes(data), ROW_TYPE)
        data[place] = was


@pytest.mark.parametrize("code", [0xDD, 0xDF, 0xDB, 0xC6, 0xC9])
def test_lengths_beyond_the_data_are_refused(code: int) -> None:
    data = struct.pack(">BI", code, 0xFFFFFFFF) + b"\xc0"
    for type_ in (cty.ListType(cty.STRING), cty.MapType(cty.STRING), cty.STRING, cty.DYNAMIC):
        refused(cty.msgpack.unmarshal, data, type_)
    refused(cty.msgpack.implied_type, data)


@pytest.mark.parametrize(
    ("body", "type_"),
    [
        (b"\x82\x01\xc2\x02\xa1a", cty.NUMBER),
        (b"\x81\x05\x05", cty.STRING),
        (b"\x81\x03\x92\xa1x\xc3", cty.NUMBER),
        (b"\x82\x03\x92\x05\xc3\x04\x92\x01\xc3", cty.NUMBER),
        (b"\x82\x05\x09\x06\x01", cty.ListType(cty.STRING)),
        (b"\x91\x01", cty.STRING),
    ],
)
def test_refinements_that_make_no_sense_are_refused(body: bytes, type_: cty.Type) -> None:
    data = bytes((0xC7, len(body), 0x0C)) + body
    refused(cty.msgpack.unmarshal, data, type_)


def test_refinements_may_be_at_most_a_kibibyte() -> None:
    body = b"\x81\x02" + struct.pack(">BH", 0xDA, 1100) + b"a" * 1100
    data = struct.pack(">BHB", 0xC8, len(body), 0x0C) + body
    assert "refinement" in refused(cty.msgpack.unmarshal, data, cty.STRING)


@pytest.mark.parametrize(
    "text",
    ["NaN", "[Infinity]", "01", "1.", "+1", "'a'", '"\n"', "", "{", '{"a" 1}', "nul", "[1,]"],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    refused(cty.implied_value_from_json, text)


def test_many_types_to_unify() -> None:
    objects = [cty.ObjectType({f"a{i}": cty.STRING, f"b{i}": cty.NUMBER}) for i in range(5000)]
    assert cty.unify(objects) == cty.MapType(cty.STRING)
    assert cty.unify([*objects, cty.BOOL]) is None
    tuples = [cty.TupleType((cty.NUMBER,) * i) for i in range(300)]
    assert cty.unify(tuples) == cty.ListType(cty.NUMBER)

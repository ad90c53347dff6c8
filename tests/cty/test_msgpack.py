"""The msgpack of values, byte by byte as provider plugins write and read it."""

import pytest

from nigari import cty
from nigari.cty import BOOL, DYNAMIC, NUMBER, STRING, ListType, MapType, ObjectType, SetType, Value
from nigari.cty.msgpack import marshal, unmarshal

of = Value.of


def refined(type_: cty.Type, by: cty.Refinement) -> Value:
    return cty.refine(cty.unknown(type_), by)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (of(""), "a0"),
        (of("hello"), "a568656c6c6f"),
        (of("é"), "a2c3a9"),
        (of("d\udce9r"), "a364e972"),
        (of(["\udcff" * 300]), "91da012c" + "ff" * 300),
        (cty.map_value(BOOL, {"\udce9": of(True)}), "81a1e9c3"),
        (of({"\udce9": True}), "81a3efbfbdc3"),
        (of("x" * 32), "d920" + "78" * 32),
        (of("x" * 256), "da0100" + "78" * 256),
        (of(True), "c3"),
        (of(False), "c2"),
        (cty.null(STRING), "c0"),
        (cty.DYNAMIC_UNKNOWN, "d40000"),
        (cty.unknown(STRING), "d40000"),
        (cty.refine_not_null(cty.unknown(STRING)), "c7030c8101c2"),
        (refined(STRING, cty.Refinement(prefix="ab-")), "c7060c8102a361622d"),
        (refined(NUMBER, cty.Refinement(True, (1, True))), "c7070c8201c2039201c3"),
        (refined(NUMBER, cty.Refinement(upper=(10, False))), "c7050c8104920ac2"),
        (refined(ListType(BOOL), cty.Refinement(min_length=1)), "c7030c810501"),
        (
            refined(MapType(BOOL), cty.Refinement(True, min_length=1, max_length=200)),
            "d70c8301c2050106ccc8",
        ),
        (of([1, "a"]), "9201a161"),
        (of({"b": 1, "a": None}), "82a161c0a16201"),
        (cty.set_value(STRING, [of("b"), of("a")]), "92a161a162"),
        (cty.map_value(BOOL, {"b": of(True), "a": of(False)}), "82a161c2a162c3"),
        (cty.list_value(NUMBER, [of(0)] * 16), "dc0010" + "00" * 16),
    ],
)
def test_bytes(value: Value, data: str) -> None:
    assert marshal(value, value.type).hex() == data
    assert unmarshal(bytes.fromhex(data), value.type) == value


@pytest.mark.parametrize(
    ("digits", "data"),
    [
        ("0", "00"),
        ("-0", "00"),
        ("127", "7f"),
        ("128", "cc80"),
        ("255", "ccff"),
        ("256", "cd0100"),
        ("65535", "cdffff"),
        ("65536", "ce00010000"),
        ("4294967296", "cf0000000100000000"),
        ("9223372036854775807", "cf7fffffffffffffff"),
        ("9223372036854775808", "b339323233333732303336383534373735383038"),
        ("-1", "ff"),
        ("-32", "e0"),
        ("-33", "d0df"),
        ("-128", "d080"),
        ("-129", "d1ff7f"),
        ("-32769", "d2ffff7fff"),
        ("-2147483649", "d3ffffffff7fffffff"),
        ("-9223372036854775808", "d38000000000000000"),
        ("1.5", "cb3ff8000000000000"),
        ("-0.25", "cbbfd0000000000000"),
        ("0.1", "a3302e31"),
    ],
)
def test_numbers(digits: str, data: str) -> None:
    value = cty.number(digits)
    assert marshal(value, NUMBER).hex() == data
    assert unmarshal(bytes.fromhex(data), NUMBER) == value


def test_a_large_whole_float_is_an_integer() -> None:
    assert marshal(cty.number(2.0**60), NUMBER) == marshal(cty.number(2**60), NUMBER)
    assert marshal(cty.number(float("-0.0")), NUMBER) == b"\0"


def test_infinity_is_a_float() -> None:
    assert marshal(cty.number(float("inf")), NUMBER).hex() == "cb7ff0000000000000"


def test_an_open_type_travels_along() -> None:
    data = marshal(of("a"), DYNAMIC)
    assert data == b'\x92\xc4\x08"string"\xa1a'
    assert unmarshal(data, DYNAMIC) == of("a")
    unknown = cty.unknown(ListType(STRING))
    assert unmarshal(marshal(unknown, DYNAMIC), DYNAMIC) == unknown
    assert marshal(cty.null(DYNAMIC), DYNAMIC) == b"\xc0"
    mixed = of({"a": 1, "b": ["x"]})
    type_ = ObjectType({"a": NUMBER, "b": DYNAMIC})
    assert unmarshal(marshal(mixed, type_), type_) == mixed


def test_the_value_is_converted_if_need_be() -> None:
    wanted = ListType(ObjectType({"a": STRING, "b": STRING}, frozenset("b")))
    data = marshal(of([{"a": 1}]), wanted)
    assert data.hex() == "9182a161a131a162c0"
    with pytest.raises(cty.CtyError):
        marshal(of("a"), wanted)


def test_long_prefixes_are_cut_at_a_safe_place() -> None:
    long = refined(STRING, cty.Refinement(prefix="a" * 500))
    read = unmarshal(marshal(long, STRING), STRING)
    assert read.refinements.prefix == "a" * 254


def test_marks_do_not_travel() -> None:
    value = cty.object_value({"a": of([of("x").mark("m")])})
    with pytest.raises(cty.CtyError) as caught:
        marshal(value, value.type)
    assert cty.path_text(caught.value.path) == ".a[0]"


@pytest.mark.parametrize(
    ("data", "type_", "path"),
    [
        ("c3", STRING, ""),
        ("a161", BOOL, ""),
        ("a161", NUMBER, ""),
        ("c3", NUMBER, ""),
        ("80", ListType(STRING), ""),
        ("90", MapType(STRING), ""),
        ("9101", ListType(STRING), "[0]"),
        ("81a16b01", MapType(STRING), '["k"]'),
        ("810101", MapType(NUMBER), ""),
        ("81a16101", ObjectType({"a": STRING}), ".a"),
        ("81a16201", ObjectType({"a": NUMBER}), ""),
        ("80", ObjectType({"a": NUMBER}), ""),
        ("82a16101a16101", ObjectType({"a": NUMBER, "b": NUMBER}), ""),
        ("91c3", cty.TupleType((BOOL, BOOL)), ""),
        ("91c3", DYNAMIC, ""),
        ("92a3666f6fc3", DYNAMIC, ""),
        ("cb7ff8000000000000", NUMBER, ""),
        ("c1", STRING, ""),
        ("d50101", STRING, ""),
        ("9292c40822737472696e6722a16192c40822", ListType(DYNAMIC), "[1]"),
    ],
)
def test_not_of_the_type(data: str, type_: cty.Type, path: str) -> None:
    with pytest.raises(cty.CtyError) as caught:
        unmarshal(bytes.fromhex(data), type_)
    assert cty.path_text(caught.value.path) == path


@pytest.mark.parametrize(
    ("data", "type_", "value"),
    [
        ("c40161", STRING, of("a")),
        ("ca3fc00000", NUMBER, of(1.5)),
        ("cf00000000000000ff", NUMBER, of(255)),
        ("c70000", STRING, cty.unknown(STRING)),
        ("d47f00", SetType(STRING), cty.unknown(SetType(STRING))),
        ("c7030c8101c3", STRING, cty.null(STRING)),
        ("c7050c82637801c2", STRING, cty.refine_not_null(cty.unknown(STRING))),
        ("c7050c8201c2637f", NUMBER, cty.refine_not_null(cty.unknown(NUMBER))),
        ("c7030c8101c2", DYNAMIC, cty.DYNAMIC_UNKNOWN),
        ("92c3c2", SetType(BOOL), cty.set_value(BOOL, [of(False), of(True)])),
    ],
)
def test_other_ways_to_say_it(data: str, type_: cty.Type, value: Value) -> None:
    assert unmarshal(bytes.fromhex(data), type_) == value


def test_implied_types() -> None:
    data = marshal(of({"a": [1, True, None, "x"], "b": {}}), DYNAMIC)
    implied = cty.msgpack.implied_type(data[2 + data[2] + 1 :])
    assert implied == of({"a": [1, True, None, "x"], "b": {}}).type
    with pytest.raises(cty.CtyError):
        cty.msgpack.implied_type(b"\xc4\x01a")


def test_values_of_any_type_do_not_share_a_layout() -> None:
    parts = {f"p{i}": of({f"n{i}": None, f"m{i}": {f"k{i}": None}}) for i in range(40)}
    value = cty.object_value(parts)
    type_ = ObjectType(dict.fromkeys(parts, DYNAMIC))
    assert unmarshal(marshal(value, type_), type_) == value

"""Values, conversion and serialisation beside pyvider-cty, which is also pure Python.

What was measured with pyvider-cty 0.6.3, by processor time: 5 to 50 times as fast, compiled 10 to 170
times. Building a map is least of all, 4.6 to 5.3 times: nearly all of it is making 10,000 objects of
Python, which both do.
"""

from typing import Final

from pyvider import cty as peer
from pyvider.cty.codec import cty_from_msgpack, cty_to_msgpack

from benchmarks.harness import Case
from nigari.cty.convert import convert
from nigari.cty.json import value_from_json, value_to_json
from nigari.cty.msgpack import marshal, unmarshal
from nigari.cty.operations import equals
from nigari.cty.types import BOOL, NUMBER, STRING, ListType, MapType, ObjectType, Type
from nigari.cty.values import Value, list_value, map_value, number, object_value, string, unknown

PEER: Final = "pyvider-cty"
WANTED: Final = 5.0
WANTED_OF_MAPS: Final = 4.5

COUNT: Final = 10_000
ROWS: Final = 1_000
# About one megabyte of JSON.
LARGE_ROWS: Final = 6_000

Row = dict[str, object]


def rows(count: int, ports_as_text: bool) -> list[Row]:
    """Give nested rows as Python data, with numbers and booleans as texts where wanted."""
    return [
        {
            "id": f"i-{index:08x}",
            "name": f"instance number {index}",
            "tags": {"owner": "someone", "index": str(index), "stage": "test"},
            "network": {
                "port": str(8000 + index) if ports_as_text else 8000 + index,
                "public": "true" if ports_as_text else True,
                "zones": ["a", "b", "c"],
            },
        }
        for index in range(count)
    ]


def row_type() -> Type:
    """Give the type of a row in our words."""
    network = ObjectType({"port": NUMBER, "public": BOOL, "zones": ListType(STRING)})
    return ObjectType({"id": STRING, "name": STRING, "tags": MapType(STRING), "network": network})


def peer_row_type() -> peer.CtyType:
    """Give the same type in the peer's words."""
    text = peer.CtyString()
    network = peer.CtyObject(
        {
            "port": peer.CtyNumber(),
            "public": peer.CtyBool(),
            "zones": peer.CtyList(element_type=text),
        }
    )
    tags = peer.CtyMap(element_type=text)
    return peer.CtyObject({"id": text, "name": text, "tags": tags, "network": network})


def peer_loose_type() -> peer.CtyType:
    """Give the type that the rows with texts have before conversion, in the peer's words."""
    text = peer.CtyString()
    zones = peer.CtyTuple(element_types=(text, text, text))
    network = peer.CtyObject({"port": text, "public": text, "zones": zones})
    tags = peer.CtyObject({"owner": text, "index": text, "stage": text})
    return peer.CtyObject({"id": text, "name": text, "tags": tags, "network": network})


def construction() -> list[Case]:
    """Values from Python data."""
    numbers = list(range(COUNT))
    texts = [f"text {index}" for index in range(COUNT)]
    pairs = {f"key {index}": f"value {index}" for index in range(COUNT)}
    peer_numbers = peer.CtyList(element_type=peer.CtyNumber())
    peer_texts = peer.CtyList(element_type=peer.CtyString())
    peer_map = peer.CtyMap(element_type=peer.CtyString())
    data = rows(ROWS, ports_as_text=True)
    peer_rows = peer.CtyTuple(element_types=(peer_loose_type(),) * ROWS)

    def texts_map() -> Value:
        return map_value(STRING, {key: string(text) for key, text in pairs.items()})

    return [
        Case(
            "construct a list of 10,000 numbers",
            lambda: list_value(NUMBER, [number(item) for item in numbers]),
            PEER,
            lambda: peer_numbers.validate(numbers),
            WANTED,
            WANTED,
        ),
        Case(
            "construct a list of 10,000 strings",
            lambda: list_value(STRING, [string(item) for item in texts]),
            PEER,
            lambda: peer_texts.validate(texts),
            WANTED,
            WANTED,
        ),
        Case(
            "construct a map of 10,000 strings",
            texts_map,
            PEER,
            lambda: peer_map.validate(pairs),
            WANTED_OF_MAPS,
            WANTED,
        ),
        Case(
            "construct 1,000 nested objects from Python",
            lambda: Value.of(data),
            PEER,
            lambda: peer_rows.validate(data),
            WANTED,
            WANTED,
        ),
        Case(
            "construct 10,000 objects with an unknown",
            lambda: [object_value({"id": unknown(STRING)}) for _ in numbers],
        ),
    ]


def equality() -> list[Case]:
    """The language's `==` on collections that are equal to their last element."""
    numbers = list(range(COUNT))
    pairs = {f"key {index}": f"value {index}" for index in range(COUNT)}
    lists = [list_value(NUMBER, [number(item) for item in numbers]) for _ in range(2)]
    maps = [map_value(STRING, {key: string(text) for key, text in pairs.items()}) for _ in range(2)]
    peer_list = peer.CtyList(element_type=peer.CtyNumber())
    peer_map = peer.CtyMap(element_type=peer.CtyString())
    peer_lists = [peer_list.validate(numbers) for _ in range(2)]
    peer_maps = [peer_map.validate(pairs) for _ in range(2)]
    return [
        Case(
            "equality of lists of 10,000 numbers",
            lambda: equals(lists[0], lists[1]),
            PEER,
            lambda: peer_lists[0].equals(peer_lists[1]),
            WANTED,
            WANTED,
        ),
        Case(
            "equality of maps of 10,000 strings",
            lambda: equals(maps[0], maps[1]),
            PEER,
            lambda: peer_maps[0].equals(peer_maps[1]),
            WANTED,
            WANTED,
        ),
    ]


def conversion() -> list[Case]:
    """A tuple of objects of texts into a list of typed objects."""
    data = rows(ROWS, ports_as_text=True)
    loose = Value.of(data)
    wanted = ListType(row_type())
    peer_loose = peer.CtyTuple(element_types=(peer_loose_type(),) * ROWS).validate(data)
    peer_wanted = peer.CtyList(element_type=peer_row_type())
    return [
        Case(
            "convert 1,000 nested rows to a typed list",
            lambda: convert(loose, wanted),
            PEER,
            lambda: peer.convert(peer_loose, peer_wanted),
            WANTED,
            WANTED,
        )
    ]


def serialisation() -> list[Case]:
    """JSON and msgpack of about a megabyte, with the type known."""
    data = rows(LARGE_ROWS, ports_as_text=False)
    type_ = ListType(row_type())
    value = convert(Value.of(data), type_)
    peer_type = peer.CtyList(element_type=peer_row_type())
    peer_value = peer_type.validate(data)
    text, packed = value_to_json(value, type_), marshal(value, type_)
    peer_text, peer_packed = (
        peer.cty_to_json(peer_value, peer_type),
        cty_to_msgpack(peer_value, peer_type),
    )
    size = len(text) / 1e6

    def case(name: str, ours: object, theirs: object) -> Case:
        assert callable(ours)
        assert callable(theirs)
        return Case(name, ours, PEER, theirs, WANTED, WANTED, size, "MB")

    return [
        case(
            "write 1 MB of JSON",
            lambda: value_to_json(value, type_),
            lambda: peer.cty_to_json(peer_value, peer_type),
        ),
        case(
            "read 1 MB of JSON",
            lambda: value_from_json(text, type_),
            lambda: peer.cty_from_json(peer_text, peer_type),
        ),
        case(
            "write msgpack of the same",
            lambda: marshal(value, type_),
            lambda: cty_to_msgpack(peer_value, peer_type),
        ),
        case(
            "read msgpack of the same",
            lambda: unmarshal(packed, type_),
            lambda: cty_from_msgpack(peer_packed, peer_type),
        ),
    ]


def cases() -> list[Case]:
    """All comparisons of this file."""
    return [*construction(), *equality(), *conversion(), *serialisation()]

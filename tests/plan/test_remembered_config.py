"""What is remembered of a provider's arguments, and what comes of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.addrs.absolute import Abs
from nigari.addrs.module import ROOT_MODULE
from nigari.addrs.provider import Provider, ProviderConfig
from nigari.cty.types import DYNAMIC, NUMBER, STRING, ListType
from nigari.cty.values import Value, list_value, null, object_value, set_value, string, unknown
from nigari.diagnostics import Diagnostics
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.running.remembered_config import (
    missing_arguments,
    recalled_config,
    recalled_data,
    remember,
)
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting
from nigari.schema.placeholders import empty_block, unknown_block
from nigari.state.model import ProviderMemory
from nigari.state.provider_memory import memories, memories_text
from nigari.state.stored_addresses import StoredAddresses

INNER = Block(
    {"name": Attribute(STRING, optional=True), "secret": Attribute(STRING, sensitive=True)}
)
BLOCK = Block(
    {
        "region": Attribute(STRING, required=True),
        "port": Attribute(NUMBER, optional=True),
        "token": Attribute(STRING, optional=True, sensitive=True),
        "hosts": Attribute(ListType(STRING), optional=True),
        "any": Attribute(DYNAMIC, optional=True),
        "login": Attribute(
            nested=NestedAttributes({"password": Attribute(STRING, sensitive=True)}), optional=True
        ),
    },
    {
        "one": NestedBlock(INNER, Nesting.SINGLE),
        "many": NestedBlock(INNER, Nesting.LIST),
        "some": NestedBlock(INNER, Nesting.SET),
        "named": NestedBlock(INNER, Nesting.MAP),
    },
)
ADDRESS = Abs(
    ROOT_MODULE, ProviderConfig(Provider("example.com", "test", "cloud"), "a").instance("eu")
)


UNSET = null(STRING)


def inner(name: Value = UNSET, secret: Value = UNSET) -> Value:
    return object_value({"name": name, "secret": secret})


def config(**arguments: Value) -> Value:
    return object_value({**empty_block(BLOCK).mapping(), **arguments})


def remembered(**arguments: Value) -> ProviderMemory:
    return remember(ADDRESS, NO_INSTANCE_DATA, BLOCK, config(**arguments))


A, B, SECRET = string("a"), string("b"), string("s").mark(SENSITIVE)

KEPT: list[tuple[dict[str, Value], dict[str, object], list[str]]] = [
    ({"region": A}, {"region": "a"}, []),
    ({"region": A, "token": B}, {"region": "a"}, ["token"]),
    ({"region": SECRET}, {}, ["region"]),
    ({"region": A.mark(EPHEMERAL)}, {}, ["region"]),
    ({"hosts": list_value(STRING, [A, SECRET])}, {}, ["hosts"]),
    ({"hosts": list_value(STRING, [A, B])}, {"hosts": ["a", "b"]}, []),
    (
        {"any": Value.of({"x": 1})},
        {"any": {"value": {"x": 1}, "type": ["object", {"x": "number"}]}},
        [],
    ),
    ({"region": unknown(STRING)}, {}, []),
    ({"login": object_value({"password": A})}, {}, ["login"]),
    ({"one": inner(A, B)}, {"one": {"name": "a"}}, ["one.secret"]),
    (
        {"many": list_value(INNER.implied_type, [inner(A), inner(B, A)])},
        {"many": [{"name": "a"}, {"name": "b"}]},
        ["many[1].secret"],
    ),
    (
        {"many": list_value(INNER.implied_type, [inner(A).mark(SENSITIVE), inner(B)])},
        {"many": [{}, {"name": "b"}]},
        ["many[0]"],
    ),
    ({"some": set_value(INNER.implied_type, [inner(A)])}, {"some": [{"name": "a"}]}, []),
    ({"some": set_value(INNER.implied_type, [inner(SECRET)])}, {}, ["some"]),
]


@pytest.mark.parametrize(("arguments", "kept", "withheld"), KEPT)
def test_what_is_kept(
    arguments: dict[str, Value], kept: dict[str, object], withheld: list[str]
) -> None:
    memory = remembered(**arguments)
    found = json.loads(memory.arguments)
    empty = ("many", "named", "some")
    assert {name: each for name, each in found.items() if each or name not in empty} == kept
    assert list(memory.withheld) == withheld


def test_what_is_remembered_counts_more() -> None:
    """An expression may have another value for a key that is gone: that of another region."""
    type_ = INNER.implied_type
    memory = remembered(
        region=A, one=inner(A, A), many=list_value(type_, [inner(A)]), some=set_value(type_, [])
    )
    now = config(
        region=B,
        port=Value.of(1),
        one=inner(B, B),
        many=list_value(type_, [inner(B), inner(A)]),
        some=set_value(type_, [inner(B)]),
    )
    found = recalled_config(BLOCK, now, memory, {})
    # An argument that is not remembered and the secret have what the block says now.
    assert found == config(
        region=A,
        port=Value.of(1),
        one=inner(A, B),
        many=list_value(type_, [inner(A)]),
        some=set_value(type_, []),
    )
    assert missing_arguments(found) == []


def test_everything_from_memory() -> None:
    arguments = {
        "region": A,
        "any": Value.of({"x": [1, "2"]}),
        "hosts": list_value(STRING, [A]),
        "one": inner(A),
        "many": list_value(INNER.implied_type, [inner(A), inner()]),
        "some": set_value(INNER.implied_type, [inner(B)]),
    }
    memory = remembered(**arguments)
    assert recalled_config(BLOCK, None, memory, {}) == config(**arguments)
    assert recalled_config(BLOCK, unknown_block(BLOCK), memory, {}).attribute("region") == A


def test_secrets_are_missing() -> None:
    memory = remembered(region=A, token=B, one=inner(A, B))
    assert missing_arguments(recalled_config(BLOCK, None, memory, {})) == ["one.secret", "token"]
    evaluated = config(region=unknown(STRING), token=A, one=inner(unknown(STRING), SECRET))
    found = recalled_config(BLOCK, evaluated, memory, {})
    assert missing_arguments(found) == []
    assert found.attribute("one") == inner(A, SECRET)


def test_blocks_are_matched_one_by_one() -> None:
    type_ = INNER.implied_type
    memory = remembered(region=A, many=list_value(type_, [inner(A, B), inner(B)]))
    evaluated = config(region=A, many=list_value(type_, [inner(unknown(STRING), B), inner(A)]))
    found = recalled_config(BLOCK, evaluated, memory, {})
    assert found.attribute("many") == list_value(type_, [inner(A, B), inner(B)])
    fewer = config(region=A, many=list_value(type_, [inner(unknown(STRING))]))
    assert missing_arguments(recalled_config(BLOCK, fewer, memory, {})) == ["many[0].secret"]


def test_an_argument_that_is_new_and_unknown_is_missing() -> None:
    evaluated = config(region=A, port=unknown(NUMBER))
    assert missing_arguments(recalled_config(BLOCK, evaluated, remembered(region=A), {})) == [
        "port"
    ]


def test_a_memory_that_no_longer_fits_is_none() -> None:
    memory = ProviderMemory(ADDRESS, arguments='{"region":["a"],"port":"x"}')
    assert missing_arguments(recalled_config(BLOCK, None, memory, {})) == ["port", "region"]


def test_each() -> None:
    value = object_value({"region": A, "token": SECRET, "tags": Value.of({"a": "b"})})
    data = InstanceData(string("eu"), value)
    memory = remember(ADDRESS, data, BLOCK, config(region=A))
    found = recalled_data(memory)
    assert found.each_key == string("eu")
    assert found.each_value == object_value(
        {"region": A, "token": unknown(STRING), "tags": Value.of({"a": "b"})}
    )
    assert found.count_index is not None


def test_a_block_that_is_a_secret_is_missing() -> None:
    memory = remembered(many=list_value(INNER.implied_type, [inner(A).mark(SENSITIVE), inner(B)]))
    found = recalled_config(BLOCK, None, memory, {})
    assert missing_arguments(found) == ["many[0]"]
    assert found.attribute("many").elements()[1] == inner(B)


def test_what_becomes_a_secret_is_one() -> None:
    """An element need not be marked to be kept out of the state."""
    data = InstanceData(string("eu"), object_value({"region": A, "token": B}))
    memory = remember(ADDRESS, data, BLOCK, config(region=A, token=B))
    assert memory.each_value == object_value({"region": A, "token": null(STRING)})
    assert "b" not in memory.arguments


def test_a_secret_element_is_unknown() -> None:
    data = InstanceData(string("eu"), SECRET)
    memory = remember(ADDRESS, data, BLOCK, config(region=A))
    assert memory.each_value == null(STRING)
    assert recalled_data(memory).each_value == unknown(STRING)


def test_count() -> None:
    counted = Abs(ROOT_MODULE, ADDRESS.item.config.instance(2))
    memory = remember(counted, InstanceData(count_index=Value.of(2)), BLOCK, config(region=A))
    assert memory.each_value is None
    assert recalled_data(memory).count_index == Value.of(2)


_TEXTS = st.text(max_size=8).map(string)
_INNERS = _TEXTS.map(inner)
_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=3), inside, max_size=3)
    ),
    max_leaves=8,
)
_ARGUMENTS = st.fixed_dictionaries(
    {"region": _TEXTS},
    optional={
        "port": st.integers(-(10**40), 10**40).map(Value.of),
        "hosts": st.lists(_TEXTS, max_size=3).map(lambda each: list_value(STRING, each)),
        "any": _PLAIN.map(Value.of),
        "one": _INNERS,
        "many": st.lists(_INNERS, max_size=3).map(lambda e: list_value(INNER.implied_type, e)),
        "some": st.lists(_INNERS, max_size=3).map(lambda e: set_value(INNER.implied_type, e)),
    },
)


@given(_ARGUMENTS, _PLAIN.map(Value.of))
def test_what_is_no_secret_comes_back(arguments: dict[str, Value], each: Value) -> None:
    data = InstanceData(string("eu"), each)
    memory = remember(ADDRESS, data, BLOCK, config(**arguments))
    stored = next(memories(memories_text([memory]), StoredAddresses(Diagnostics())))
    assert stored == memory
    assert recalled_config(BLOCK, None, stored, {}) == config(**arguments)
    assert recalled_data(stored).each_value == each

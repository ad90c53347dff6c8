"""Nested dataclasses of a provider in Python: attributes and blocks, from the plan to the state."""

import asyncio
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated

import pytest

from nigari import cty
from nigari.providers import api
from nigari.providers.python import (
    BLOCK,
    REPLACE,
    WRITE_ONLY,
    Computed,
    Provider,
)
from nigari.providers.testing import Harness, Object, Planned
from nigari.schema.block import Attribute, Block, Nesting
from nigari.schema.coerce import coerce
from tests.providers.nested_wall import Inner, Node, Part, Rule, Table, Thing, Wall

TYPE = "demo_thing"


def provider_of(owner: type) -> tuple[Provider, Block]:
    provider = Provider("demo")
    provider.resource("thing")(owner)
    schema = asyncio.run(provider.schema()).schema
    assert schema is not None
    return provider, schema.resources[TYPE].block


def applied(owner: type, prior: Object | None, given: dict[str, object]) -> tuple[Planned, Object]:
    """What becomes of an object; planned and made as OpenTofu demands, or an assertion fails."""
    provider, _ = provider_of(owner)
    with Harness(provider) as demo:
        plan = demo.plan(TYPE if prior is None else prior, **given)
        made = demo.apply(plan)
        assert demo.plan(made, **given).action == "no-op"
        return plan, made


PART = {"name": "ab", "weight": 1, "note": None, "id": "id-ab"}
INNER = {"title": "inner", "serial": 2}

THINGS: list[tuple[dict[str, object], str, object]] = [
    ({}, "standard", {"title": "standard", "serial": 7}),
    ({"standard": {"title": "x"}}, "standard", {"title": "x", "serial": 7}),
    ({}, "one", None),
    ({"one": {"name": "ab"}}, "one", {**PART, "inner": INNER}),
    ({"one": {"name": "ab", "inner": {}}}, "one", {**PART, "inner": INNER}),
    (
        {"one": {"name": "ab", "inner": {"title": "t"}, "weight": 3}},
        "one",
        {**PART, "weight": 3, "inner": {"title": "t", "serial": 2}},
    ),
    ({"listed": [{"name": "ab"}]}, "listed", [{**PART, "inner": INNER}]),
    ({"chosen": [{"name": "ab"}]}, "chosen", [{**PART, "inner": INNER}]),
    ({"keyed": {"k": {"name": "ab"}}}, "keyed", {"k": {**PART, "inner": INNER}}),
    ({"gaps": [None, {"name": "ab"}]}, "gaps", [None, {**PART, "inner": INNER}]),
    ({"holes": {"a": None, "b": "x"}}, "holes", {"a": None, "b": "x"}),
    ({"colour": "blue", "size": "m"}, "colour", "blue"),
    ({"path": "a/b"}, "path", "a/b"),
    ({"class": "c"}, "class", "c"),
    (
        {},
        "made",
        [
            {
                "name": "made",
                "weight": 1,
                "note": None,
                "id": "id-made",
                "inner": {**INNER, "serial": 0},
            }
        ],
    ),
]


@pytest.mark.parametrize(("given", "name", "expected"), THINGS)
def test_nested_values_survive_creation(
    given: dict[str, object], name: str, expected: object
) -> None:
    _, made = applied(Thing, None, {"name": "t", **given})
    found = made[name]
    assert (list(found) if isinstance(found, set | frozenset) else found) == expected


def test_what_a_change_leaves_open() -> None:
    given: dict[str, object] = {
        "name": "t",
        "listed": [{"name": "a"}, {"name": "b"}],
        "chosen": [{"name": "c"}, {"name": "d"}],
        "keyed": {"k": {"name": "e"}},
    }
    _, state = applied(Thing, None, given)
    changed: dict[str, object] = {
        "name": "t",
        "listed": [{"name": "a"}, {"name": "B"}, {"name": "n"}],
        "chosen": [{"name": "c"}, {"name": "D"}],
        "keyed": {"k": {"name": "e", "weight": 2}, "l": {"name": "f"}},
    }
    plan, _ = applied(Thing, state, changed)
    planned = plan.value

    def identifiers(name: str) -> list[object]:
        ids = [each.attribute("id") for each in planned.attribute(name).elements()]
        return [each.to_python() if each.is_known else ... for each in ids]

    assert identifiers("listed") == ["id-a", ..., ...]
    assert sorted(map(str, identifiers("chosen"))) == ["Ellipsis", "id-c"]
    assert identifiers("keyed") == ["id-e", ...]
    assert not planned.attribute("listed").elements()[0].attribute("inner").is_wholly_known


BLOCKS: list[tuple[dict[str, object], str, object]] = [
    ({}, "single", None),
    ({}, "needed", {"title": "inner", "serial": 1}),
    ({"needed": {"title": "x"}}, "needed", {"title": "x", "serial": 1}),
    (
        {"single": {"port": 1}},
        "single",
        {"port": 1, "protocol": "tcp", "id": "tcp-1", "tag": []},
    ),
    (
        {"rules": [{"port": 2, "tag": [{}, {"title": "t"}]}]},
        "rules",
        [
            {
                "port": 2,
                "protocol": "tcp",
                "id": "tcp-2",
                "tag": [{"title": "inner", "serial": 2}, {"title": "t", "serial": 2}],
            }
        ],
    ),
    (
        {"unordered": [{"port": 3, "protocol": "udp"}]},
        "unordered",
        [{"port": 3, "protocol": "udp", "id": "udp-3", "tag": []}],
    ),
    (
        {"by_name": {"a": {"port": 4}}},
        "by_name",
        {"a": {"port": 4, "protocol": "tcp", "id": "tcp-4", "tag": []}},
    ),
]


@pytest.mark.parametrize(("given", "name", "expected"), BLOCKS)
def test_blocks_survive_creation(given: dict[str, object], name: str, expected: object) -> None:
    _, state = applied(Wall, None, given)
    found = state[name]
    assert (list(found) if isinstance(found, set | frozenset) else found) == expected
    applied(Wall, state, {**given, "needed": {"title": "other"}})


def test_the_schema_of_blocks() -> None:
    _, block = provider_of(Wall)
    found = {name: (b.nesting, b.min_items, b.max_items) for name, b in block.blocks.items()}
    assert found == {
        "single": (Nesting.SINGLE, 0, 0),
        "needed": (Nesting.GROUP, 0, 0),
        "rules": (Nesting.LIST, 0, 0),
        "unordered": (Nesting.SET, 0, 3),
        "by_name": (Nesting.MAP, 0, 0),
    }
    assert block.blocks["rules"].block.blocks["tag"].nesting is Nesting.LIST


def test_blocks_that_are_required() -> None:
    @dataclass
    class Strict:
        one: Annotated[Inner, BLOCK]
        many: Annotated[list[Inner], BLOCK]

        def create(self, config: object) -> None: ...

        def delete(self, config: object) -> None: ...

    _, block = provider_of(Strict)
    found = {name: (b.nesting, b.min_items, b.max_items) for name, b in block.blocks.items()}
    assert found == {"one": (Nesting.SINGLE, 1, 1), "many": (Nesting.LIST, 1, 0)}


def test_results_inside_a_result_cannot_be_configured() -> None:
    _, block = provider_of(Thing)
    nested = block.attributes["made"].nested
    assert nested is not None
    assert nested.attributes["name"] == Attribute(cty.STRING, computed=True)


def test_changes_inside_nested_objects_can_replace() -> None:
    @dataclass
    class Disk:
        size: Annotated[int, REPLACE]
        label: str = ""

    @dataclass
    class Machine:
        boot: Disk | None = None
        disks: list[Disk] = field(default_factory=list)
        named: dict[str, Disk] | None = None
        spare: set[Disk] | None = None

        def create(self, config: object) -> None: ...

        def update(self, config: object, prior: object) -> None: ...

        def delete(self, config: object) -> None: ...

    before: dict[str, object] = {
        "boot": {"size": 1},
        "disks": [{"size": 1}, {"size": 2}],
        "named": {"a": {"size": 1}},
        "spare": [{"size": 1}],
    }
    _, state = applied(Machine, None, before)

    def paths(**given: object) -> list[str]:
        plan, _ = applied(Machine, state, {**before, **given})
        return list(plan.replaces)

    assert paths(boot={"size": 1, "label": "x"}) == []
    assert paths(boot={"size": 2}) == ["boot.size"]
    assert paths(disks=[{"size": 1}, {"size": 3}, {"size": 4}]) == ["disks[1].size"]
    assert paths(named={"a": {"size": 5}}) == ['named["a"].size']
    assert paths(spare=[{"size": 6}]) == ["spare"]


def test_write_only_values_reach_nested_objects() -> None:
    seen: list[str | None] = []

    @dataclass
    class Login:
        user: str
        password: Annotated[str | None, WRITE_ONLY] = None

    @dataclass
    class Account:
        logins: list[Login] = field(default_factory=list)

        def create(self, config: object) -> None:
            seen.extend(login.password for login in self.logins)

        def delete(self, config: object) -> None: ...

    _, state = applied(Account, None, {"logins": [{"user": "a", "password": "p"}]})
    assert seen == ["p"]
    assert state["logins"] == [{"user": "a", "password": None}]


def test_hashable_elements_make_a_real_set() -> None:
    seen: list[object] = []

    @dataclass(frozen=True)
    class Tag:
        key: str

    @dataclass
    class Tagged:
        tags: set[Tag] | None = None

        def create(self, config: object) -> None:
            seen.append(self.tags)

        def delete(self, config: object) -> None: ...

    applied(Tagged, None, {"tags": [{"key": "a"}]})
    assert seen == [{Tag("a")}]


def test_a_class_inside_itself_is_anything() -> None:
    _, block = provider_of(Node)
    assert block.attributes["children"].type == cty.DYNAMIC
    tree = [{"name": "b", "children": [{"name": "c"}]}, {"name": "d", "children": None}]
    _, state = applied(Node, None, {"name": "a", "children": tree})
    assert state["children"] == tree


UNTOUCHED: list[dict[str, object]] = [
    {"rows": [[{"text": "a", "width": None}, {"text": "b", "width": 2}]]},
    {"ratio": Decimal("0.12345678901234567890123")},
    {"anything": {"a": [None, {"b": 1}], "n": Decimal("12345678901234567890.5")}},
    {"anything": []},
]


@pytest.mark.parametrize("given", UNTOUCHED)
def test_what_python_cannot_hold_stays_what_it_was(given: dict[str, object]) -> None:
    with Harness(provider_of(Table)[0]) as demo:
        demo.check(TYPE, given)


WRONG: list[tuple[dict[str, object], str]] = [
    ({"colour": "green"}, ".colour"),
    ({"gaps": [None], "listed": [{"name": "a"}, None]}, ".listed[1]"),
    ({"keyed": {"a": None}}, '.keyed["a"]'),
]


@pytest.mark.parametrize(("given", "path"), WRONG)
def test_what_fields_cannot_hold_is_reported_where_it_is(
    given: dict[str, object], path: str
) -> None:
    provider, block = provider_of(Thing)
    config = coerce(block, cty.Value.of({"name": "t", **given}))
    (told,) = asyncio.run(provider.validate_resource(TYPE, config)).diagnostics
    assert told.path is not None
    assert cty.path_text(told.path) == path


def _not_a_dataclass() -> object:
    @dataclass
    class Bad:
        parts: Annotated[list[str], BLOCK] = field(default_factory=list)

    return Bad


def _default_blocks() -> object:
    @dataclass
    class Bad:
        parts: Annotated[list[Inner], BLOCK] = field(default_factory=lambda: [Inner()])

    return Bad


def _computed_block() -> object:
    @dataclass
    class Bad:
        part: Annotated[Computed[Inner] | None, BLOCK] = None

    return Bad


def _blocks_in_attributes() -> object:
    @dataclass
    class Bad:
        rule: Rule | None = None

    return Bad


def _deep_result() -> object:
    @dataclass
    class Bad:
        parts: dict[str, list[Part]] | None = None

    return Bad


def _secret_set() -> object:
    @dataclass
    class Secret:
        word: Annotated[str | None, WRITE_ONLY] = None

    @dataclass
    class Bad:
        words: set[Secret] | None = None

    return Bad


@pytest.mark.parametrize(
    "bad",
    [
        _not_a_dataclass,
        _default_blocks,
        _computed_block,
        _blocks_in_attributes,
        _deep_result,
        _secret_set,
    ],
)
def test_fields_that_no_schema_can_say(bad: object) -> None:
    with pytest.raises(TypeError, match="Bad"):
        Provider("demo").resource("thing")(bad())  # type: ignore[operator]


def test_stored_objects_may_lack_nested_attributes() -> None:
    provider, _ = provider_of(Wall)
    stored = b'{"rules": [{"port": 1, "gone": true}]}'
    answer = asyncio.run(provider.upgrade(api.UpgradeRequest(TYPE, 0, stored)))
    assert answer.diagnostics == ()
    rules = answer.state.attribute("rules").elements()
    assert [(r.attribute("port").to_python(), r.attribute("id").is_null) for r in rules] == [
        (1, True)
    ]
    assert answer.state.attribute("unordered").length_int() == 0

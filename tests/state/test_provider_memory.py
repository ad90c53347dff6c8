"""What a state file remembers of provider instances."""

from __future__ import annotations

import json

import pytest

from nigari.addrs.absolute import Abs, instance_of
from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.addrs.provider import AbsProviderInstance, Provider, ProviderConfig, provider_for
from nigari.addrs.resource import MANAGED, Resource
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.record import replace
from nigari.state.draft import StateDraft
from nigari.state.edit import replace_provider
from nigari.state.files import format_state, parse_state
from nigari.state.model import PROVIDER_MEMORIES, ProviderMemory, State, StateFile, StoredObject
from nigari.state.predecessors import adopt_predecessors

CONFIG = ProviderConfig(Provider("example.com", "test", "cloud"), "by_region")
BOX = Resource(MANAGED, "cloud_box", "b")
SITE = ROOT_MODULE.child("site", "a")


def at(module: ModuleAddr, key: str | int | None) -> AbsProviderInstance:
    return Abs(module, CONFIG.instance(key))


def managed(*providers: tuple[ModuleAddr, AbsProviderInstance]) -> StateDraft:
    """A state with an object for each provider instance, in a module."""
    draft = StateDraft()
    for number, (module, provider) in enumerate(providers):
        address = instance_of(Abs(module, BOX), number)
        draft.set_current(address, StoredObject("{}"), provider)
    return draft


MEMORIES = [
    ProviderMemory(at(ROOT_MODULE, "eu"), Value.of("x"), "[]", '{"region":"eu"}'),
    ProviderMemory(at(ROOT_MODULE, 0)),
    ProviderMemory(at(ROOT_MODULE, 'a "b" ${c} %{d} \\ é')),
    ProviderMemory(at(SITE, None), arguments='{"port":12345678901234567890.5}'),
    ProviderMemory(
        at(SITE, "eu"),
        Value.of({"token": None, "list": [1, "two"]}),
        '[[{"type":"get_attr","value":"token"}]]',
        '{"headers":{"a":"\\u003c\\u0026"},"retry":[{"times":3},{}]}',
        ("token", "retry[0].secret"),
    ),
]


def test_there_and_back() -> None:
    draft = managed(*[(each.address.module, each.address) for each in MEMORIES])
    for memory in MEMORIES:
        draft.remember(memory)
    file = StateFile(draft.finish(), "line", 3)
    for is_for_people in (True, False):
        diags = Diagnostics()
        found = parse_state(format_state(file, is_for_people), diags)
        assert found is not None, list(diags)
        assert found.state.remembered == {each.address: each for each in MEMORIES}
        assert found.state == file.state
    lines = format_state(file, is_for_people=True).decode().splitlines()
    assert "12345678901234567890.5" in "".join(lines)
    start = lines.index(f'  "{PROVIDER_MEMORIES}": [')
    assert lines[start + 1 : start + 4] == [
        "    {",
        r'      "provider": "provider[\"example.com/test/cloud\"].by_region[0]",',
        '      "arguments": {}',
    ]


def test_without_memories_there_is_no_member() -> None:
    text = format_state(StateFile(State(), "line", 1), is_for_people=True).decode()
    assert PROVIDER_MEMORIES not in text


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"provider": "nonsense"},
        {"provider": at(ROOT_MODULE, "eu").item.text, "module": "site"},
        {"provider": at(ROOT_MODULE, "eu").item.text, "each": {}},
        {"provider": at(ROOT_MODULE, "eu").item.text, "each": {"value": 1, "type": "bool"}},
        {"provider": at(ROOT_MODULE, "eu").item.text, "withheld": 1},
    ],
)
def test_what_makes_no_sense_counts_for_nothing(entry: dict[str, object]) -> None:
    data = {"version": 4, "serial": 1, "lineage": "l", "resources": [], PROVIDER_MEMORIES: [entry]}
    diags = Diagnostics()
    found = parse_state(json.dumps(data).encode(), diags)
    assert found is not None
    assert not list(diags)
    assert found.state.remembered == {}


def test_only_what_manages_something_is_stored() -> None:
    draft = managed((ROOT_MODULE, at(ROOT_MODULE, "eu")), (SITE, at(SITE, "us")))
    for address in (at(ROOT_MODULE, "eu"), at(ROOT_MODULE, "us"), at(SITE, "us")):
        draft.remember(ProviderMemory(address))
    stored = draft.finish().to_be_stored()
    assert list(stored.remembered) == [at(ROOT_MODULE, "eu"), at(SITE, "us")]
    assert stored.to_be_stored() is stored


def test_keys_of_modules_come_from_what_is_managed() -> None:
    inner = SITE.child("inner", 0)
    assert provider_for(inner, at(SITE.unkeyed, "eu")) == at(SITE, "eu")
    assert provider_for(inner, at(inner.unkeyed, None)) == at(inner, None)
    assert provider_for(inner, at(ROOT_MODULE, "eu")) == at(ROOT_MODULE, "eu")
    elsewhere = at(ROOT_MODULE.child("other"), "eu")
    assert provider_for(inner, elsewhere) is elsewhere


def test_stored_providers_have_no_keys_of_modules() -> None:
    resource = managed((SITE, at(SITE, "eu"))).finish().resources[Abs(SITE, BOX)]
    assert resource.provider == Abs(SITE.unkeyed, CONFIG)
    assert resource.manager_of(0) == at(SITE, "eu")
    assert resource.managers() == {at(SITE, "eu")}


def test_what_is_worth_remembering() -> None:
    default = ProviderConfig(CONFIG.provider).instance()
    assert ProviderMemory(at(ROOT_MODULE, "eu")).says_something
    assert ProviderMemory(Abs(SITE.unkeyed, default)).says_something
    assert not ProviderMemory(Abs(ROOT_MODULE, default)).says_something
    assert ProviderMemory(Abs(ROOT_MODULE, default), withheld=("token",)).says_something


NEW = Provider("example.com", "acme", "cloud")


def renamed(memory: ProviderMemory, provider: Provider) -> ProviderMemory:
    item = memory.address.item
    config = ProviderConfig(provider, item.config.alias)
    return replace(memory, address=Abs(memory.address.module, config.instance(item.key)))


def state_of(*memories: ProviderMemory) -> State:
    draft = managed(*[(each.address.module, each.address) for each in memories])
    for memory in memories:
        draft.remember(memory)
    return draft.finish()


def test_a_replaced_provider_takes_its_memories_along() -> None:
    others = renamed(MEMORIES[0], Provider("example.com", "test", "other"))
    state = state_of(*MEMORIES, others)
    after = replace_provider(state, CONFIG.provider, NEW)
    expected = [*(renamed(each, NEW) for each in MEMORIES), others]
    assert after.remembered == {each.address: each for each in expected}
    used = {each for resource in after.resources.values() for each in resource.providers()}
    assert CONFIG.provider not in used
    assert replace_provider(after, NEW, CONFIG.provider) == state


def test_memories_that_would_become_one() -> None:
    """Objects are reached with their own configuration or not at all."""
    one, same = MEMORIES[0], renamed(MEMORIES[0], NEW)
    assert [*replace_provider(state_of(one, same), CONFIG.provider, NEW).remembered] == [
        same.address
    ]
    other = replace(same, arguments='{"region":"us"}')
    assert not replace_provider(state_of(one, other), CONFIG.provider, NEW).remembered


def test_providers_of_the_other_registry_take_their_memories_along() -> None:
    theirs = Provider("registry.terraform.io", "test", "cloud")
    memory = renamed(MEMORIES[0], theirs)
    ours = renamed(memory, Provider("registry.opentofu.org", "test", "cloud"))
    assert adopt_predecessors(state_of(memory), ()).remembered == {ours.address: ours}
    assert adopt_predecessors(state_of(memory), [theirs]).remembered == {memory.address: memory}

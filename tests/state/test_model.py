"""States never change; drafts make new ones."""

import pytest

from nigari.addrs.absolute import AbsResourceInstance, resource_of
from nigari.addrs.parse import parse_provider_instance, parse_resource_instance
from nigari.addrs.provider import AbsProviderInstance
from nigari.diagnostics import Diagnostics
from nigari.state.draft import StateDraft
from nigari.state.indexed_draft import IndexedDraft
from nigari.state.model import EMPTY_STATE, State, StoredObject

ONE, TWO = StoredObject('{"id":"1"}'), StoredObject('{"id":"2"}')


def instance(text: str) -> AbsResourceInstance:
    found = parse_resource_instance(text, Diagnostics())
    assert found is not None
    return found


def provider(suffix: str = "") -> AbsProviderInstance:
    text = f'provider["registry.opentofu.org/hashicorp/aws"]{suffix}'
    found = parse_provider_instance(text, Diagnostics())
    assert found is not None
    return found


def texts(state: State) -> list[str]:
    return [address.text for address, _ in state.instances()]


def test_a_finished_state_does_not_change_with_its_draft() -> None:
    draft = StateDraft()
    draft.set_current(instance("a.x[0]"), ONE, provider())
    first = draft.finish()
    draft.set_current(instance("a.x[1]"), TWO, provider())
    draft.set_current(instance("a.x[0]"), None, provider())
    second = draft.finish()
    draft.remove_resource(resource_of(instance("a.x[1]")))
    assert texts(first) == ["a.x[0]"]
    assert texts(second) == ["a.x[1]"]
    assert draft.finish() == EMPTY_STATE


def test_the_last_object_takes_its_resource_with_it() -> None:
    draft = StateDraft()
    address = instance("a.x")
    draft.set_current(address, ONE, provider())
    draft.set_deposed(address, "00000001", TWO, provider())
    draft.set_current(address, None, provider())
    assert texts(draft.finish()) == ["a.x"]
    draft.set_deposed(address, "00000001", None, provider())
    assert draft.finish().is_empty


def test_instances_have_provider_instances() -> None:
    draft = StateDraft()
    draft.set_current(instance("a.x[0]"), ONE, provider('.r["eu"]'))
    draft.set_current(instance("a.x[1]"), ONE, provider('.r["us"]'))
    (resource,) = draft.finish().resources.values()
    assert resource.manager_of(0) == provider('.r["eu"]')
    assert resource.manager_of(1) == provider('.r["us"]')


def test_a_resource_has_one_provider_block() -> None:
    draft = StateDraft()
    draft.set_current(instance("a.x[0]"), ONE, provider(".old"))
    draft.set_current(instance("a.x[1]"), ONE, provider(".new"))
    (resource,) = draft.finish().resources.values()
    assert resource.provider.text.endswith(".new")


@pytest.mark.parametrize(
    ("before", "now"),
    [('.r["eu"]', '.r["us"]'), ('.r["eu"]', ""), ('.r["eu"]', '.s["eu"]'), (".old", '.r["eu"]')],
)
def test_another_provider_block_does_not_count_for_other_objects(before: str, now: str) -> None:
    draft = StateDraft()
    draft.set_current(instance("a.x[0]"), ONE, provider(before))
    draft.set_current(instance("a.x[1]"), ONE, provider(before))
    draft.set_deposed(instance("a.x[0]"), "00000001", TWO, provider(before))
    first = draft.finish()
    draft.set_current(instance("a.x[0]"), ONE, provider(now))
    (resource,) = draft.finish().resources.values()
    assert [resource.manager_of(key) for key in (0, 1)] == [provider(now), provider(before)]
    assert resource.manager_of(0, "00000001") == provider(before)
    (resource,) = first.resources.values()
    assert resource.managers() == {provider(before)}


def test_a_moved_instance_keeps_its_providers() -> None:
    draft = StateDraft()
    draft.set_current(instance("a.x[0]"), ONE, provider('.r["eu"]'))
    draft.set_deposed(instance("a.x[0]"), "00000001", TWO, provider('.r["us"]'))
    draft.set_current(instance("a.y[0]"), ONE, provider())
    moving = IndexedDraft(draft.finish())
    moving.move_instance(instance("a.x[0]"), instance("a.y[1]"))
    (resource,) = moving.finish().resources.values()
    assert [resource.manager_of(key) for key in (0, 1)] == [provider(), provider('.r["eu"]')]
    assert resource.manager_of(1, "00000001") == provider('.r["us"]')


def test_equal_states() -> None:
    one, two = StateDraft(), StateDraft()
    for draft, order in ((one, "xy"), (two, "yx")):
        for name in order:
            draft.set_current(instance(f"a.{name}"), StoredObject('{"id": 1}'), provider())
    assert one.finish() == two.finish()
    two.set_current(instance("a.x"), StoredObject('{"id":1}'), provider())
    assert one.finish() == two.finish()
    two.set_current(instance("a.x"), StoredObject('{"id":1}', 1), provider())
    assert one.finish() != two.finish()


def test_managed_objects() -> None:
    draft = StateDraft()
    draft.set_current(instance("data.a.x"), ONE, provider())
    assert not draft.finish().has_managed_objects
    draft.set_current(instance("a.x"), ONE, provider())
    assert draft.finish().has_managed_objects

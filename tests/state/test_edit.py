"""What the `state` commands do to a state; the real program agrees in `tests/real`."""

import pytest

from nigari.addrs.parse import (
    parse_provider_instance,
    parse_resource,
    parse_resource_instance,
    parse_target,
)
from nigari.addrs.provider import parse_provider
from nigari.addrs.targets import Target
from nigari.diagnostics import Diagnostics
from nigari.state import edit, selection
from nigari.state.draft import StateDraft
from nigari.state.model import ObjectStatus, State, StoredObject

PROVIDER = 'provider["registry.opentofu.org/hashicorp/aws"].west'


def state_with(*addresses: str, dependency: str = "") -> State:
    diags = Diagnostics()
    provider = parse_provider_instance(PROVIDER, diags)
    on = parse_resource(dependency, diags) if dependency else None
    assert provider is not None
    draft = StateDraft()
    for text in addresses:
        address = parse_resource_instance(text, diags)
        assert address is not None, list(diags)
        stored = StoredObject(
            '{"id":"' + text.replace('"', "'") + '"}',
            dependencies=() if on is None else (on.unkeyed,),
        )
        draft.set_current(address, stored, provider)
    return draft.finish()


def target(text: str) -> Target:
    found = parse_target(text, Diagnostics())
    assert found is not None
    return found


def addresses(state: State) -> list[str]:
    return [address.text for address, _ in state.instances()]


EVERYTHING = [
    "data.a.d",
    "a.x",
    "a.y[2]",
    "a.y[10]",
    'a.z["k"]',
    "module.m.a.x",
    "module.n[0].a.x",
    "module.n[1].a.x",
    "module.n[1].module.o.a.x",
]


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        ([], EVERYTHING),
        (["a.x"], ["a.x"]),
        (["a.y"], ["a.y[2]", "a.y[10]"]),
        (["a.y[10]", "a.x", "a.y"], ["a.y[10]", "a.x", "a.y[2]"]),
        (["data.a.d"], ["data.a.d"]),
        (["module.m"], ["module.m.a.x"]),
        (["module.n"], ["module.n[0].a.x", "module.n[1].a.x", "module.n[1].module.o.a.x"]),
        (["module.n[1]"], ["module.n[1].a.x", "module.n[1].module.o.a.x"]),
        (["module.n[1].module.o"], ["module.n[1].module.o.a.x"]),
    ],
)
def test_select(targets: list[str], expected: list[str]) -> None:
    diags = Diagnostics()
    found = selection.select(state_with(*EVERYTHING), [target(each) for each in targets], diags)
    assert [each.text for each in found] == expected
    assert list(diags) == []


@pytest.mark.parametrize("text", ["a.q", "a.x[0]", "module.q", "module.n[7]", "data.a.x"])
def test_select_nothing(text: str) -> None:
    diags = Diagnostics()
    assert selection.select(state_with(*EVERYTHING), [target(text)], diags) == []
    assert [each.summary for each in diags] == ["Nothing at that address"]
    assert (
        selection.select(state_with(*EVERYTHING), [target(text)], diags, allow_missing=True) == []
    )


def test_by_id() -> None:
    state = state_with(*EVERYTHING)
    found = selection.with_id(state, selection.select(state, [], Diagnostics()), "a.y[2]")
    assert [each.text for each in found] == ["a.y[2]"]


def test_remove() -> None:
    state = state_with("a.x", "a.y[0]", "a.y[1]")
    selected = selection.select(state, [target("a.y[0]"), target("a.x")], Diagnostics())
    after = edit.remove(state, selected)
    assert addresses(after) == ["a.y[1]"]
    assert [each.text for each in after.resources] == ["a.y"]
    assert addresses(state) == ["a.x", "a.y[0]", "a.y[1]"]


MOVES: list[tuple[list[str], str, str, list[str]]] = [
    (["a.x"], "a.x", "a.y", ["a.y"]),
    (["a.x"], "a.x", "a.y[0]", ["a.y[0]"]),
    (["a.x[0]", "a.x[1]"], "a.x", "a.y", ["a.y[0]", "a.y[1]"]),
    (["a.x[0]", "a.x[1]"], "a.x[1]", "a.y", ["a.x[0]", "a.y"]),
    (["a.x[0]", "a.x[1]"], "a.x[1]", 'a.x["k"]', ["a.x[0]", 'a.x["k"]']),
    (["a.x"], "a.x", "module.m.a.x", ["module.m.a.x"]),
    (["module.m.a.x", "module.m.module.n.a.y"], "module.m", "module.o[1]", ["module.o[1].a.x", "module.o[1].module.n.a.y"]),
    (["module.m[0].a.x", "module.m[1].a.x"], "module.m[0]", "module.o", ["module.o.a.x", "module.m[1].a.x"]),
]  # fmt: skip


@pytest.mark.parametrize(("before", "old", "new", "after"), MOVES)
def test_move(before: list[str], old: str, new: str, after: list[str]) -> None:
    diags = Diagnostics()
    outcome = edit.move(state_with(*before), None, target(old), target(new), diags)
    assert outcome is not None, list(diags)
    assert sorted(addresses(outcome.source)) == sorted(after)
    assert outcome.source is outcome.target


@pytest.mark.parametrize(("before", "old", "new", "after"), MOVES)
def test_move_to_another_state(before: list[str], old: str, new: str, after: list[str]) -> None:
    diags = Diagnostics()
    outcome = edit.move(state_with(*before), state_with("q.q"), target(old), target(new), diags)
    assert outcome is not None, list(diags)
    assert set(addresses(outcome.source)) == set(before) & set(after)
    assert set(addresses(outcome.target)) == {"q.q"} | (set(after) - set(before))
    for resource in outcome.target.resources.values():
        assert resource.provider.text == PROVIDER


@pytest.mark.parametrize(
    ("old", "new", "summary"),
    [
        ("a.x", "a.y[0]", "Destination already in use"),
        ("a.y", "a.x", "Destination already in use"),
        ("module.m", "module.n", "Destination already in use"),
        ("a.q", "a.r", "Nothing at that address"),
        ("module.q", "module.r", "Nothing at that address"),
        ("a.q", "b.q", "Nothing at that address"),
        ("a.y[2]", "data.a.y", "Nothing at that address"),
        ("a.x", "module.m", "Destination of a different kind"),
        ("module.m", "a.q", "Destination of a different kind"),
        ("a.y", "a.q[0]", "Destination of a different kind"),
        ("a.x", "data.a.x", "Destination of a different kind"),
        ("a.x", "b.x", "Destination of a different type"),
        ("a.y[0]", "b.q", "Destination of a different type"),
    ],
)
def test_move_refused(old: str, new: str, summary: str) -> None:
    state = state_with("a.x", "a.y[0]", "a.y[1]", "module.m.a.x", "module.n.a.x")
    diags = Diagnostics()
    assert edit.move(state, None, target(old), target(new), diags) is None
    assert [each.summary for each in diags] == [summary]


@pytest.mark.parametrize(
    ("dependency", "old", "new", "forgotten"),
    [
        ("a.x", "a.x", "a.y", True),
        ("a.x", "a.z", "a.y", False),
        ("module.m.a.x", "module.m", "module.o", True),
        ("module.m.a.x", "module.m.a.x", "a.q", True),
        ("module.n.a.x", "module.n[0]", "module.o", False),
    ],
)
def test_dependencies_on_what_moved_are_forgotten(
    dependency: str, old: str, new: str, forgotten: bool
) -> None:
    state = state_with("a.x", "a.z", "module.m.a.x", "module.n[0].a.x", dependency=dependency)
    outcome = edit.move(state, None, target(old), target(new), Diagnostics())
    assert outcome is not None
    for _, instance in outcome.source.instances():
        assert instance.current is not None
        assert (instance.current.dependencies == ()) is forgotten


def test_taint_and_untaint() -> None:
    diags = Diagnostics()
    address = parse_resource_instance("a.y[1]", diags)
    assert address is not None
    state = state_with("a.y[0]", "a.y[1]")
    tainted = edit.taint(state, address, diags)
    assert tainted is not None
    statuses = [each.current.status for _, each in tainted.instances() if each.current]
    assert statuses == [ObjectStatus.READY, ObjectStatus.TAINTED]
    assert edit.untaint(tainted, address, diags) == state
    assert edit.untaint(state, address, diags) is None
    assert [each.summary for each in diags] == ["Object is not tainted"]


def test_taint_nothing() -> None:
    diags = Diagnostics()
    address = parse_resource_instance("a.q", diags)
    assert address is not None
    assert edit.taint(state_with("a.x"), address, diags) is None
    assert [each.summary for each in diags] == ["Resource instance is not in the state"]


def test_replace_provider() -> None:
    diags = Diagnostics()
    old, new = parse_provider("hashicorp/aws", diags), parse_provider("example.com/a/b", diags)
    assert old is not None
    assert new is not None
    state = state_with("a.x", "module.m.a.x")
    after = edit.replace_provider(state, old, new)
    assert {each.provider.text for each in after.resources.values()} == {
        'provider["example.com/a/b"].west'
    }
    assert [each.text for each in edit.resources_of_provider(after, new)] == ["a.x", "module.m.a.x"]
    assert edit.replace_provider(after, new, old) == state

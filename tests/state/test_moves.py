"""Moves: chains, nesting, circles, contradictions, taken places, and moves that go unsaid."""

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.addrs.absolute import AbsResource
from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.addrs.moves import MovePattern, unify_endpoints
from nigari.addrs.parse import (
    parse_module_block,
    parse_move_endpoint,
    parse_provider_instance,
    parse_resource_instance,
)
from nigari.diagnostics import Diagnostics, Range
from nigari.state.draft import StateDraft
from nigari.state.model import State, StoredObject
from nigari.state.moves.implied import RepetitionKind, implied_moves
from nigari.state.moves.moving import MoveResult, apply_moves
from nigari.state.moves.statements import MoveStatement, check_moves

PROVIDER = 'provider["terraform.io/builtin/terraform"]'


class Nothing:
    """A configuration without anything in its root module."""

    def modules(self, names: tuple[str, ...]) -> Sequence[ModuleAddr]:
        return () if names else (ROOT_MODULE,)

    def place_of(self, end: MovePattern) -> Range | None:
        return None


def state_with(*addresses: str) -> State:
    """A state whose objects remember where they were made."""
    diags = Diagnostics()
    provider = parse_provider_instance(PROVIDER, diags)
    assert provider is not None
    draft = StateDraft()
    for text in addresses:
        address = parse_resource_instance(text, diags)
        assert address is not None, list(diags)
        made = StoredObject('{"id":"' + text.replace('"', "'") + '"}')
        draft.set_current(address, made, provider)
    return draft.finish()


def statement(text: str) -> MoveStatement:
    """`a -> b`, or `module.m: a -> b` for a statement in a module."""
    diags = Diagnostics()
    where, _, what = text.rpartition(": ")
    declaring = parse_module_block(where, diags) if where else ROOT_MODULE
    old, _, new = what.partition(" -> ")
    source, target = parse_move_endpoint(old, diags), parse_move_endpoint(new, diags)
    assert declaring is not None
    assert source is not None
    assert target is not None
    ends = unify_endpoints(declaring, source, target)
    assert ends is not None
    return MoveStatement(*ends)


def places(state: State) -> dict[str, str]:
    """Where each object is, by where it was made."""
    return {
        instance.current.attributes[7:-2].replace("'", '"'): address.text
        for address, instance in state.instances()
        if instance.current is not None
    }


def moved(addresses: list[str], *statements: str) -> MoveResult:
    return apply_moves(state_with(*addresses), [statement(each) for each in statements])


MOVES: list[tuple[str, list[str], list[str], dict[str, str]]] = [
    ("resource", ["a.x"], ["a.x -> a.y"], {"a.x": "a.y"}),
    ("resource with instances", ["a.x[0]", 'a.x["k"]'], ["a.x -> a.y"], {"a.x[0]": "a.y[0]", 'a.x["k"]': 'a.y["k"]'}),
    ("one instance", ["a.x[0]", "a.x[1]"], ["a.x[0] -> a.y"], {"a.x[0]": "a.y", "a.x[1]": "a.x[1]"}),
    ("to a key", ["a.x"], ['a.x -> a.x["k"]'], {"a.x": 'a.x["k"]'}),
    ("into a module", ["a.x[0]"], ["a.x -> module.m.a.x"], {"a.x[0]": "module.m.a.x[0]"}),
    ("out of a module", ["module.m.a.x"], ["module.m.a.x -> a.x"], {"module.m.a.x": "a.x"}),
    ("module", ["module.m.a.x", "module.m[0].a.x"], ["module.m -> module.n"], {"module.m.a.x": "module.n.a.x", "module.m[0].a.x": "module.n[0].a.x"}),
    ("module with children", ["module.m.module.c[1].a.x"], ["module.m -> module.n"], {"module.m.module.c[1].a.x": "module.n.module.c[1].a.x"}),
    ("module instance", ["module.m[0].a.x", "module.m[1].a.x"], ['module.m[0] -> module.m["k"]'], {"module.m[0].a.x": 'module.m["k"].a.x', "module.m[1].a.x": "module.m[1].a.x"}),
    ("deeper", ["module.m.a.x"], ["module.m -> module.n.module.o"], {"module.m.a.x": "module.n.module.o.a.x"}),
    ("in every instance", ["module.m[0].a.x", "module.m[1].a.x"], ["module.m: a.x -> a.y"], {"module.m[0].a.x": "module.m[0].a.y", "module.m[1].a.x": "module.m[1].a.y"}),
    ("chain", ["a.x"], ["a.x -> a.y", "a.y -> a.z"], {"a.x": "a.z"}),
    ("chain told backwards", ["a.x"], ["a.y -> a.z", "a.x -> a.y"], {"a.x": "a.z"}),
    ("middle of a chain", ["a.y"], ["a.y -> a.z", "a.x -> a.y"], {"a.y": "a.z"}),
    ("module, then inside", ["module.m.a.x"], ["module.n: a.x -> a.y", "module.m -> module.n"], {"module.m.a.x": "module.n.a.y"}),
    ("inside, then module", ["module.m.a.x"], ["module.m.a.x -> module.m.a.y", "module.m -> module.n"], {"module.m.a.x": "module.n.a.y"}),
    ("resource, then instance", ["a.x"], ["a.y -> a.y[0]", "a.x -> a.y"], {"a.x": "a.y[0]"}),
    ("new key of a module, and a resource in it", ["module.m.a.x[0]"], ["module.m: a.x[0] -> a.x", "module.m -> module.m[0]"], {"module.m.a.x[0]": "module.m[0].a.x"}),
    ("key of a module lost, and a module in it", ["module.m[0].module.c.a.x"], ['module.m: module.c -> module.c["k"]', "module.m[0] -> module.m"], {"module.m[0].module.c.a.x": 'module.m.module.c["k"].a.x'}),
    ("new keys on three levels", ["module.m.module.c.a.x[0]"], ["module.m.module.c: a.x[0] -> a.x", 'module.m: module.c -> module.c["k"]', "module.m -> module.m[0]"], {"module.m.module.c.a.x[0]": 'module.m[0].module.c["k"].a.x'}),
    ("another key of a module, and inside", ['module.m["a"].a.x'], ["module.m: a.x -> a.y", 'module.m["a"] -> module.m["b"]'], {'module.m["a"].a.x': 'module.m["b"].a.y'}),
    ("nothing there", ["a.x"], ["a.q -> a.r", "module.q -> module.r"], {"a.x": "a.x"}),
    ("data", ["data.a.x"], ["data.a.x -> data.a.y"], {"data.a.x": "data.a.y"}),
    ("other type", ["a.x"], ["a.x -> b.x"], {"a.x": "b.x"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("addresses", "statements", "expected"), [row[1:] for row in MOVES], ids=[m[0] for m in MOVES]
)
def test_where_things_end_up(
    addresses: list[str], statements: list[str], expected: dict[str, str]
) -> None:
    result = moved(addresses, *statements)
    assert places(result.state) == expected
    assert result.blocked == []
    assert {each.source.text: each.target.text for each in result.moved.values()} == {
        old: new for old, new in expected.items() if old != new
    }


BLOCKED = [
    (["a.x", "a.y"], "a.x -> a.y", ("a.x", "a.y")),
    (["a.x[0]", "a.y[0]"], "a.x[0] -> a.y[0]", ("a.x[0]", "a.y[0]")),
    (["module.m.a.x", "module.n.b.x"], "module.m -> module.n", ("module.m", "module.n")),
]


@pytest.mark.parametrize(("addresses", "text", "blocked"), BLOCKED)
def test_a_taken_place_is_not_overwritten(
    addresses: list[str], text: str, blocked: tuple[str, str]
) -> None:
    result = moved(addresses, text)
    assert places(result.state) == {each: each for each in addresses}
    assert [(each.actual, each.wanted) for each in result.blocked] == [blocked]
    assert result.moved == {}


REFUSED = [
    (["a.x -> a.y", "a.y -> a.x"], "Cycle of moves"),
    (["a.x -> a.y", "a.y -> a.z", "a.z -> a.x"], "Cycle of moves"),
    (["module.m -> module.n", "module.n -> module.m"], "Cycle of moves"),
    (["a.x -> a.y", "a.x -> a.z"], "Contradicting moves"),
    (["a.x -> a.z", "a.y -> a.z"], "Contradicting moves"),
    (["a.x -> a.x"], "Move without effect"),
]


@pytest.mark.parametrize(("statements", "summary"), REFUSED)
def test_nonsense_is_refused_with_a_reason(statements: list[str], summary: str) -> None:
    diags = Diagnostics()
    check_moves([statement(each) for each in statements], Nothing(), diags)
    assert [each.summary for each in diags] == [summary]
    for text in statements:
        if summary == "Cycle of moves":
            assert text.replace("->", "→").partition(" ")[0] in diags[0].detail


COUNT, SINGLE, EACH = RepetitionKind.COUNT, RepetitionKind.SINGLE, RepetitionKind.FOR_EACH

IMPLIED: list[tuple[list[str], dict[str, RepetitionKind], list[str], dict[str, str]]] = [
    (["a.x"], {"a.x": COUNT}, [], {"a.x": "a.x[0]"}),
    (["a.x[0]", "a.x[1]"], {"a.x": SINGLE}, [], {"a.x[0]": "a.x", "a.x[1]": "a.x[1]"}),
    (["a.x"], {"a.x": EACH}, [], {"a.x": "a.x"}),
    (["a.x"], {"a.x": SINGLE}, [], {"a.x": "a.x"}),
    (["a.x[0]"], {"a.x": COUNT}, [], {"a.x[0]": "a.x[0]"}),
    (["a.x"], {}, [], {"a.x": "a.x"}),
    (["a.x", "a.x[0]"], {"a.x": COUNT}, [], {"a.x": "a.x", "a.x[0]": "a.x[0]"}),
    (["a.x"], {"a.x": COUNT}, ["a.x -> a.x[1]"], {"a.x": "a.x[1]"}),
    (["module.m.a.x"], {"module.m": COUNT, "module.m.a.x": SINGLE}, [], {"module.m.a.x": "module.m[0].a.x"}),
    (["module.m[0].a.x"], {"module.m": SINGLE, "module.m.a.x": SINGLE}, [], {"module.m[0].a.x": "module.m.a.x"}),
    (["module.m.a.x"], {"module.m": COUNT, "module.m.a.x": COUNT}, [], {"module.m.a.x": "module.m[0].a.x[0]"}),
    (["module.m.module.n.a.x"], {"module.m": SINGLE, "module.m.module.n": COUNT, "module.m.module.n.a.x": SINGLE}, [], {"module.m.module.n.a.x": "module.m.module.n[0].a.x"}),
]  # fmt: skip


@pytest.mark.parametrize(("addresses", "declared", "explicit", "expected"), IMPLIED)
def test_moves_that_go_unsaid(
    addresses: list[str],
    declared: dict[str, RepetitionKind],
    explicit: list[str],
    expected: dict[str, str],
) -> None:
    def repetition(block: ModuleAddr | AbsResource) -> tuple[RepetitionKind, Range | None] | None:
        found = declared.get(block.unkeyed.text)
        return None if found is None else (found, None)

    state = state_with(*addresses)
    given_ones = [statement(each) for each in explicit]
    implied = implied_moves(state, given_ones, repetition)
    result = apply_moves(state, [*given_ones, *implied])
    assert places(result.state) == expected
    assert all(each.implied is not bool(explicit) for each in result.moved.values())


@given(st.permutations(range(8)))
def test_the_order_of_statements_does_not_matter(order: list[int]) -> None:
    chain = [f"a.x{index} -> a.x{index + 1}" for index in range(8)]
    result = moved(["a.x0"], *(chain[index] for index in order))
    assert places(result.state) == {"a.x0": "a.x8"}


@pytest.mark.parametrize(
    "pattern",
    ['a.x[{0}] -> a.x["k{0}"]', 'module.m[{0}] -> module.m["k{0}"]', "a.x{0} -> a.y{0}"],
)
def test_many_moves_cost_no_more_than_their_number(pattern: str) -> None:
    state = state_with("a.q")
    few, many = (
        [statement(pattern.format(index)) for index in range(count)] for count in (500, 4000)
    )
    took = []
    for statements in (few, many):
        rounds = []
        for _ in range(3):
            started = time.process_time()
            apply_moves(state, statements)
            check_moves(statements, Nothing(), Diagnostics())
            rounds.append(time.process_time() - started)
        took.append(min(rounds))
    assert took[1] < took[0] * 8 * 3 + 0.2

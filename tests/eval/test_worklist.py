"""The list of work: order, effects, cycles, and lengths that recursion could not bear."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from nigari.diagnostics import Diagnostics
from nigari.eval.core.worklist import DONE, Effect, Need, Node, Stages, WorkList
from nigari.record import record


class Step(Node):
    """A node that needs others and counts how often it finishes."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.needs: list[Need] = []
        self.finished = 0
        self.failed = False
        self.answered: set[Effect] = set()

    @property
    def label(self) -> str:
        return self.name

    def fail(self) -> None:
        self.failed = True

    def step(self) -> Sequence[Need]:
        missing = [
            need
            for need in self.needs
            if (need not in self.answered if isinstance(need, Effect) else need.state != DONE)
        ]
        if not missing:
            self.finished += 1
        return missing


@record
class Call(Effect):
    name: str


def _unasked(effects: Sequence[Effect]) -> None:
    raise AssertionError(effects)


def test_each_node_finishes_once_and_after_what_it_needs() -> None:
    a, b, c = Step("a"), Step("b"), Step("c")
    a.needs, b.needs = [b, c], [c]
    work = WorkList(Diagnostics())
    work.want([a, b, c, a])
    work.pump()
    assert [node.finished for node in (a, b, c)] == [1, 1, 1]


def test_a_chain_of_any_length() -> None:
    nodes = [Step(str(n)) for n in range(50_000)]
    for node, following in itertools.pairwise(nodes):
        node.needs = [following]
    work = WorkList(Diagnostics())
    work.want(nodes[:1])
    work.pump()
    assert all(node.finished == 1 for node in nodes)


def test_an_effect_is_told_of_once_and_wakes_all_who_wait_for_it() -> None:
    a, b, effect = Step("a"), Step("b"), Call("x")
    a.needs, b.needs = [effect], [Call("x")]
    work = WorkList(Diagnostics())
    work.want([a, b])
    work.pump()
    assert work.new_effects == [effect]
    for node in (a, b):
        node.answered.add(effect)
    work.answer(effect)
    work.pump()
    assert (a.finished, b.finished) == (1, 1)


def test_a_cycle_is_named_and_the_rest_goes_on() -> None:
    a, b, c, outside = Step("a"), Step("b"), Step("c"), Step("outside")
    a.needs, b.needs, c.needs, outside.needs = [b], [c], [a], [a]
    diags = Diagnostics()
    work = WorkList(diags)
    work.want([outside])
    work.pump()
    assert work.break_a_cycle()
    (told,) = diags
    assert "a → b → c → a" in told.detail
    work.pump()
    assert all(node.failed for node in (a, b, c))
    assert outside.finished == 1
    assert not work.break_a_cycle()


def test_a_node_that_needs_itself() -> None:
    a = Step("a")
    a.needs = [a]
    diags = Diagnostics()
    work = WorkList(diags)
    work.want([a])
    work.pump()
    assert work.break_a_cycle()
    assert [each.summary for each in diags] == ["Reference to itself"]
    assert a.failed


def test_two_separate_cycles_are_found_one_after_the_other() -> None:
    a, b, c, d = (Step(name) for name in "abcd")
    a.needs, b.needs, c.needs, d.needs = [b], [a], [d], [c]
    diags = Diagnostics()
    work = WorkList(diags)
    work.want([a, c])
    work.run(_unasked)
    first, second = sorted(each.detail for each in diags)
    assert "a → b → a" in first or "b → a → b" in first
    assert "c → d → c" in second or "d → c → d" in second


def test_stages_go_on_where_they_stopped() -> None:
    waiting, done = [Step("x")], []

    def first() -> Sequence[Need]:
        done.append("first")
        return ()

    def second() -> Sequence[Need]:
        done.append("second")
        return waiting

    stages = Stages(first, second)
    assert stages.step() == waiting
    waiting = []
    assert stages.step() == ()
    assert done == ["first", "second", "second"]

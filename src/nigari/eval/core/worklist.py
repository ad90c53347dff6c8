"""Things that are computed once, when someone asks: nodes, effects and the list of work.

A node is stepped, never awaited: a step either finishes the node or says what it still needs,
which are other nodes or effects. An effect is frozen data that says what must happen outside (a
module must be installed, an instance planned); who runs the list decides how. One list owns all
waiting, so there is no recursion between nodes and a chain may be of any length.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from nigari.diagnostics import Diagnostics, Range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


NEW: Final = 0
WAITING: Final = 1
DONE: Final = 2


class Node(ABC):
    """Something with a result that is worked out at most once."""

    __slots__ = ("missing", "state", "waiters")

    def __init__(self) -> None:
        self.state: int = NEW
        self.missing: int = 0
        self.waiters: list[Node] = []

    @abstractmethod
    def step(self) -> Sequence[Need]:
        """Go on as far as possible. Whatever is returned must be done before the next step;
        nothing means that this node is finished and has its result.
        """

    @abstractmethod
    def fail(self) -> None:
        """Take a result that silences follow-up errors, because a cycle was reported."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The name by which a user knows this node: `local.a`, `var.x of module.m`."""

    @property
    def declared_label(self) -> str:
        """The name of what is declared: for one of several instances, that of all of them."""
        return self.label

    @property
    def range(self) -> Range | None:
        """The range of the declaration, if there is one."""
        return None

    def mention_of(self, other: Node) -> Range | None:
        """The range of the node's reference to another one, as closely as it is known."""
        return self.range

    @property
    def about(self) -> str:
        """The address of the instance that its diagnostics are about; nothing where the place of
        a diagnostic says enough.
        """
        return ""


class AllOf(Node):
    """Nodes that many others wait for together: each of those waits once, and not for every node.

    Users know nothing of it, so it is left out of cycles.
    """

    __slots__ = ("_nodes",)

    def __init__(self, nodes: Sequence[Node]) -> None:
        super().__init__()
        self._nodes = nodes

    def step(self) -> Sequence[Need]:
        return [node for node in self._nodes if node.state != DONE]

    def fail(self) -> None:
        """It has no result."""

    @property
    def label(self) -> str:
        return ", ".join(node.label for node in self._nodes)


class Stages:
    """Several things that a node does one after the other, each of which may have to wait."""

    __slots__ = ("_at", "_stages")

    def __init__(self, *stages: Callable[[], Sequence[Need]]) -> None:
        self._stages = stages
        self._at = 0

    def step(self) -> Sequence[Need]:
        """Go on with the stage at hand; nothing is needed any more when all are done."""
        while self._at < len(self._stages):
            needs = self._stages[self._at]()
            if needs:
                return needs
            self._at += 1
        return ()

    def follow_with(self, *stages: Callable[[], Sequence[Need]]) -> None:
        """Do these after the stage at hand, instead of what would have followed."""
        self._stages = (*self._stages[: self._at + 1], *stages)


class Effect:
    """Something that must happen outside before a node can go on. Subclasses are frozen data,
    equal when the same thing is asked for; each is answered once.
    """

    __slots__ = ()


Need = Node | Effect


class WorkList:
    """The nodes that are not finished yet and what each waits for. It may grow while it runs."""

    __slots__ = ("_effect_waiters", "_needs", "_ready", "_report", "diags", "new_effects")

    def __init__(
        self, diags: Diagnostics, report: Callable[[str, Exception], None] | None = None
    ) -> None:
        """`report` hears of nodes that fail by an exception, so that the others can go on."""
        self.diags: Diagnostics = diags
        """The collector for problems that nodes report."""
        self._report = report
        self._ready: deque[Node] = deque()
        self._needs: dict[Node, Sequence[Need]] = {}
        self._effect_waiters: dict[Effect, list[Node]] = {}
        self.new_effects: list[Effect] = []
        """Effects that the driver has not seen yet; it empties this list."""

    def want(self, nodes: Iterable[Node]) -> None:
        """Add nodes whose results are wanted."""
        for node in nodes:
            if node.state == NEW:
                node.state = WAITING
                self._ready.append(node)

    def answer(self, effect: Effect) -> None:
        """Tell the nodes that waited for this effect that it has happened."""
        for node in self._effect_waiters.pop(effect, ()):
            self._release(node)

    def abandon(self, effect: Effect) -> None:
        """Fail the nodes that waited for this effect, because it will never happen."""
        for node in self._effect_waiters.pop(effect, ()):
            if node.state != DONE:
                node.fail()
                self._needs.pop(node, None)
                self._finish(node)

    def pump(self) -> None:
        """Step every node that can be stepped, until all are done or wait."""
        ready, diags = self._ready, self.diags
        while ready:
            node = ready.pop()
            reported = len(diags)
            try:
                needs = node.step()
            except Exception as error:
                if self._report is None:
                    raise
                self._report(node.label, error)
                node.fail()
                needs = ()
            if len(diags) > reported:
                diags.name_since(reported, node.about)
            if needs:
                self._park(node, needs)
            else:
                self._finish(node)

    def _park(self, node: Node, needs: Sequence[Need]) -> None:
        missing = 0
        for need in needs:
            if isinstance(need, Node):
                if need.state == DONE:
                    continue
                need.waiters.append(node)
                if need.state == NEW:
                    need.state = WAITING
                    self._ready.append(need)
            else:
                waiters = self._effect_waiters.get(need)
                if waiters is None:
                    self._effect_waiters[need] = [node]
                    self.new_effects.append(need)
                else:
                    waiters.append(node)
            missing += 1
        if missing:
            node.missing = missing
            self._needs[node] = needs
        else:
            self._ready.append(node)

    def _finish(self, node: Node) -> None:
        node.state = DONE
        waiters = node.waiters
        node.waiters = []
        for waiter in waiters:
            self._release(waiter)

    def _release(self, node: Node) -> None:
        if node.state == DONE:
            return
        node.missing -= 1
        if node.missing == 0:
            del self._needs[node]
            self._ready.append(node)

    def run(self, answer: Callable[[Sequence[Effect]], None]) -> None:
        """Go on until everything that is wanted is done; cycles are reported and broken.

        `answer` has all effects of a round at once, so that whatever they wait for overlaps.
        """
        while True:
            self.pump()
            if self.new_effects:
                effects, self.new_effects = self.new_effects, []
                answer(effects)
            elif not self.break_a_cycle():
                return

    def break_a_cycle(self) -> bool:
        """Report a cycle and fail its nodes, so that the rest can go on; whether there is one.

        Only to be asked when no effect is outstanding.
        """
        if not self._needs:
            return False
        cycle = self._find_cycle()
        _report_cycle(cycle, self.diags)
        for node in cycle:
            node.fail()
            node.state = DONE
            self._needs.pop(node, None)
        for node in cycle:
            self._finish(node)
        return True

    def _find_cycle(self) -> list[Node]:
        """Nodes that each need the next, and the last the first: all that wait lead to such."""
        position: dict[Node, int] = {}
        path: list[Node] = []
        node = next(iter(self._needs))
        while node not in position:
            position[node] = len(path)
            path.append(node)
            node = self._waited_for(node)
        return [each for each in path[position[node] :] if not isinstance(each, AllOf)]

    def _waited_for(self, node: Node) -> Node:
        for need in self._needs[node]:
            if isinstance(need, Node) and need.state == WAITING and need in self._needs:
                return need
        raise AssertionError(f"{node.label} waits for nothing that is waiting")


def _report_cycle(nodes: list[Node], diags: Diagnostics) -> None:
    where = _closest_mention(nodes)
    # A resource and its instances go by the same name.
    labels = [name for name, _ in groupby(node.declared_label for node in nodes)]
    if len(labels) > 1 and labels[0] == labels[-1]:
        labels.pop()
    if len(labels) == 1:
        diags.error(
            "Reference to itself",
            f"{labels[0]} depends on itself, so it has no value. Use another value here.",
            where,
        )
        return
    around, hint = " → ".join([*labels, labels[0]]), ""
    if any("[" in label.partition(" of module.")[2] for label in labels):
        hint = (
            " Instances of a module call that have the same source are taken together, and each "
            "argument of a call counts with all that it mentions, so that one instance cannot depend "
            "on another: write a module block of its own for it."
        )
    diags.error(
        "Dependency cycle",
        f"These values depend on each other in a cycle: {around}. Break the cycle by giving one "
        f"of them a value that does not depend on the others.{hint}",
        where,
    )


def _closest_mention(nodes: list[Node]) -> Range | None:
    """The range of a reference of one node of a cycle to the next, or else of a declaration."""
    after = (*nodes[1:], nodes[0])
    mentions = [node.mention_of(other) for node, other in zip(nodes, after, strict=True)]
    close = (
        mention for node, mention in zip(nodes, mentions, strict=True) if mention != node.range
    )
    return next(close, next((each for each in mentions if each is not None), None))

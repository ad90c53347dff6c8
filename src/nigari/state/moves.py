"""Moves: one table of old and new addresses, applied to a state.

A statement says that what was at one address is now at another. Statements may chain, and one may
move a module while another moves something in it, so they are put in order first; statements that
go in a circle are refused. A place that is taken is never overwritten: the move is blocked and
reported as such. Which statements a configuration has, and what it declares, is told by callers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from nigari.addrs.absolute import AbsResource, AbsResourceInstance, instance_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.addrs.moves import (
    ANY_KEY,
    KeyPattern,
    MovePattern,
    implied_endpoint,
    instance_destination,
    is_module_reindex,
    module_destination,
    resource_destination,
)
from nigari.diagnostics import Cause, Diagnostic, Diagnostics, Range, Severity
from nigari.state.model import State
from nigari.state.places import Places


@dataclass(frozen=True, slots=True)
class MoveStatement:
    """What was at `source` is now at `target`."""

    source: MovePattern
    target: MovePattern
    subject: Range | None = None
    implied: bool = False
    """Whether it follows from `count` added to or removed from a block."""

    def __str__(self) -> str:
        return f"{self.source} → {self.target}"


@dataclass(frozen=True, slots=True)
class Moved:
    """A resource instance that is at a new address."""

    source: AbsResourceInstance
    """Where it was before all moves."""
    target: AbsResourceInstance
    implied: bool = False


@dataclass(frozen=True, slots=True)
class Blocked:
    """Something that could not move because its new place is taken."""

    actual: str
    wanted: str
    statement: MoveStatement


@dataclass(frozen=True, slots=True)
class MoveResult:
    """A state after all moves, and what they did."""

    state: State
    moved: dict[AbsResourceInstance, Moved] = field(default_factory=dict)
    """By new address."""
    blocked: list[Blocked] = field(default_factory=list)


class Repetition(Enum):
    """How a block is repeated."""

    SINGLE = "single"
    COUNT = "count"
    FOR_EACH = "for_each"


BlockRepetition: TypeAlias = Callable[
    [ModuleAddr | AbsResource], tuple[Repetition, Range | None] | None
]
"""How the call or resource block at an un-keyed address is repeated, `None` if there is none."""


def apply_moves(
    state: State, statements: Sequence[MoveStatement], diags: Diagnostics
) -> MoveResult:
    """The state after all moves; unchanged, after reporting why, if they make no sense."""
    if not statements:
        return MoveResult(state)
    check_moves(statements, diags)
    order = _in_order(statements, diags)
    if order is None or diags.has_errors:
        return MoveResult(state)
    places = Places(state)
    result = MoveResult(state)
    for statement in order:
        if statement.source.resource is None:
            _move_modules(places, statement, result)
        else:
            _move_resources(places, statement, result)
    return MoveResult(places.finish(), result.moved, result.blocked)


def _move_modules(places: Places, statement: MoveStatement, result: MoveResult) -> None:
    for module in places.modules_for(statement.source):
        target = module_destination(module, statement.source, statement.target)
        if target is None:
            continue
        if places.has_module(target):
            result.blocked.append(Blocked(module.text, target.text, statement))
            continue
        for resource in places.resources_in(module):
            for old in places.instances_of(resource):
                new = instance_destination(old, statement.source, statement.target)
                if new is not None:
                    _record(result, old, new, statement)
        places.move_module(module, target)


def _move_resources(places: Places, statement: MoveStatement, result: MoveResult) -> None:
    for module in places.modules_for(statement.source):
        if not statement.source.selects_module(module):
            continue
        for resource in places.resources_in(module):
            if resource.item == statement.source.resource:
                _move_resource(places, resource, statement, result)


def _move_resource(
    places: Places, resource: AbsResource, statement: MoveStatement, result: MoveResult
) -> None:
    whole = resource_destination(resource, statement.source, statement.target)
    if whole is not None:
        if places.resource(whole) is not None:
            result.blocked.append(Blocked(resource.text, whole.text, statement))
            return
        for old in places.instances_of(resource):
            _record(result, old, instance_of(whole, old.item.key), statement)
        places.move_resource(resource, whole)
        return
    key = statement.source.key
    if key is ANY_KEY:
        return
    old = instance_of(resource, key)
    new = instance_destination(old, statement.source, statement.target)
    if new is None or places.instance(old) is None:
        return
    if places.instance(new) is not None:
        result.blocked.append(Blocked(old.text, new.text, statement))
        return
    _record(result, old, new, statement)
    places.move_instance(old, new)


def _record(
    result: MoveResult,
    old: AbsResourceInstance,
    new: AbsResourceInstance,
    statement: MoveStatement,
) -> None:
    earlier = result.moved.pop(old, None)
    source = old if earlier is None else earlier.source
    result.moved[new] = Moved(source, new, statement.implied)


def implied_moves(
    state: State, explicit: Iterable[MoveStatement], repetition_of: BlockRepetition
) -> list[MoveStatement]:
    """The moves that follow from `count` having been added to or removed from a block.

    A block that an explicit statement speaks of is left to that statement.
    """
    spoken_of = _SpokenOf(explicit)
    implied: list[MoveStatement] = []
    seen: set[ModuleAddr] = set()
    for resource in state.resources.values():
        module: ModuleAddr | None = resource.address.module
        while module is not None and not module.is_root and module not in seen:
            seen.add(module)
            declared = repetition_of(module.unkeyed)
            key = None if declared is None else _implied_key([module.key], declared[0])
            if declared is not None and key is not None and not spoken_of.module(module):
                assert module.parent is not None
                new_module = module.parent.child(module.name, key[1])
                implied.append(
                    MoveStatement(
                        implied_endpoint(module), implied_endpoint(new_module), declared[1], True
                    )
                )
            module = module.parent
        declared = repetition_of(resource.address.unkeyed)
        key = None if declared is None else _implied_key(resource.instances, declared[0])
        if declared is not None and key is not None and not spoken_of.resource(resource.address):
            implied.append(
                MoveStatement(
                    implied_endpoint(instance_of(resource.address, key[0])),
                    implied_endpoint(instance_of(resource.address, key[1])),
                    declared[1],
                    True,
                )
            )
    return implied


def _implied_key(
    keys: Iterable[InstanceKey], repetition: Repetition
) -> tuple[InstanceKey, InstanceKey] | None:
    """The key that one instance had, and the one it has now, if that goes without saying."""
    present = keys if isinstance(keys, Mapping) else list(keys)
    if repetition is Repetition.COUNT and None in present:
        return None, 0
    if repetition is Repetition.SINGLE and 0 in present:
        return 0, None
    return None


class _SpokenOf:
    """What explicit statements name at either end."""

    __slots__ = ("_ends",)

    def __init__(self, statements: Iterable[MoveStatement]) -> None:
        self._ends: dict[tuple[str, ...], list[MovePattern]] = {}
        for statement in statements:
            for end in (statement.source, statement.target):
                self._ends.setdefault(_names(end), []).append(end)

    def module(self, module: ModuleAddr) -> bool:
        """Whether a statement is about this module instance, or about something in it."""
        return any(end.selects_module(module) for end in self._ends.get(module.names, ()))

    def resource(self, resource: AbsResource) -> bool:
        """Whether a statement is about this resource or an instance of it."""
        ends = self._ends.get(resource.module.names, ())
        return any(end.selects_resource(resource) for end in ends)


def _names(pattern: MovePattern) -> tuple[str, ...]:
    return tuple(name for name, _ in pattern.steps)


def check_moves(statements: Sequence[MoveStatement], diags: Diagnostics) -> None:
    """Report statements that say nothing, or that contradict each other."""
    by_source: dict[str, MoveStatement] = {}
    by_target: dict[str, MoveStatement] = {}
    for statement in statements:
        source, target = str(statement.source), str(statement.target)
        if source == target:
            diags.append(move_to_itself(statement))
            continue
        earlier = by_source.setdefault(source, statement)
        if str(earlier.target) != target:
            diags.append(two_destinations(statement, earlier))
        earlier = by_target.setdefault(target, statement)
        if str(earlier.source) != source:
            diags.append(two_origins(statement, earlier))


def _in_order(
    statements: Sequence[MoveStatement], diags: Diagnostics
) -> list[MoveStatement] | None:
    """The statements, each after those that it builds on."""
    needs: list[set[int]] = [set() for _ in statements]
    needed_by: list[list[int]] = [[] for _ in statements]
    for later, earlier in _related(statements):
        if (
            later != earlier
            and earlier not in needs[later]
            and _builds_on(statements[later], statements[earlier])
        ):
            needs[later].add(earlier)
            needed_by[earlier].append(later)
    waiting = [len(each) for each in needs]
    ready = [index for index, count in enumerate(waiting) if not count]
    order: list[int] = []
    while len(order) < len(ready):
        done = ready[len(order)]
        order.append(done)
        for index in needed_by[done]:
            waiting[index] -= 1
            if not waiting[index]:
                ready.append(index)
    if len(order) < len(statements):
        diags.append(moves_in_a_circle(_circle(statements, needs, set(order))))
        return None
    return [statements[index] for index in order]


def _circle(
    statements: Sequence[MoveStatement], needs: list[set[int]], done: set[int]
) -> list[MoveStatement]:
    at = next(index for index in range(len(statements)) if index not in done)
    way: dict[int, None] = {}
    while at not in way:
        way[at] = None
        at = min(index for index in needs[at] if index not in done)
    circle = list(way)
    return [statements[index] for index in reversed(circle[circle.index(at) :])]


def _builds_on(later: MoveStatement, earlier: MoveStatement) -> bool:
    """Whether one statement must be applied after another."""
    if later.source.can_chain_from(earlier.target):
        return True
    if not (
        later.source.is_nested_within(earlier.target)
        or later.target.is_nested_within(earlier.target)
        or earlier.source.is_nested_within(later.source)
        or earlier.target.is_nested_within(later.source)
    ):
        return False
    # A new key for a call's instance does not wait for moves inside of it.
    return len(later.target.steps) >= len(earlier.target.steps) or not is_module_reindex(
        later.source, later.target
    )


_Place: TypeAlias = tuple[tuple[str, ...], str, KeyPattern]


def _related(statements: Sequence[MoveStatement]) -> Iterator[tuple[int, int]]:
    """Pairs of statements that may build on each other, found without comparing all with all."""
    targets, sources = _PlaceIndex(), _PlaceIndex()
    for index, statement in enumerate(statements):
        targets.add(statement.target, index)
        sources.add(statement.source, index)
    for index, statement in enumerate(statements):
        for end in (statement.source, statement.target):
            for earlier in targets.around(end):
                yield index, earlier
            for later in sources.around(end):
                yield later, index


class _PlaceIndex:
    """Statements by the places that one of their ends names."""

    __slots__ = ("_by_path", "_by_place")

    def __init__(self) -> None:
        self._by_place: dict[_Place, list[int]] = {}
        self._by_path: dict[tuple[tuple[str, ...], str], list[int]] = {}

    def add(self, end: MovePattern, index: int) -> None:
        names = _names(end)
        resource, key = "", end.key
        if end.resource is not None:
            resource = end.resource.text
        elif end.steps:
            key = end.steps[-1][1]
        self._by_place.setdefault((names, resource, key), []).append(index)
        self._by_path.setdefault((names, resource), []).append(index)

    def around(self, end: MovePattern) -> Iterator[int]:
        """The statements whose place is that of `end`, or something that it is in."""
        names = _names(end)
        if end.resource is not None:
            yield from self._at(names, end.resource.text, end.key)
        for depth in range(len(names), 0, -1):
            yield from self._at(names[:depth], "", end.steps[depth - 1][1])

    def _at(self, names: tuple[str, ...], resource: str, key: KeyPattern) -> Iterator[int]:
        if key is ANY_KEY:
            yield from self._by_path.get((names, resource), ())
            return
        yield from self._by_place.get((names, resource, key), ())
        yield from self._by_place.get((names, resource, ANY_KEY), ())


def move_to_itself(statement: MoveStatement) -> Diagnostic:
    """A statement whose two ends are the same."""
    return Diagnostic(
        Severity.ERROR,
        "Move without effect",
        f"This statement moves {statement.source} to the same address. Remove it.",
        statement.subject,
    )


def two_destinations(statement: MoveStatement, earlier: MoveStatement) -> Diagnostic:
    """Two statements that move one thing to different addresses."""
    return Diagnostic(
        Severity.ERROR,
        "Contradicting moves",
        f"This statement moves {statement.source} to {statement.target}, and another moves it to"
        f" {earlier.target}. A thing can move to one address only.",
        statement.subject,
        causes=(Cause(f"moved to {earlier.target} by this statement", earlier.subject),),
    )


def two_origins(statement: MoveStatement, earlier: MoveStatement) -> Diagnostic:
    """Two statements that move different things to one address."""
    return Diagnostic(
        Severity.ERROR,
        "Contradicting moves",
        f"This statement moves {statement.source} to {statement.target}, and another moves"
        f" {earlier.source} there. Only one thing can move to an address.",
        statement.subject,
        causes=(Cause(f"{earlier.source} moved there by this statement", earlier.subject),),
    )


def moves_in_a_circle(circle: list[MoveStatement]) -> Diagnostic:
    """Statements that lead back to where they began."""
    listed = "\n".join(f"  - {statement}" for statement in circle)
    return Diagnostic(
        Severity.ERROR,
        "Moves in a circle",
        f"These statements move things in a circle, so there is no place where they end up:\n\n"
        f"{listed}\n\nThe last address of a chain of moves must not be moved again.",
        circle[0].subject,
        causes=tuple(Cause(f"move {each}", each.subject) for each in circle if each.subject),
    )


def move_blocked(blocked: Blocked) -> Diagnostic:
    """A move whose destination is taken; for planning, which goes on without the move."""
    return Diagnostic(
        Severity.WARNING,
        "Move is blocked",
        f"{blocked.actual} was to move to {blocked.wanted}, where something else is already. It"
        " stays where it is and will be destroyed if the configuration no longer has it there."
        " Use state mv to make the destination free, or remove one of the two.",
        blocked.statement.subject,
    )

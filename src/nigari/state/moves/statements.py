"""Relations between move statements: contradictions and order.

Statements may chain, and one may move a module while another moves something in it, so that each is
applied after those it builds on. Deliberately unknown here: the objects at the addresses, and the
configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from nigari.addrs.module import ModuleAddr
from nigari.addrs.moves import ANY_KEY, KeyPattern, MovePattern, is_module_reindex
from nigari.diagnostics import Cause, Diagnostic, Diagnostics, Range, Severity
from nigari.record import record
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


@record
class MoveStatement:
    """The object at `source` moves to `target`."""

    source: MovePattern
    target: MovePattern
    subject: Range | None = None
    implied: bool = False
    """True if it follows from `count` added to or removed from a block."""

    def __str__(self) -> str:
        return f"{self.source} → {self.target}"


class DeclaredInstances(Protocol):
    """The instances that a configuration declares."""

    def modules(self, names: tuple[str, ...]) -> Iterable[ModuleAddr]:
        """List the instances of the module at the end of these calls."""
        ...

    def place_of(self, end: MovePattern) -> Range | None:
        """Return the range of a declared object that matches an endpoint; None if there is none."""
        ...


def check_moves(
    statements: Sequence[MoveStatement], declared: DeclaredInstances, diags: Diagnostics
) -> None:
    """Report statements that contradict each other or the configuration.

    A cycle is reported only if there is no other mistake, since most cycles are a consequence of
    one.
    """
    errors = diags.error_count
    by_source: dict[MovePattern, tuple[MovePattern, MoveStatement]] = {}
    by_target: dict[MovePattern, tuple[MovePattern, MoveStatement]] = {}
    for statement in statements:
        for module in declared.modules(statement.source.names[: statement.source.declared]):
            # The statement applies to each instance of the module that contains the block.
            if not statement.source.is_declared_in(module):
                continue
            source, target = statement.source.within(module), statement.target.within(module)
            # OpenTofu: a move to the same address is an error, as it declares nothing.
            if source == target:
                diags.append(move_to_itself(source, statement))
                continue
            place = declared.place_of(source)
            # The object could neither move nor stay: both addresses would claim it.
            if place is not None:
                diags.append(still_declared(source, target, statement, place))
            # Two statements for one address leave the result to chance, so both ends must be
            # unique.
            other, earlier = by_source.setdefault(source, (target, statement))
            if other != target:
                diags.append(two_destinations(source, target, statement, other, earlier))
            other, earlier = by_target.setdefault(target, (source, statement))
            if other != source:
                diags.append(two_origins(source, target, statement, other, earlier))
    if diags.error_count == errors:
        in_order(statements, diags)


def in_order(statements: Sequence[MoveStatement], diags: Diagnostics) -> list[MoveStatement] | None:
    """Sort the statements, each after those it builds on; None after reporting a cycle."""
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
        diags.append(move_cycle(_cycle(statements, needs, set(order))))
        return None
    return [statements[index] for index in order]


def _cycle(
    statements: Sequence[MoveStatement], needs: list[set[int]], done: set[int]
) -> list[MoveStatement]:
    at = next(index for index in range(len(statements)) if index not in done)
    way: dict[int, None] = {}
    while at not in way:
        way[at] = None
        at = min(index for index in needs[at] if index not in done)
    cycle = list(way)
    return [statements[index] for index in reversed(cycle[cycle.index(at) :])]


def _builds_on(later: MoveStatement, earlier: MoveStatement) -> bool:
    """Check whether one statement must be applied after another."""
    # CanChainFrom: a move to an address precedes the move away from it.
    if later.source.can_chain_from(earlier.target):
        return True
    # buildMoveStatementGraph (statementDependsOn): nested in either direction, since a module
    # that moves takes along what is in it.
    if not (
        later.source.is_nested_within(earlier.target)
        or later.target.is_nested_within(earlier.target)
        or earlier.source.is_nested_within(later.source)
        or earlier.target.is_nested_within(later.source)
    ):
        return False
    # OpenTofu: a new key for a call's instance does not wait for moves declared in modules below,
    # as those apply under the old key as well as under the new one.
    is_below = earlier.target.declared > later.target.declared
    return not (is_below and is_module_reindex(later.source, later.target))


_Place: TypeAlias = tuple[tuple[str, ...], str, KeyPattern]


def _related(statements: Sequence[MoveStatement]) -> Iterator[tuple[int, int]]:
    """Yield pairs of statements that may build on each other, without comparing all with all."""
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
    """Statements indexed by the addresses of one of their ends."""

    __slots__ = ("_by_path", "_by_place")

    def __init__(self) -> None:
        self._by_place: dict[_Place, list[int]] = {}
        self._by_path: dict[tuple[tuple[str, ...], str], list[int]] = {}

    def add(self, end: MovePattern, index: int) -> None:
        names = end.names
        resource, key = "", end.key
        if end.resource is not None:
            resource = end.resource.text
        elif end.steps:
            key = end.steps[-1][1]
        self._by_place.setdefault((names, resource, key), []).append(index)
        self._by_path.setdefault((names, resource), []).append(index)

    def around(self, end: MovePattern) -> Iterator[int]:
        """Yield the statements at the address of `end`, or at one that contains it."""
        names = end.names
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


def move_to_itself(source: MovePattern, statement: MoveStatement) -> Diagnostic:
    """Report a statement whose two ends are the same."""
    return Diagnostic(
        Severity.ERROR,
        "Move without effect",
        f"This block moves {source.address} to the same address. Remove it.",
        statement.subject,
    )


def still_declared(
    source: MovePattern, target: MovePattern, statement: MoveStatement, place: Range
) -> Diagnostic:
    """Report a moved object that is still declared at its old address."""
    return Diagnostic(
        Severity.ERROR,
        "Moved object is still declared",
        f"This block moves {source.address} to {target.address}, and the configuration still "
        f"declares {source.address}. Remove that declaration, or the moved block.",
        statement.subject,
        causes=(Cause(f"{source.address} is declared here", place),),
    )


def two_destinations(
    source: MovePattern,
    target: MovePattern,
    statement: MoveStatement,
    other: MovePattern,
    earlier: MoveStatement,
) -> Diagnostic:
    """Report two statements that move one object to different addresses."""
    return Diagnostic(
        Severity.ERROR,
        "Contradicting moves",
        f"This block moves {source.address} to {target.address}, and another one moves it to "
        f"{other.address}. An object can move to one address only.",
        statement.subject,
        causes=(Cause(f"moved to {other.address} by this block", earlier.subject),),
    )


def two_origins(
    source: MovePattern,
    target: MovePattern,
    statement: MoveStatement,
    other: MovePattern,
    earlier: MoveStatement,
) -> Diagnostic:
    """Report two statements that move different objects to one address."""
    return Diagnostic(
        Severity.ERROR,
        "Contradicting moves",
        f"This block moves {source.address} to {target.address}, and another one moves "
        f"{other.address} there. Only one object can move to an address.",
        statement.subject,
        causes=(Cause(f"{other.address} moved there by this block", earlier.subject),),
    )


def move_cycle(cycle: list[MoveStatement]) -> Diagnostic:
    """Report a cycle of statements."""
    listed = "\n".join(f"  - {statement}" for statement in cycle)
    return Diagnostic(
        Severity.ERROR,
        "Cycle of moves",
        f"These blocks move objects in a cycle, so the moves never end:\n\n{listed}\n\nThe last "
        "address in a chain of moves must not be moved again.",
        cycle[0].subject,
        causes=tuple(Cause(f"move {each}", each.subject) for each in cycle if each.subject),
    )

"""Application of move statements to a state.

An occupied address is never overwritten: the move is blocked and reported. Callers provide the
statements of the configuration.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.absolute import AbsResource, AbsResourceInstance, instance_of
from nigari.addrs.moves import (
    ANY_KEY,
    instance_destination,
    module_destination,
    resource_destination,
)
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.record import record, replace
from nigari.state.indexed_draft import IndexedDraft
from nigari.state.model import State
from nigari.state.moves.statements import MoveStatement, in_order


@record
class MovedInstance:
    """A moved resource instance."""

    source: AbsResourceInstance
    """Address before all moves."""
    target: AbsResourceInstance
    implied: bool = False


@record
class Blocked:
    """An object that could not move because its destination is occupied."""

    actual: str
    wanted: str
    statement: MoveStatement


@record
class MoveResult:
    """A state after all moves, with a record of them."""

    state: State
    moved: dict[AbsResourceInstance, MovedInstance]
    """By new address."""
    blocked: list[Blocked]


def apply_moves(state: State, statements: Sequence[MoveStatement]) -> MoveResult:
    """Apply all moves; a cycle leaves the state unchanged.

    `check_moves` validates the statements, once the declared objects are known.
    """
    # ApplyMoves: a cycle was reported by ValidateMoves, so nothing is moved here.
    order = in_order(statements, Diagnostics()) if statements else None
    if order is None:
        return MoveResult(state, {}, [])
    places = IndexedDraft(state)
    result = MoveResult(state, {}, [])
    for statement in order:
        # An error of check_moves; applying it would report the object as blocked by
        # itself.
        if statement.source == replace(statement.target, range=statement.source.range):
            continue
        if statement.source.resource is None:
            _move_modules(places, statement, result)
        else:
            _move_resources(places, statement, result)
    return MoveResult(places.finish(), result.moved, result.blocked)


def _move_modules(places: IndexedDraft, statement: MoveStatement, result: MoveResult) -> None:
    for module in places.modules_for(statement.source):
        target = module_destination(module, statement.source, statement.target)
        if target is None:
            continue
        # OpenTofu: a blocked move is not an error, as the objects at both addresses still exist and
        # the plan shows what becomes of them.
        if places.has_module(target):
            result.blocked.append(Blocked(module.text, target.text, statement))
            continue
        for resource in places.resources_in(module):
            for old in places.instances_of(resource):
                new = instance_destination(old, statement.source, statement.target)
                if new is not None:
                    _record(result, old, new, statement)
        places.move_module(module, target)


def _move_resources(places: IndexedDraft, statement: MoveStatement, result: MoveResult) -> None:
    for module in places.modules_for(statement.source):
        if not statement.source.selects_module(module):
            continue
        for resource in places.resources_in(module):
            if resource.item == statement.source.resource:
                _move_resource(places, resource, statement, result)


def _move_resource(
    places: IndexedDraft, resource: AbsResource, statement: MoveStatement, result: MoveResult
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
    # A pattern for every instance is a move of the whole resource, which was handled above.
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
    # For the user, chained moves are one move from the first address.
    source = old if earlier is None else earlier.source
    result.moved[new] = MovedInstance(source, new, statement.implied)


def move_blocked(blocked: Blocked) -> Diagnostic:
    """Report a move whose destination is occupied; planning continues without it."""
    return Diagnostic(
        Severity.WARNING,
        "Move is blocked",
        f"{blocked.actual} was to be moved to {blocked.wanted}, but there is already another "
        "object there. It stays where it is, and will be destroyed unless the configuration "
        'declares it there. Use "nigari state mv" to free the destination, or remove one of the '
        "two.",
        blocked.statement.subject,
    )

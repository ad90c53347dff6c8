"""Implied moves: `count` was added to a block or removed from it.

Callers provide the repetition of the configuration's blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum

from nigari.addrs.absolute import AbsResource, instance_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.addrs.moves import MovePattern, implied_endpoint
from nigari.diagnostics import Range
from nigari.state.model import State
from nigari.state.moves.statements import MoveStatement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


class RepetitionKind(Enum):
    """Repetition of a block."""

    SINGLE = "single"
    COUNT = "count"
    FOR_EACH = "for_each"


BlockRepetition: TypeAlias = Callable[
    [ModuleAddr | AbsResource], tuple[RepetitionKind, Range | None] | None
]
"""Returns the repetition of the call or resource block at an address; `None` if it does not exist."""


def implied_moves(
    state: State, explicit: Iterable[MoveStatement], repetition_of: BlockRepetition
) -> list[MoveStatement]:
    """List the moves implied by added or removed `count`.

    As in OpenTofu, an explicit statement about a block replaces its implied moves.
    """
    spoken_of = _SpokenOf(explicit)
    implied: list[MoveStatement] = []
    seen: set[ModuleAddr] = set()
    for resource in state.resources.values():
        module: ModuleAddr | None = resource.address.module
        # Every enclosing module may have got or lost count, each on its own.
        while module is not None and not module.is_root and module not in seen:
            seen.add(module)
            declared = repetition_of(module)
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
        declared = repetition_of(resource.address)
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
    keys: Iterable[InstanceKey], repetition: RepetitionKind
) -> tuple[InstanceKey, InstanceKey] | None:
    """Return the old and new key of an implied move."""
    present = keys if isinstance(keys, Mapping) else list(keys)
    # OpenTofu (ImpliedMoveStatements): instance 0 takes over when count is added, and the object
    # without a key when it is removed. Nothing is implied for for_each, whose keys are arbitrary.
    if repetition is RepetitionKind.COUNT and None in present:
        return None, 0
    if repetition is RepetitionKind.SINGLE and 0 in present:
        return 0, None
    return None


class _SpokenOf:
    """Addresses in explicit statements, at either end."""

    __slots__ = ("_ends",)

    def __init__(self, statements: Iterable[MoveStatement]) -> None:
        self._ends: dict[tuple[str, ...], list[MovePattern]] = {}
        for statement in statements:
            for end in (statement.source, statement.target):
                self._ends.setdefault(end.names, []).append(end)

    def module(self, module: ModuleAddr) -> bool:
        """Check for a statement about this module instance or its content."""
        return any(end.selects_module(module) for end in self._ends.get(module.names, ()))

    def resource(self, resource: AbsResource) -> bool:
        """Check for a statement about this resource or an instance of it."""
        ends = self._ends.get(resource.module.names, ())
        return any(end.selects_resource(resource) for end in ends)

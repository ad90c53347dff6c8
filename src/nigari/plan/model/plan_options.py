"""Plan options: what the user asks of a plan."""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.module import ModuleAddr
from nigari.addrs.targets import Target
from nigari.plan.model.changes import PlanMode
from nigari.record import record


@record
class ReadObjects:
    """The stored objects that a plan with minimal refresh reads."""

    instances: frozenset[AbsResourceInstance] = frozenset()
    blocks: frozenset[tuple[ModuleAddr, str]] = frozenset()
    """Blocks of which all instances are read."""

    def __or__(self, other: ReadObjects) -> ReadObjects:
        return ReadObjects(self.instances | other.instances, self.blocks | other.blocks)


@record
class PlanOptions:
    """The user's options for a plan."""

    mode: PlanMode = PlanMode.NORMAL
    refreshes: bool = True
    only_reads: ReadObjects | None = None
    """The objects that are read while refreshing; None for all."""
    is_for_apply: bool = True
    """Whether the plan may be applied.

    Otherwise only the refreshed state is stored, and no object needs protection from it.
    """
    replaced: tuple[AbsResourceInstance, ...] = ()
    targets: tuple[Target, ...] = ()
    excluded: tuple[Target, ...] = ()
    invoked: tuple[Target, ...] = ()
    """The actions to run. Then nothing else is planned, and targets select what `caller` may be."""
    parallelism: int = 10
    defers: bool = False
    """Whether changes that depend on unknown values are deferred to a later round."""
    lists_whole: bool = False
    """Whether queries request whole objects, to generate configuration for them."""
    follows_imports: bool = True
    """Whether import blocks are executed. The import command ignores them."""

    @property
    def is_targeted(self) -> bool:
        """Return whether only a part of the configuration is planned."""
        return bool(self.targets or self.excluded) and not self.invoked

    @property
    def is_refresh_only(self) -> bool:
        """Return whether resources have the instances of the state, and nothing is imported."""
        return self.mode is PlanMode.REFRESH_ONLY

    @property
    def is_destroying(self) -> bool:
        """Return whether everything is destroyed."""
        return self.mode is PlanMode.DESTROY

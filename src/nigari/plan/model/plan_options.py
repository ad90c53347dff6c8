"""Plan options: what the user asks of a plan."""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.module import ModuleAddr
from nigari.addrs.targets import Target
from nigari.plan.model.changes import PlanMode
from nigari.record import record

PlacedBlock = tuple[ModuleAddr, tuple[ModuleAddr, str]]
"""A block of a variant, inside one module instance."""


@record
class ReadObjects:
    """The stored objects that a plan reads, besides those that it would change."""

    instances: frozenset[AbsResourceInstance] = frozenset()
    blocks: frozenset[PlacedBlock] = frozenset()
    """Blocks of which all instances in a module instance are read."""
    fresh: frozenset[AbsResourceInstance] = frozenset()
    """Objects that were read not long ago: they are read only if they would change."""
    reads_others: bool = False
    """True if everything is read that is not fresh."""
    reads_dependencies: bool = True
    """True if the dependencies of what would change are read, too."""
    age: int = 0
    """The number of seconds for which objects are fresh; 0 if their age does not matter."""
    changed: frozenset[tuple[str, str]] = frozenset()
    """Directories of modules and names of blocks there that were edited: their objects are read, and
    those of all blocks that depend on them.
    """

    def has(self, address: AbsResourceInstance, block: tuple[ModuleAddr, str]) -> bool:
        """Return whether an object is read."""
        if address in self.instances:
            return True
        if address in self.fresh:
            return False
        if self.reads_others:
            return True
        module: ModuleAddr | None = address.module if self.blocks else None
        while module is not None:
            if (module, block) in self.blocks:
                return True
            module = module.parent
        return False


@record
class PlanOptions:
    """The user's options for a plan."""

    mode: PlanMode = PlanMode.NORMAL
    refreshes: bool = True
    only_reads: ReadObjects | None = None
    """The objects that are read while refreshing; None for all."""
    is_for_apply: bool = True
    """True if the plan may be applied.

    Otherwise only the refreshed state is stored, and no object needs protection from it.
    """
    replaced: tuple[AbsResourceInstance, ...] = ()
    targets: tuple[Target, ...] = ()
    excluded: tuple[Target, ...] = ()
    invoked: tuple[Target, ...] = ()
    """The actions to run. Then nothing else is planned, and targets select what `caller` may be."""
    parallelism: int = 10
    defers: bool = False
    """True if changes that depend on unknown values are deferred to a later round."""
    lists_whole: bool = False
    """True if queries request whole objects, to generate configuration for them."""
    follows_imports: bool = True
    """True if import blocks are executed. The import command ignores them."""

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

"""Plan options: what the user asks of a plan."""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.targets import Target
from nigari.plan.model.changes import PlanMode
from nigari.record import record


@record
class PlanOptions:
    """What the user asks of a plan."""

    mode: PlanMode = PlanMode.NORMAL
    refreshes: bool = True
    is_for_apply: bool = True
    """Whether the plan may be applied. Otherwise only the refreshed state is stored, so that no
    object needs protection from it.
    """
    replaced: tuple[AbsResourceInstance, ...] = ()
    targets: tuple[Target, ...] = ()
    excluded: tuple[Target, ...] = ()
    parallelism: int = 10
    defers: bool = False
    """Whether changes that depend on unknown values are deferred to a later round."""
    follows_imports: bool = True
    """Whether import blocks are carried out; the import command ignores them."""

    @property
    def is_targeted(self) -> bool:
        """Whether only a part of the configuration is planned."""
        return bool(self.targets or self.excluded)

    @property
    def is_refresh_only(self) -> bool:
        """Whether the instances of resources are those of the state, and nothing is imported."""
        return self.mode is PlanMode.REFRESH_ONLY

    @property
    def is_destroying(self) -> bool:
        """Whether everything is destroyed."""
        return self.mode is PlanMode.DESTROY

"""The plan host: the lookups of nodes that plan, and the record of their results.

The run implements it (`nigari.plan.nodes.plan_run`); nodes know nothing else of the run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import Provider
from nigari.config.blocks.resource import Resource
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame
from nigari.events import Listener
from nigari.plan.model.plan_options import PlanOptions
from nigari.plan.nodes.imports import Imports
from nigari.plan.nodes.plan_record import PlanRecord
from nigari.plan.objects.prior_object import PriorModules, PriorObject
from nigari.plan.order.block_graph import BlockGraph
from nigari.plan.order.block_references import Block
from nigari.plan.order.block_settings import BlockSettings
from nigari.plan.order.selection import Selection
from nigari.running.deferrals import (
    Deferral,
    Deferrals,
)
from nigari.running.ephemeral_objects import EphemeralObjects
from nigari.running.provider_instances import ProviderInstances
from nigari.running.provider_pool import ProviderPool
from nigari.running.round_cache import RoundCache
from nigari.schema.provider import Schema
from nigari.state.model import State
from nigari.typed import Protocol


class PlanHost(Protocol):
    """The lookups of nodes, and where they record results."""

    diags: Diagnostics
    record: PlanRecord
    listener: Listener
    pool: ProviderPool
    providers: ProviderInstances
    prior: State
    """The state before planning, after moves."""
    prior_modules: PriorModules
    """The module instances that have objects in that state."""
    undeclared: frozenset[ModuleAddr]
    """The module instances in or below which that state has objects that are not declared."""
    settings: BlockSettings
    blocks: BlockGraph
    ephemeral: EphemeralObjects
    unread: dict[AbsResourceInstance, str]
    """Data sources of checks that could not be read, and why."""
    imports: Imports
    selection: Selection | None
    """The selection of `-target` and `-exclude`; None without them."""
    options: PlanOptions
    deferrals: Deferrals | None
    """Deferrals to a later round; None if everything must be known."""
    kept: RoundCache | None
    """The cache that rounds share, if there are several."""
    staying: frozenset[Block]
    """The blocks whose objects stay for now, though the configuration does not have them any more,
    because others need them that are left for later.
    """
    unreplaced: Mapping[Block, Deferral]
    """The blocks with objects that are not replaced for now, and what that waits for."""

    def meta_at(self, module: ModuleAddr, provider: Provider) -> Value | None:
        """The metadata of a module for a provider; None if it has none."""
        ...

    def schema_of(self, frame: Frame, resource: Resource) -> Schema | None:
        """The schema of a resource from its provider."""
        ...

    def creates_first(self, address: AbsResourceInstance) -> bool:
        """Return whether the replacement is created before the old object is destroyed."""
        ...

    def reads(self, address: AbsResourceInstance) -> bool:
        """Decide whether a stored object is read; the others are counted."""
        ...

    async def read(
        self,
        address: AbsResourceInstance,
        deposed: str,
        schema: Schema,
        prior: PriorObject,
        read: Callable[[Diagnostics], Awaitable[PriorObject | None]],
    ) -> tuple[PriorObject | None, Diagnostics]:
        """Read a stored object, with what its provider said; once for all attempts at a plan."""
        ...

    def previous_address(self, address: AbsResourceInstance) -> AbsResourceInstance | None:
        """The address of an instance before it was moved; None if it was not."""
        ...

"""The lookups of planning: what a node can ask the plan that it is part of.

A run answers them (`nigari.plan.nodes.plan_run`). What a node finds out, it notes in the record of the
plan. Nodes know nothing else of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import Provider
from nigari.config.blocks.resource import Resource
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame
from nigari.events import Listener
from nigari.plan.nodes.imports import Imports
from nigari.plan.nodes.plan_record import PlanRecord
from nigari.plan.objects.prior_object import PriorModules
from nigari.plan.order.block_graph import Block, BlockGraph
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


class PlanHost(Protocol):
    """The services of a plan to its nodes: lookups and records."""

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
    """The targets of the user, if any."""
    refreshes: bool
    is_refresh_only: bool
    """Whether the instances of resources are those of the state, and nothing is imported."""
    is_for_apply: bool
    """Whether the plan may be carried out. Otherwise only what it finds is kept, so that nothing
    needs protection from it.
    """
    deferrals: Deferrals | None
    """The deferrals; None if everything must be known by now."""
    kept: RoundCache | None
    """The data that several rounds of a run share."""
    staying: frozenset[Block]
    """The blocks whose objects stay for now, though the configuration does not have them any more,
    because others need them that are left for later.
    """
    unreplaced: Mapping[Block, Deferral]
    """The blocks with objects that are not replaced for now, and what that waits for."""

    def meta_at(self, module: ModuleAddr, provider: Provider) -> Value | None:
        """The `provider_meta` of a module, if it has any."""
        ...

    def schema_of(self, frame: Frame, resource: Resource) -> Schema | None:
        """The schema of a resource."""
        ...

    def creates_first(self, address: AbsResourceInstance) -> bool:
        """Whether a new object is made before the old one is destroyed."""
        ...

    def forced_replacement(self, address: AbsResourceInstance) -> bool:
        """Whether the user asks for an instance to be replaced."""
        ...

    def previous_address(self, address: AbsResourceInstance) -> AbsResourceInstance | None:
        """The address of an instance before it was moved."""
        ...

"""The run that plans: the value of a resource is its planned value.

It chooses the node for each declaration, and answers the lookups of nodes. These decide about single
objects themselves, and record the result in the record of the plan.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from nigari.addrs.absolute import Abs, AbsResourceInstance, resource_of
from nigari.addrs.module import ModuleAddr
from nigari.addrs.resource import ACTION, DATA, EPHEMERAL, LIST
from nigari.config.blocks.resource import Resource
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame, ResourceNode
from nigari.eval.core.worklist import Node
from nigari.plan.model.plan_options import PlanOptions
from nigari.plan.nodes.evaluated_instances import EvaluatedInstances
from nigari.plan.nodes.imports import Imports
from nigari.plan.nodes.managed import ManagedResource
from nigari.plan.nodes.module_conditions import condition_nodes, module_conditions
from nigari.plan.nodes.plan_record import PlanRecord
from nigari.plan.nodes.prior_values import PriorResource
from nigari.plan.objects.known_reads import KnownReads, read_and_tell
from nigari.plan.objects.prior_object import PriorModules, PriorObject, prior_modules
from nigari.plan.order.block_graph import BlockGraph
from nigari.plan.order.block_references import Block
from nigari.plan.order.block_settings import BlockSettings
from nigari.plan.order.destroy_scope import destroyed_modules, needed_data, undeclared_modules
from nigari.plan.order.selection import Selection
from nigari.running.action_node import ActionNode
from nigari.running.deferrals import Deferral, Deferrals
from nigari.running.provider_pool import ProviderPool
from nigari.running.provider_run import ProviderRun, RunSettings
from nigari.schema.provider import Schema
from nigari.state.model import State
from nigari.state.moves.moving import MovedInstance


class PlanRun(ProviderRun):
    """The run that plans."""

    def __init__(
        self,
        run_settings: RunSettings,
        pool: ProviderPool,
        prior: State,
        settings: BlockSettings,
        blocks: BlockGraph,
        options: PlanOptions,
        moved: Mapping[AbsResourceInstance, MovedInstance],
        selected: Selection | None = None,
        staying: frozenset[Block] = frozenset(),
        unreplaced: Mapping[Block, Deferral] = MappingProxyType({}),
        known_reads: KnownReads | None = None,
    ) -> None:
        self.is_destroying: bool = options.is_destroying
        may_defer = options.defers and not self.is_destroying
        super().__init__(run_settings, pool, prior, Deferrals() if may_defer else None)
        self.options = options
        self.staying = staying
        self.unreplaced = unreplaced
        self.unread_objects: set[AbsResourceInstance] = set()
        """The stored objects that were not read although others were."""
        self.object_reads: dict[AbsResourceInstance, bool] = {}
        """The objects that were read, and whether they are what the state says."""
        self._known_reads = known_reads
        self.settings = settings
        self.blocks = blocks
        self.moved = moved
        """Moves since the state was stored, by new address."""
        self.record: PlanRecord = PlanRecord(
            prior, settings, blocks, options.is_refresh_only, self.previous_address
        )
        self.imports: Imports = Imports(self.deferrals)
        self.declared: EvaluatedInstances = EvaluatedInstances(self._frames, may_defer)
        self.selection = selected
        self._first = settings.first_among(None if selected is None else selected.blocks)
        self.needed_data: frozenset[Block] = (
            needed_data(blocks, prior) if self.is_destroying else frozenset()
        )
        """The data sources that are read while everything is destroyed."""
        self._destroyed_modules: frozenset[ModuleAddr] = (
            destroyed_modules(blocks, prior, selected) if self.is_destroying else frozenset()
        )
        self.prior_modules: PriorModules = prior_modules(prior)
        self.undeclared: frozenset[ModuleAddr] = undeclared_modules(blocks, prior)

    def creates_first(self, address: AbsResourceInstance) -> bool:
        """Return whether the replacement is created before the old object is destroyed."""
        block = self.blocks.resource_block(resource_of(address)) if self._first else None
        return block in self._first

    def begin(self) -> Frame:
        root = super().begin()
        # A plan contains all their values, even if only a part is selected.
        self.work.want(root.variables.values())
        return root

    def resource_node(self, frame: Frame, resource: Resource) -> ResourceNode:
        mode = resource.addr.mode
        if mode is LIST:
            from nigari.plan.nodes.lists import ListResource

            return ListResource(frame, resource, self)
        if mode is ACTION:
            return ActionNode(frame, resource, self)
        if mode is EPHEMERAL:
            # No state contains it, so it is opened whenever it is needed.
            from nigari.plan.nodes.ephemeral import EphemeralResource

            return EphemeralResource(frame, resource, self)
        if self.is_destroying and self.options.refreshes:
            if (frame.instance.variant, str(resource.addr)) in self.needed_data:
                from nigari.plan.nodes.data import NeededData

                return NeededData(frame, resource, self)
        if self.is_destroying or not self.is_selected(frame, resource):
            return PriorResource(frame, resource, self.prior, self.schema_of)
        if mode is DATA:
            from nigari.plan.nodes.data import DataResource

            return DataResource(frame, resource, self)
        return ManagedResource(frame, resource, self)

    def is_selected(self, frame: Frame, resource: Resource) -> bool:
        """Return whether `-target` and `-exclude` include a block in the plan."""
        if self.selection is None:
            return True
        return (frame.instance.variant, str(resource.addr)) in self.selection.blocks

    def opened(self, frame: Frame) -> None:
        if frame.module.imports:
            nodes = self.imports.open(frame)
            if self.options.follows_imports and not self.is_destroying:
                self.work.want(nodes)
        if self.is_destroying:
            path = frame.instance.variant
            self.work.want(
                [
                    call
                    for name, call in frame.calls.items()
                    if path.child(name) in self._destroyed_modules
                ]
            )
            if frame.parent is None and self.prior.resources:
                # As in OpenTofu, a validation can prevent a destroy.
                noted = [each for each in module_conditions(frame, {}) if each[0] == "var"]
                self.work.want(condition_nodes(frame, noted))
        elif self.selection is None:
            self.work.want(_everything(frame, self))
        else:
            self.work.want(self._selected_nodes(frame, self.selection))

    def _selected_nodes(self, frame: Frame, selection: Selection) -> Iterator[Node]:
        """Yield the nodes to evaluate in a module instance of which only a part is selected."""
        from nigari.plan.nodes.ephemeral import EphemeralResource

        path, blocks = frame.instance.variant, selection.blocks
        for name, call in frame.calls.items():
            if selection.enters(path.child(name)):
                yield call
        for kind, nodes in (
            ("var", frame.variables),
            ("local", frame.locals),
            ("output", frame.outputs),
        ):
            yield from (node for name, node in nodes.items() if (path, f"{kind}.{name}") in blocks)
        for node in frame.resources.values():
            # Ephemeral instances are opened on demand, so unselected ones must not be evaluated.
            if isinstance(node, EphemeralResource):
                if selection.may_have(Abs(frame.instance.addr, node.resource.addr)):
                    yield node
            elif self.is_selected(frame, node.resource):
                yield node
        noted = [
            each
            for each in module_conditions(frame, self.unread)
            if (path, f"{each[0]}.{each[2].rpartition('.')[2]}") in blocks
        ]
        self.record.conditions += noted
        yield from condition_nodes(frame, noted)

    def looks_at(self, address: AbsResourceInstance) -> bool:
        """Return whether an instance is selected."""
        return self.selection is None or self.selection.has(address)

    def reads(self, address: AbsResourceInstance) -> bool:
        """Decide whether a stored object is read; the others are counted."""
        only = self.options.only_reads
        if not self.options.refreshes or only is None:
            return self.options.refreshes
        is_read = only.has(address, self.blocks.resource_block(resource_of(address)))
        if not is_read:
            self.unread_objects.add(address)
        return is_read

    async def read(
        self,
        address: AbsResourceInstance,
        deposed: str,
        schema: Schema,
        prior: PriorObject,
        read: Callable[[Diagnostics], Awaitable[PriorObject | None]],
    ) -> tuple[PriorObject | None, Diagnostics]:
        """Read a stored object, with what its provider said; once for all attempts at a plan."""
        find = partial(read_and_tell, self.listener, address, deposed, schema, prior, read)
        if self._known_reads is None:
            found, reported = await find()
        else:
            found, reported = await self._known_reads.read(address, deposed, prior, find)
        self.object_reads[address] = found is prior and self.object_reads.get(address, True)
        return found, reported

    def came_from_elsewhere(self, address: AbsResourceInstance) -> bool:
        """Return whether an object moved here from another resource, in this plan or earlier.

        Earlier moves only show in the providers of its siblings.
        """
        moved = self.moved.get(address)
        resource = resource_of(address)
        if moved is not None and resource_of(moved.source) != resource:
            return True
        return len(self.prior.resources[resource].managers()) > 1

    def previous_address(self, address: AbsResourceInstance) -> AbsResourceInstance | None:
        # A destroy that refreshes has moved and read everything before, so no move is left.
        moved = None if self.is_destroying and self.options.refreshes else self.moved.get(address)
        return None if moved is None else moved.source


def _everything(frame: Frame, run: PlanRun) -> Iterable[Node]:
    """Yield all nodes of a module instance."""
    yield from frame.calls.values()
    yield from frame.variables.values()
    yield from frame.locals.values()
    yield from frame.outputs.values()
    yield from frame.resources.values()
    found = module_conditions(frame, run.unread)
    run.record.conditions += found
    yield from condition_nodes(frame, found)

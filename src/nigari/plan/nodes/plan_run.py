"""The run that plans: the value of a resource is what it is planned to be.

It says which node stands for what, and answers what nodes look up. What they find out is in the
record of the plan; what becomes of single objects, they decide themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from nigari.addrs.absolute import Abs, AbsResource, AbsResourceInstance, resource_of
from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import config_of
from nigari.addrs.resource import DATA, EPHEMERAL, MANAGED
from nigari.addrs.targets import Target
from nigari.config.blocks.resource import Resource
from nigari.eval.core.instances import Frame, ResourceNode
from nigari.eval.core.worklist import DONE, Node
from nigari.plan.model.changes import PlanMode
from nigari.plan.nodes.data import DataResource, NeededData
from nigari.plan.nodes.ephemeral import EphemeralResource
from nigari.plan.nodes.imports import Imports
from nigari.plan.nodes.managed import ManagedResource
from nigari.plan.nodes.module_conditions import condition_nodes, module_conditions
from nigari.plan.nodes.pending import DeferrableResource
from nigari.plan.nodes.plan_record import PlanRecord
from nigari.plan.nodes.prior_values import PriorResource
from nigari.plan.nodes.resources import PlannedResource, RepeatedResource
from nigari.plan.objects.prior_object import PriorModules, prior_modules
from nigari.plan.order.block_graph import Block, BlockGraph
from nigari.plan.order.block_settings import BlockSettings
from nigari.plan.order.selection import Selection
from nigari.plan.order.variants import with_callers
from nigari.record import record
from nigari.running.deferrals import Deferral, Deferrals
from nigari.running.provider_pool import ProviderPool
from nigari.running.provider_run import ExpandedCall, ProviderRun, RunSettings, frame_at
from nigari.state.model import State
from nigari.state.moves.moving import MovedInstance


@record
class PlanOptions:
    """What the user wants of a plan."""

    mode: PlanMode = PlanMode.NORMAL
    refreshes: bool = True
    is_for_apply: bool = True
    """Whether the plan may be carried out. Otherwise only what it finds is kept, so that nothing
    needs protection from it.
    """
    replaced: tuple[AbsResourceInstance, ...] = ()
    targets: tuple[Target, ...] = ()
    excluded: tuple[Target, ...] = ()
    parallelism: int = 10
    defers: bool = False
    """Whether what cannot be known yet is left for a later round."""
    follows_imports: bool = True
    """Whether import blocks are carried out; the import command ignores them."""

    @property
    def is_targeted(self) -> bool:
        """Whether only a part of the configuration is planned."""
        return bool(self.targets or self.excluded)


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
    ) -> None:
        super().__init__(run_settings, pool, prior, Deferrals() if _may_defer(options) else None)
        self._follows_imports = options.follows_imports
        self.staying = staying
        self.unreplaced = unreplaced
        self.refreshes: bool = options.refreshes
        self.is_refresh_only: bool = options.mode is PlanMode.REFRESH_ONLY
        self.is_for_apply: bool = options.is_for_apply
        self.settings = settings
        self.blocks = blocks
        self.record: PlanRecord = PlanRecord(
            prior, settings, blocks, self.is_refresh_only, self.previous_address
        )
        self.imports: Imports
        self.is_destroying: bool = options.mode is PlanMode.DESTROY
        self._replaced = frozenset(options.replaced)
        self._moved = moved
        self.selection = selected
        self._first = settings.first_among(None if selected is None else selected.blocks)
        self.needed_data: frozenset[Block] = (
            self._find_needed_data() if self.is_destroying else frozenset()
        )
        """The blocks of data sources that must be there while everything is destroyed."""
        self._ending_in = self._find_ending_modules()
        """The variants, and calls, that have a part in what is destroyed."""
        self.called: list[Frame] = []
        """The instances of called modules."""
        self.prior_modules: PriorModules = prior_modules(prior)
        self.undeclared: frozenset[ModuleAddr] = self._find_undeclared()

    # -- what nodes ask for -------------------------------------------------------------------

    def creates_first(self, address: AbsResourceInstance) -> bool:
        """Whether a new object is made before the old one is destroyed."""
        block = self.blocks.resource_block(resource_of(address)) if self._first else None
        return block in self._first

    def begin(self) -> Frame:
        root = super().begin()
        # A plan has their values, whatever is looked at.
        self.work.want(root.variables.values())
        if self._follows_imports and not self.is_destroying:
            self.work.want(self.imports.nodes)
        return root

    def resource_node(self, frame: Frame, resource: Resource) -> ResourceNode:
        mode = resource.addr.mode
        if mode is EPHEMERAL:
            # There is nothing of it in a state, so whoever asks for it gets a new one.
            return EphemeralResource(frame, resource, self)
        if self.is_destroying and self.refreshes and self._is_needed(frame, resource):
            return NeededData(frame, resource, self)
        if self.is_destroying or not self.is_selected(frame, resource):
            return PriorResource(frame, resource, self.prior, self.schema_of)
        if mode is DATA:
            return DataResource(frame, resource, self)
        return ManagedResource(frame, resource, self)

    def is_selected(self, frame: Frame, resource: Resource) -> bool:
        """Whether a block is looked at."""
        if self.selection is None:
            return True
        return (frame.instance.variant, str(resource.addr)) in self.selection.blocks

    def _find_needed_data(self) -> frozenset[Block]:
        """The data that the configurations of the providers come from that manage something."""
        managers = {
            self.blocks.provider_block(config_of(manager))
            for each in self.prior.resources.values()
            if each.address.item.mode is MANAGED
            for manager in each.managers()
        }
        resources = self.blocks.resources()
        return frozenset(
            each
            for block in managers
            for each in self.blocks.resource_blocks_before(block)
            if resources[each].item.mode is DATA
        )

    def _find_undeclared(self) -> frozenset[ModuleAddr]:
        """The module instances in or below which there are objects that are not declared there."""
        found: set[ModuleAddr] = set()
        for address in self.prior.resources:
            block = self.blocks.resource_block(address)
            if address.item.mode is MANAGED and not self.blocks.is_resource(block):
                at: ModuleAddr | None = address.module
                while at is not None and at not in found:
                    found.add(at)
                    at = at.parent
        return frozenset(found)

    def _find_ending_modules(self) -> frozenset[ModuleAddr]:
        """Those that objects are in which are destroyed, or the providers that manage them."""
        found: set[ModuleAddr] = set()
        blocks = self.blocks
        for address, resource in self.prior.resources.items() if self.is_destroying else ():
            if address.item.mode is not MANAGED and not self._may_be_named(address):
                continue
            if self.selection is None or blocks.resource_block(address) in self.selection.blocks:
                modules = (address.module, *(each.module for each in resource.managers()))
                found.update(map(blocks.variants.of, modules))
        return with_callers(found)

    def _may_be_named(self, data: AbsResource) -> bool:
        """Whether it matters to a destroy which instances of a data source are still declared."""
        targets = () if self.selection is None else self.selection.targets
        return any(target.touches_block(data.unkeyed) for target in targets)

    def _is_needed(self, frame: Frame, resource: Resource) -> bool:
        return (frame.instance.variant, str(resource.addr)) in self.needed_data

    def opened(self, frame: Frame) -> None:
        if frame.parent is None:
            self.imports = Imports(frame, self.deferrals)
        else:
            self.called.append(frame)
        if self.is_destroying:
            path = frame.instance.variant
            self.work.want(
                [call for name, call in frame.calls.items() if path.child(name) in self._ending_in]
            )
            if frame.parent is None:
                # As in OpenTofu, a validation may keep people from destroying something.
                noted = [each for each in module_conditions(frame, {}) if each[0] == "var"]
                self.work.want(condition_nodes(frame, noted))
        elif self.selection is None:
            self.work.want(_everything(frame, self))
        else:
            self.work.want(self._selected_nodes(frame, self.selection))

    def _selected_nodes(self, frame: Frame, selection: Selection) -> Iterator[Node]:
        """What is to be worked out in a module instance of which only a part is looked at."""
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
            # Each ephemeral instance is opened that somebody needs, so nobody else may ask for them.
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

    def is_wanted(self, address: AbsResourceInstance) -> bool:
        """Whether the configuration has an instance."""
        node = self._resource(address)
        key = address.item.key
        return node is not None and (key in node.instances or key in node.left_out)

    def declares(self, address: AbsResourceInstance) -> bool:
        """Whether the configuration has the resource of an instance."""
        return self._resource(address) is not None

    def _resource(self, address: AbsResourceInstance) -> RepeatedResource | None:
        frame = frame_at(self.root, address.module)
        node = None if frame is None else frame.resources.get(address.item.resource)
        return node if isinstance(node, RepeatedResource) else None

    def is_decided(self, address: AbsResourceInstance) -> bool:
        """Whether it is known which instances a resource has, and the modules on the way to it."""
        frame = self.root
        for name, key in address.module.steps:
            call = frame.calls.get(name)
            if call is None:
                return True
            child = call.frames.get(key)
            if child is None:
                return call.state == DONE and not call.has_failed
            frame = child
        node = frame.resources.get(address.item.resource)
        return not isinstance(node, PlannedResource) or node.is_expanded

    def held_by(self, address: AbsResourceInstance) -> Deferral | None:
        """Why an instance is left alone: it waits, or it is not known whether there will be one."""
        if self.deferrals is None:
            return None
        frame = self.root
        for name, key in address.module.steps:
            call = frame.calls.get(name)
            child = None if call is None else call.frames.get(key)
            if child is None:
                return call.deferral if isinstance(call, ExpandedCall) else None
            frame = child
        node = frame.resources.get(address.item.resource)
        if not isinstance(node, PlannedResource):
            return None
        instance = node.instances.get(address.item.key)
        return node.deferral if instance is None else instance.deferral

    @property
    def has_pending_data(self) -> bool:
        """Whether a data source or ephemeral resource waits for something to be changed."""
        return any(
            isinstance(node, DeferrableResource) and node.state == DONE and node.has_pending
            for frame in (self.root, *self.called)
            for node in frame.resources.values()
        )

    def left_open(self) -> Callable[[ModuleAddr, str], bool]:
        """Tells whether a block has instances, or may have some, that are not known yet."""
        modules: set[ModuleAddr] = set()
        blocks: set[Block] = set()
        for frame in (self.root, *self.called) if self.deferrals is not None else ():
            path = frame.instance.variant
            for call in frame.calls.values():
                if isinstance(call, ExpandedCall) and call.deferral is not None:
                    modules.add(path.child(call.call.name))
            for addr, node in frame.resources.items():
                if isinstance(node, PlannedResource) and node.deferral is not None:
                    blocks.add((path, str(addr)))

        def is_left_open(module: ModuleAddr, item: str) -> bool:
            return (module, item) in blocks or not modules.isdisjoint(with_callers((module,)))

        return is_left_open

    def undo_held_moves(self) -> None:
        """Leave objects where they were whose new addresses are not known to exist yet."""
        if self.deferrals is None:
            return
        for target, moved in self._moved.items():
            state = self.record.refreshed.instance(target)
            is_free = self.record.refreshed.instance(moved.source) is None
            if self.held_by(target) is None or state is None or not is_free:
                continue
            self.record.refreshed.remove_instance(target)
            self.record.refreshed.set_instance(moved.source, state)

    def looks_at(self, address: AbsResourceInstance) -> bool:
        """Whether an instance is among those that the user singled out."""
        return self.selection is None or self.selection.has(address)

    def forced_replacement(self, address: AbsResourceInstance) -> bool:
        return address in self._replaced

    def came_from_elsewhere(self, address: AbsResourceInstance) -> bool:
        """Whether an object moved here from another resource, now or, as far as the providers of its
        siblings tell, before.
        """
        moved = self._moved.get(address)
        resource = resource_of(address)
        if moved is not None and resource_of(moved.source) != resource:
            return True
        return len(self.prior.resources[resource].managers()) > 1

    def previous_address(self, address: AbsResourceInstance) -> AbsResourceInstance | None:
        # A destroy moves and reads everything first, and then there is nothing left to be moved.
        moved = None if self.is_destroying and self.refreshes else self._moved.get(address)
        return None if moved is None else moved.source


def _may_defer(options: PlanOptions) -> bool:
    """Whether anything may be left for later: what is destroyed never is."""
    return options.defers and options.mode is not PlanMode.DESTROY


def _everything(frame: Frame, run: PlanRun) -> Iterable[Node]:
    """Whatever there is to work out in a module instance."""
    yield from frame.calls.values()
    yield from frame.variables.values()
    yield from frame.locals.values()
    yield from frame.outputs.values()
    yield from frame.resources.values()
    found = module_conditions(frame, run.unread)
    run.record.conditions += found
    yield from condition_nodes(frame, found)

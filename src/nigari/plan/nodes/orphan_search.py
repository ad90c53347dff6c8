"""Finds the orphans: objects of the prior state that nothing in the configuration wants.

Runs when everything that is wanted is known, and makes a node for each of them, with the reason
why it is not wanted. What becomes of an orphan is decided in `nigari.plan.nodes.orphan_nodes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from nigari.addrs.absolute import AbsResource, AbsResourceInstance, instance_of, resource_of
from nigari.addrs.module import ModuleAddr
from nigari.addrs.resource import DATA, MANAGED
from nigari.config.blocks.resource import Resource
from nigari.eval.core.causes import UnknownCause
from nigari.eval.core.instances import Frame, Origin
from nigari.eval.core.worklist import Need, Node
from nigari.plan.model.changes import PlanMode, Reason
from nigari.plan.nodes.orphan_nodes import Declaration, End, NamedData, OrphanNode, reason_for
from nigari.plan.nodes.plan_run import PlanRun
from nigari.plan.nodes.removed_modules import frame_of_old
from nigari.plan.order.block_references import Block
from nigari.plan.order.destroyed_parents import DestroyedParents
from nigari.plan.order.removed_blocks import RemoveStatement
from nigari.plan.order.selection import Selection, without_gone
from nigari.plan.order.stored_dependencies import StoredBlocks
from nigari.record import replace
from nigari.running.declared_modules import former_data
from nigari.running.deferrals import Deferral
from nigari.running.provider_node import ProviderNode
from nigari.running.provider_run import frame_at
from nigari.running.without_diagnostics import without_diagnostics
from nigari.state.model import InstanceState, ResourceState, StoredObject


class Orphans:
    """Goes through the prior state once everything that is wanted is known.

    Where a mistake keeps it from being known whether an object is wanted, that is left alone.
    """

    def __init__(self, run: PlanRun, mode: PlanMode) -> None:
        self._run = run
        self._frames: dict[ModuleAddr, Frame | None] = {}
        self._declarations: dict[AbsResource, Declaration | None] = {}
        self._is_destroy = mode is PlanMode.DESTROY
        self._statements = run.settings.removed
        self._parents = DestroyedParents(run.prior, self._frame, self._is_ended)

    def _is_ended(self, address: AbsResourceInstance) -> bool:
        """Return whether a stored object is destroyed or forgotten, with or without a successor."""
        run = self._run
        if not run.looks_at(address):
            return False
        if self._is_destroy:
            return True
        if not run.declared.has(address):
            return run.declared.is_decided(address) and run.declared.deferral_of(address) is None
        change = run.record.changes.get((address, ""))
        return change is not None and change.action.destroys

    def nodes(self) -> Iterator[Sequence[Node]]:
        """A node for every object that is to go; data is forgotten without one.

        The nodes of one list are worked out before the next list is asked for: what a destroy takes
        along with its targets depends on which of these are still there.
        """
        run = self._run
        for resource in run.prior.resources.values():
            if resource.address.item.mode is not MANAGED:
                self._forget_data(resource)
        selected = run.selection
        if self._is_destroy and run.options.refreshes and selected is not None and selected.targets:
            named, data = list(self._nodes(selected.names)), list(self._named_data(selected))
            yield [*named, *data]
            now = run.record.refreshed
            gone = {each.address for each in named if now.instance(each.address) is None}
            gone.update(each.address for each in data if not each.is_declared)
            if gone:
                run.selection = without_gone(selected, run.prior, gone)
            yield list(self._nodes(lambda address: not selected.names(address)))
        else:
            yield list(self._nodes(lambda _: True))

    def _named_data(self, selected: Selection) -> Iterator[NamedData]:
        """The data that targets of a destroy name."""
        for address, _ in self._run.prior.instances():
            if address.item.resource.mode is DATA and selected.names(address):
                yield NamedData(address, self._declaration(resource_of(address)))

    def _nodes(self, matters: Callable[[AbsResourceInstance], bool]) -> Iterator[OrphanNode]:
        run = self._run
        needed = _needed_by_held(run)
        for resource in run.prior.resources.values():
            if resource.address.item.mode is not MANAGED:
                continue
            for key, instance in resource.instances.items():
                address = instance_of(resource.address, key)
                is_wanted = not self._is_destroy and run.declared.has(address)
                if is_wanted and not instance.deposed:
                    continue
                if not run.looks_at(address) or run.declared.deferral_of(address) is not None:
                    continue
                if not run.declared.is_decided(address) or not matters(address):
                    continue
                for node in self._objects(address, instance, is_wanted):
                    node.before = needed.get(run.blocks.resource_block(resource.address))
                    yield node

    def _forget_data(self, resource: ResourceState) -> None:
        """Forget what was read for instances that are not wanted any more.

        What providers need stays: when a destroy is applied they are configured once more.
        """
        run = self._run
        if self._is_destroy and run.blocks.resource_block(resource.address) in run.needed_data:
            return
        for key in resource.instances:
            address = instance_of(resource.address, key)
            if self._is_destroy:
                is_gone = run.selection is None or run.selection.names(address)
            else:
                is_gone = not run.declared.has(address) and run.looks_at(address)
                is_gone = is_gone and run.declared.deferral_of(address) is None
            if is_gone:
                run.record.refreshed.set_current(address, None, resource.manager_of(key))

    def _objects(
        self, address: AbsResourceInstance, instance: InstanceState, is_wanted: bool
    ) -> Iterator[OrphanNode]:
        run = self._run
        if instance.current is not None and not is_wanted:
            why = Reason.NONE if self._is_destroy else reason_for(run, run.root, address)
            statement = None if self._is_destroy else self._statements.of(address)
            end = self._end(address, instance.current, statement, why)
            if not end.forgets and statement is None and self._parents.has_destroyed(address):
                end = replace(end, forgets=True, reason=Reason.PART_OF)
            manager = partial(self._manager, address)
            node = OrphanNode(run, address, instance.current, manager, end)
            node.protection = self._protection(address)
            node.declared = self._declaration(resource_of(address))
            yield node
        for key, deposed in instance.deposed.items():
            statement = self._statements.of(address)
            end = self._end(address, deposed, statement, Reason.NONE)
            manager = partial(self._manager, address, key)
            yield OrphanNode(run, address, deposed, manager, end, key)

    def _manager(
        self, address: AbsResourceInstance, deposed: str = ""
    ) -> ProviderNode | list[Need] | None:
        """The provider that an object has in the state.

        Where that is gone, the one that its resource has now may be the same under another name. It
        may also be an entirely different one where the object came here from another resource, or
        had another provider than its siblings: then it counts only if the resource has the instance.
        """
        run = self._run
        stored = run.prior.resources[resource_of(address)].manager_of(address.item.key, deposed)
        frame, where = self._frame(address.module), self._frame(stored.module)
        resource = self._declared(address)
        if frame is not None and resource is not None and self._has_provider(frame, resource):
            is_there = run.providers.has_stored(run.root, where, stored)
            if isinstance(is_there, list):
                return is_there
            is_replaced: bool | list[Need] = not is_there
            if is_replaced and (stored.item.key is not None or run.came_from_elsewhere(address)):
                is_replaced = self._has_instance(frame, resource, address, deposed)
            if isinstance(is_replaced, list):
                return is_replaced
            if is_replaced:
                data = former_data(address.item.key)
                return run.providers.for_instance(frame, resource, data)
        found = run.providers.for_stored(run.root, where, stored)
        found.user = found.user or address
        return found

    def _has_provider(self, frame: Frame, resource: Resource) -> bool:
        """Return whether a resource has a provider for instances that no longer exist.

        A provider with keys is selected by each instance, so only a destroy, which may find all
        instances declared, can use it.
        """
        config = self._run.providers.config_for(frame, resource).config
        return self._is_destroy or config is None or not config.is_expanded

    def _has_instance(
        self, frame: Frame, resource: Resource, address: AbsResourceInstance, deposed: str
    ) -> bool | list[Need]:
        """Return whether what is destroyed is still declared."""
        if deposed or not self._is_destroy:
            return False
        return Declaration(without_diagnostics(frame), resource.repetition).has(address.item.key)

    def _frame(self, module: ModuleAddr) -> Frame | None:
        """A module instance as it is, or as it was."""
        if module not in self._frames:
            run = self._run
            self._frames[module] = frame_of_old(run.root, module, run.prior, run.schema_of)
        return self._frames[module]

    def _end(
        self,
        address: AbsResourceInstance,
        stored: StoredObject,
        statement: RemoveStatement | None,
        why: Reason,
    ) -> End:
        """Decide whether an object is destroyed or only forgotten, and why.

        A `removed` block is the user's latest decision, so it overrides the `lifecycle` of the
        resource, past or present.
        """
        resource = self._declared(address)
        skips = self._run.settings.skips_destroy(address.module, address.item.resource)
        forgets = skips or stored.skip_destroy
        if statement is not None:
            forgets = not statement.destroys
        if forgets and skips:
            why = Reason.KEPT_BY_CONFIG
        elif forgets and stored.skip_destroy:
            why = Reason.KEPT_BY_STATE
        return End(forgets, why, None if resource is None else resource.body)

    def _declaration(self, address: AbsResource) -> Declaration | None:
        """The possible declarations of the objects that a destroy refreshes."""
        if not self._is_destroy or not self._run.options.refreshes:
            return None
        if address not in self._declarations:
            frame = frame_at(self._run.root, address.module)
            resource = None if frame is None else frame.module.resources.get(address.item)
            self._declarations[address] = (
                None
                if frame is None or resource is None
                else Declaration(without_diagnostics(frame), resource.repetition)
            )
        return self._declarations[address]

    def _declared(self, address: AbsResourceInstance) -> Resource | None:
        frame = self._frame(address.module)
        return None if frame is None else frame.module.resources.get(address.item.resource)

    def _protection(self, address: AbsResourceInstance) -> Origin | None:
        """The range of `prevent_destroy` in the configuration."""
        frame, resource = self._frame(address.module), self._declared(address)
        expr = None if resource is None else resource.lifecycle.prevent_destroy
        if frame is None or expr is None:
            return None
        return Origin(frame, frame.instance.compiled.expression(expr))


def _needed_by_held(run: PlanRun) -> dict[Block, Deferral]:
    """Return the stored dependencies of objects that are deferred now.

    They must exist as long as those objects do.
    """
    found: dict[Block, Deferral] = {}
    if run.deferrals is None or not run.deferrals.found:
        return found
    meant = StoredBlocks(run.blocks, run.prior).meant
    for address, instance in run.prior.instances():
        held = run.declared.deferral_of(address)
        if held is None or address.item.resource.mode is not MANAGED:
            continue
        for _, stored, _ in instance.objects():
            for each in stored.dependencies:
                for block in meant(run.blocks.resource_block(resource_of(address)), each):
                    found.setdefault(block, held)
    return found


def held_blocks(run: PlanRun) -> frozenset[Block]:
    """The blocks with objects that nothing wants any more, and that stay for now all the same.

    That matters only where something waits until they are gone.
    """
    is_open = run.deferrals is not None and bool(run.deferrals.found)
    needed = _needed_by_held(run) if is_open and run.declared.has_pending_data else {}
    return frozenset(
        block
        for address, _ in (run.prior.instances() if needed else ())
        if (block := run.blocks.resource_block(resource_of(address))) in needed
        and not run.declared.has(address)
        and run.declared.deferral_of(address) is None
    )


def unreplaced_blocks(run: PlanRun) -> dict[Block, Deferral]:
    """The blocks with objects that are not replaced in this round, as others needed them when they
    were made of which it is not known yet whether they go. Those have to go first.

    Where that is known only once the block itself has changed, there is no waiting for it.
    """
    found: dict[Block, Deferral] = {}
    if run.deferrals is None or not run.deferrals.found:
        return found
    replaced = {
        run.blocks.resource_block(resource_of(each.address))
        for each in run.record.changes.values()
        if each.action.is_replace
    }
    before: dict[UnknownCause, frozenset[Block]] = {}
    meant = StoredBlocks(run.blocks, run.prior).meant
    for address, instance in run.prior.instances() if replaced else ():
        held = None if run.declared.has(address) else run.declared.deferral_of(address)
        if held is None or address.item.resource.mode is not MANAGED:
            continue
        own = run.blocks.resource_block(resource_of(address))
        needed = {
            block
            for _, stored, _ in instance.objects()
            for each in stored.dependencies
            for block in meant(own, each)
        }
        for block in replaced & needed:
            if held.cause not in before:
                before[held.cause] = _blocks_before(run, held)
            if block not in before[held.cause]:
                found[block] = held
    return found


def _blocks_before(run: PlanRun, deferral: Deferral) -> frozenset[Block]:
    """The resource blocks that a deferral may wait for."""
    pending, found = [deferral], set[Block]()
    while pending:
        each = pending.pop()
        pending += each.before
        for origin in each.origins:
            found.update(run.blocks.referred(origin.frame.instance, origin.references))
    return frozenset(found).union(*map(run.blocks.resource_blocks_before, found))

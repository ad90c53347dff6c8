"""Pending changes that a data source or an ephemeral resource must wait for.

What `depends_on` names must have been done before, and so must the managed resources that the block
refers to: who asks about something means it as it will be. A `depends_on` that names a module, or that
stands at a call on the way, also means what the named things need in turn. Where there are
conditions, everything that the block needs must have been done, since a change of it may be what
makes them hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr, ModuleCall, ModuleCallInstance, ModuleCallOutput
from nigari.addrs.resource import DATA, MANAGED, ResourceInstance
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.addrs.values import InputVariable, LocalValue
from nigari.config.blocks.resource import Resource
from nigari.config.core.declared import Dependencies
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import CallNode, Frame, Origin, ResourceNode
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.core.scope import evaluate_origin
from nigari.eval.core.value_dependencies import decisive_references
from nigari.eval.core.worklist import DONE, Need, Node
from nigari.hcl.traversal import Traversal
from nigari.lang.references import parse_reference
from nigari.plan.model.changes import Action
from nigari.plan.nodes.instances import ChangingInstance
from nigari.plan.nodes.resources import PlannedResource, RepeatedResource
from nigari.plan.objects.prior_object import PriorModules
from nigari.plan.order.block_graph import BlockGraph
from nigari.plan.order.block_references import Block
from nigari.plan.order.variants import with_callers
from nigari.record import replace
from nigari.running.action_node import ActionNode
from nigari.running.deferrals import Deferral
from nigari.running.provider_run import ExpandedCall


def deferred_before(
    frame: Frame, depends_on: Dependencies, blocks: BlockGraph
) -> tuple[Deferral, ...] | list[Need]:
    """The deferred resources in `depends_on`, or what must be evaluated first."""
    nodes = list(_written_before(frame, depends_on, blocks))
    needs: list[Need] = [node for node in nodes if node.state != DONE]
    return needs or tuple(_deferrals_of(nodes))


def deferred_before_actions(
    frame: Frame, actions: Iterable[ResourceAddr], blocks: BlockGraph
) -> tuple[Deferral, ...] | list[Need]:
    """The deferred dependencies of actions, or what must be evaluated first."""
    nodes: list[Node] = []
    for addr in actions:
        if addr in frame.resources:
            nodes.append(frame.resources[addr])
            before = blocks.resource_blocks_before((frame.instance.variant, str(addr)))
            nodes += _resources(frame, blocks, before)
    needs: list[Need] = [node for node in nodes if node.state != DONE]
    return needs or tuple(_deferrals_of(nodes))


def instance_dependencies(
    frame: Frame, resource: Resource, data: InstanceData
) -> Dependencies | list[Need]:
    """Return the dependencies of `depends_on` for one instance, or what must be evaluated first.

    A branch that is not taken adds none. Where that is not known yet, everything counts.
    """
    found: list[Traversal] = []
    for each in resource.dependency_values:
        origin = Origin(frame, frame.instance.compiled.expression(each.expr), data)
        value = evaluate_origin(origin, Diagnostics())
        if not isinstance(value, Value):
            return value
        names = set(each.names)
        if value.is_known:
            names = {str(reference) for reference in decisive_references(origin)}
        found += [at for at, name in zip(each.addresses, each.names, strict=True) if name in names]
    return tuple(found)


def _deferrals_of(nodes: Iterable[Node]) -> Iterator[Deferral]:
    for node in nodes:
        owners = ExpandedCall | PlannedResource | ActionNode
        if isinstance(node, owners) and node.deferral is not None:
            yield node.deferral
        if isinstance(node, PlannedResource):
            for instance in node.instances.values():
                if instance.deferral is not None:
                    yield instance.deferral


def _nodes_before(frame: Frame, resource: Resource, blocks: BlockGraph) -> list[Node]:
    """The needs of a data source before it is read."""
    lifecycle = resource.lifecycle
    block = frame.instance.variant, str(resource.addr)
    if lifecycle.preconditions or lifecycle.postconditions:
        return list(_resources(frame, blocks, blocks.resource_blocks_before(block)))
    nodes = list(_written_before(frame, resource.depends_on, blocks))
    nodes += _referred_to(frame, block, blocks)
    return nodes


def has_pending(
    frame: Frame,
    resource: Resource,
    blocks: BlockGraph,
    prior: PriorModules,
    undeclared: AbstractSet[ModuleAddr],
    staying: AbstractSet[Block] = frozenset(),
    is_changing: bool = True,
) -> bool | list[Need]:
    """Return whether anything that must be done before is still to be done, or what must be worked out
    first to tell. There are objects in `undeclared` modules that are not declared there; those of
    `staying` blocks are not changed for now. A plan that changes nothing only has what it leaves
    for later.
    """
    nodes = _nodes_before(frame, resource, blocks)
    needs: list[Need] = [node for node in nodes if node.state != DONE]
    if needs:
        return needs
    # What would come of something that went wrong is not known.
    if any(isinstance(node, PlannedResource) and node.has_failed for node in nodes):
        return True
    if not is_changing:
        return any(_deferrals_of(nodes))
    modes = (MANAGED,) if resource.addr.mode is DATA else (MANAGED, DATA)
    if any(_changes(node) for node in nodes if _mode(node) in modes):
        return True
    calls = [node for node in nodes if isinstance(node, CallNode)]
    if any(_loses_objects(call, prior, staying) for call in dict.fromkeys(calls)):
        return True
    return any(
        child.instance.addr in undeclared
        for call in _whole_calls(frame, resource.depends_on)
        for child in call.frames.values()
    )


class DeferrableResource(PlannedResource):
    """A resource whose instances may have to wait until the plan is applied."""

    __slots__ = ("before", "has_pending")

    def step(self) -> Sequence[Need]:
        if not self._is_expanded:
            pending = self.pending_after(self.resource.named_dependencies)
            if isinstance(pending, list):
                return pending
            self.has_pending: bool = pending[0]
            self.before: tuple[Deferral, ...] = pending[1]
        return super().step()

    def pending_after(
        self, depends_on: Dependencies
    ) -> tuple[bool, tuple[Deferral, ...]] | list[Need]:
        """Return whether any of these dependencies will change, and the deferrals among them."""
        run, resource = self.run, self.resource
        if resource.dependency_values:
            resource = replace(resource, depends_on=depends_on, dependency_values=())
        pending = has_pending(
            self.frame,
            resource,
            run.blocks,
            run.prior_modules,
            run.undeclared,
            run.staying,
            not run.options.is_refresh_only,
        )
        if isinstance(pending, list):
            return pending
        before: tuple[Deferral, ...] = ()
        if run.deferrals is not None:
            before = tuple(_deferrals_of(_nodes_before(self.frame, resource, run.blocks)))
        return pending, before


class DeferrableInstance(ChangingInstance):
    """One instance of such a resource."""

    __slots__ = ("has_pending",)

    def __init__(self, owner: DeferrableResource, key: InstanceKey, data: InstanceData) -> None:
        super().__init__(owner, key, data)
        self.has_pending: bool = owner.has_pending
        self.wait_for(owner.before)

    def stages(self) -> Iterable[Callable[[], Sequence[Need]]]:
        if self.owner.resource.dependency_values:
            yield self._depend_on_values

    def _depend_on_values(self) -> Sequence[Need]:
        owner = self.owner
        assert isinstance(owner, DeferrableResource)
        found = instance_dependencies(self.frame, owner.resource, self.data)
        pending = found if isinstance(found, list) else owner.pending_after(found)
        if isinstance(pending, list):
            return pending
        is_pending, before = pending
        if is_pending:
            self.has_pending = owner.has_pending = True
        self.wait_for(before)
        return ()


def _mode(node: Node) -> object:
    return node.resource.addr.mode if isinstance(node, ResourceNode) else None


def _changes(node: Node) -> bool:
    if not isinstance(node, RepeatedResource):
        return False
    if isinstance(node, PlannedResource) and node.deferral is not None:
        return True
    if isinstance(node, PlannedResource) and _mode(node) is MANAGED and node.has_orphans:
        return True
    return any(
        isinstance(each, ChangingInstance)
        and each.change is not None
        and each.change.action is not Action.NO_OP
        for each in node.instances.values()
    )


def _loses_objects(call: CallNode, prior: PriorModules, staying: AbstractSet[Block]) -> bool:
    """Return whether the state has objects in call instances that the configuration no longer has."""
    if isinstance(call, ExpandedCall) and call.deferral is not None:
        return True
    path = call.frame.instance.variant.child(call.call.name)
    if path in with_callers(each for each, _ in staying):
        return False
    keys = prior.get((call.frame.instance.addr, call.call.name), frozenset())
    return not keys <= call.frames.keys()


# -- what is written ------------------------------------------------------------------------------


def _referred_to(frame: Frame, block: Block, blocks: BlockGraph) -> Iterator[Node]:
    """The managed resources that a block refers to."""
    for need in blocks.needs_without_values(block):
        found = blocks.resource(need)
        if found is not None and found.item.mode is MANAGED and found.item in frame.resources:
            yield frame.resources[found.item]


def _written_before(frame: Frame, depends_on: Dependencies, blocks: BlockGraph) -> Iterator[Node]:
    """The targets of `depends_on`: resources, and calls whose instances are not known yet."""
    yield from _named(frame, depends_on, blocks)
    child, parent = frame, frame.parent
    while parent is not None:
        call = child.instance.call
        if call is not None and call.depends_on:
            yield from _named(parent, call.depends_on, blocks)
            needed = blocks.resource_blocks_before_all(parent.instance, call.depends_on)
            yield from _resources(parent, blocks, needed)
        child, parent = parent, parent.parent


def _named(frame: Frame, depends_on: Dependencies, blocks: BlockGraph) -> Iterator[Node]:
    for traversal in depends_on:
        reference = parse_reference(traversal, Diagnostics())
        subject = None if reference is None else reference.subject
        if isinstance(subject, ResourceInstance):
            subject = subject.resource
        if isinstance(subject, ModuleCallInstance):
            subject = subject.call
        if isinstance(subject, ResourceAddr) and subject in frame.resources:
            yield frame.resources[subject]
        elif isinstance(subject, ModuleCall) and subject.name in frame.calls:
            yield from _in_call(frame, subject.name)
            needed = blocks.resource_blocks_before_all(frame.instance, (traversal,))
            yield from _resources(frame, blocks, needed)
        elif isinstance(subject, InputVariable | LocalValue | ModuleCallOutput):
            needed = blocks.resource_blocks_before_all(frame.instance, (traversal,))
            yield from _resources(frame, blocks, needed)


def _whole_calls(frame: Frame, depends_on: Dependencies) -> Iterator[CallNode]:
    """The calls that are named as a whole, by a block or by calls on the way to it."""
    for traversal in depends_on:
        reference = parse_reference(traversal, Diagnostics())
        subject = None if reference is None else reference.subject
        if isinstance(subject, ModuleCallInstance):
            subject = subject.call
        if isinstance(subject, ModuleCall) and subject.name in frame.calls:
            yield frame.calls[subject.name]
    call, parent = frame.instance.call, frame.parent
    if call is not None and parent is not None:
        yield from _whole_calls(parent, call.depends_on or ())


def _in_call(frame: Frame, name: str) -> Iterator[Node]:
    call = frame.calls[name]
    yield call
    for child in call.frames.values():
        yield from (node for node in child.resources.values() if not node.resource.in_check)
        for inner in child.calls:
            yield from _in_call(child, inner)


# -- from blocks to nodes -------------------------------------------------------------------------


def _resources(frame: Frame, blocks: BlockGraph, needed: Iterable[Block]) -> Iterator[Node]:
    """Resources as the instances of their modules have them, and calls that are not expanded yet.

    Other instances of the same variant are another matter.
    """
    root = frame
    while root.parent is not None:
        root = root.parent
    for block in needed:
        resource = blocks.resource(block)
        assert resource is not None
        if block[0] != frame.instance.variant:
            yield from _instances_of(root, block[0], resource.item)
        elif resource.item in frame.resources:
            yield frame.resources[resource.item]


def _instances_of(root: Frame, path: ModuleAddr, needed: ResourceAddr) -> Iterator[Node]:
    frames = [root]
    for name in path.names:
        calls = [frame.calls[name] for frame in frames if name in frame.calls]
        yield from calls
        frames = [child for call in calls for child in call.frames.values()]
    for frame in frames:
        if frame.instance.variant == path and needed in frame.resources:
            yield frame.resources[needed]

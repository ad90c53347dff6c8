"""`-target` and `-exclude`: selection of blocks and of their instances.

Order between things is known for blocks, so a target brings along the blocks that it needs as a
whole, and what is excluded takes whole blocks with it; only among the instances of the named blocks
themselves it matters which one is named. A resource that is only in the state needs what the
instances of its module come from, if that is still called, and is needed by what needs that module as
a whole.

While everything is to be destroyed it is the other way round: a target takes along what needs it,
and what stays keeps what it needs. Then only objects in the state matter, and those in two instances of
one module do not need each other. What an object needs is what it needed when it was stored; where a
plan would look at it, it is brought up to date, and also needs what the configuration says now. A target
whose object turns out to be gone takes along nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from nigari.addrs.absolute import AbsResource, AbsResourceInstance, resource_of
from nigari.addrs.module import ModuleAddr
from nigari.addrs.resource import DATA
from nigari.addrs.targets import Target
from nigari.plan.order.block_graph import BlockGraph, expansion_block
from nigari.plan.order.block_references import Block
from nigari.plan.order.operations_of import ancestor, shared_depth
from nigari.plan.order.stored_dependencies import Moved, stored_needs
from nigari.plan.order.variants import Variants, with_callers
from nigari.record import record, replace
from nigari.state.model import State


@record
class Selection:
    """The selection of a plan."""

    variants: Variants
    blocks: frozenset[Block]
    """Resources, the outputs of the root module and validated variables that come from nothing
    else, and the values that all these need.
    """
    named: frozenset[Block]
    """The blocks of which only some instances may be meant."""
    targets: tuple[Target, ...]
    excluded: tuple[Target, ...]
    modules: frozenset[ModuleAddr] | None = None
    """The variants that these are in, and those above them; None where all matter."""
    ended: frozenset[AbsResourceInstance] | None = None
    """The instances of a destroy, which are all there are."""
    needs: Mapping[Block, AbstractSet[Block]] = MappingProxyType({})
    """The dependencies of each block's objects, if a part is destroyed."""

    def enters(self, module: ModuleAddr) -> bool:
        """Return whether anything in a variant, or in any variant of a call, is selected."""
        return self.modules is None or module in self.modules

    def has(self, address: AbsResourceInstance) -> bool:
        """Return whether an instance is selected."""
        if self.ended is not None:
            return address in self.ended
        block = self.variants.of(address.module), str(address.item.resource)
        if block not in self.blocks:
            return False
        if block not in self.named:
            return True
        if self.targets:
            return any(target.covers(address) for target in self.targets)
        return not any(target.covers(address) for target in self.excluded)

    def may_have(self, resource: AbsResource) -> bool:
        """Return whether any instance of a resource in one module instance is selected."""
        block = self.variants.of(resource.module), str(resource.item)
        if block not in self.blocks or block not in self.named:
            return block in self.blocks
        if self.targets:
            return any(target.touches(resource) for target in self.targets)
        return not any(target.covers(resource) for target in self.excluded)

    def names(self, address: AbsResourceInstance) -> bool:
        """Return whether the user named an instance, rather than one of its dependants."""
        if self.targets:
            return any(target.covers(address) for target in self.targets)
        return self.has(address)


def selection(
    graph: BlockGraph,
    state: State,
    targets: tuple[Target, ...],
    excluded: tuple[Target, ...],
) -> Selection:
    """Select by the targets of the user."""
    known = _Known(graph, state)
    needs = _Needs(graph, known.gone)
    named = frozenset(each for target in targets or excluded for each in known.touched(target))
    if targets:
        blocks = set(named).union(*(needs.of(each) for each in named))
        blocks |= _following(graph, needs.before, blocks)
    else:
        left_out = {each for target in excluded for each in known.covered(target)}
        left_out.update(each for each in known.all if not named.isdisjoint(needs.of(each)))
        blocks = {*known.all} - left_out
        # Of what is only in the state, each instance counts.
        blocks |= _following(graph, needs.before, blocks - (named & known.gone.keys()))
    blocks |= _needed(graph, blocks)
    modules = with_callers(path for path, _ in blocks)
    return Selection(graph.variants, frozenset(blocks), named, targets, excluded, modules)


def destroyed(
    selected: Selection, graph: BlockGraph, state: State, moved: Moved, refreshes: bool
) -> Selection:
    """Select for a partial destroy, given the selection of any other plan of that part."""
    needs = stored_needs(state, moved, graph)
    for block, found in needs.items():
        if refreshes and block in selected.blocks and graph.is_resource(block):
            found.update(graph.resource_blocks_before(block))
        found.discard(block)
    selected = replace(selected, needs=needs)
    ended = _ended(selected, state)
    blocks = {graph.resource_block(resource_of(each)) for each in ended}
    blocks |= _following(graph, graph.resource_blocks_before, blocks)
    return replace(
        selected,
        blocks=frozenset(blocks),
        named=frozenset(),
        modules=with_callers(path for path, _ in blocks),
        ended=ended,
    )


def without_gone(
    selected: Selection, state: State, gone: AbstractSet[AbsResourceInstance]
) -> Selection:
    """Select for a partial destroy once it is known what that part no longer has."""
    return replace(selected, ended=_ended(selected, state, gone))


def _needed(graph: BlockGraph, blocks: AbstractSet[Block]) -> set[Block]:
    """All that blocks need, of whatever kind."""
    found, pending = set[Block](), list(blocks)
    while pending:
        fresh = [each for each in graph.needs(pending.pop()) if each not in found]
        found.update(fresh)
        pending += fresh
    return found


def _ended(
    selected: Selection, state: State, gone: AbstractSet[AbsResourceInstance] = frozenset()
) -> frozenset[AbsResourceInstance]:
    """Select the objects that a partial destroy destroys."""
    stored, targets = _Stored(state, selected.variants), selected.targets
    named = [
        each
        for each in stored.all
        if each not in gone and any(target.covers(each) for target in targets or selected.excluded)
    ]
    beside: dict[Block, set[Block]] = {}
    for block, instances in stored.blocks.items():
        # Nothing has to outlive what was only read.
        is_data = instances[0].item.resource.mode is DATA
        for need in () if is_data else selected.needs.get(block, ()):
            if targets:
                beside.setdefault(need, set()).add(block)
            else:
                beside.setdefault(block, set()).add(need)
    found, pending = set(named), named
    while pending:
        at = pending.pop()
        for block in beside.get(stored.block(at), ()):
            fresh = [each for each in stored.take(block, at.module) if each not in found]
            found.update(fresh)
            pending += fresh
    return frozenset(found) if targets else frozenset(stored.all) - found


class _Stored:
    """The instances in a state, by block and by the module instances that they are in."""

    def __init__(self, state: State, variants: Variants) -> None:
        self._variants = variants
        self.all = [address for address, _ in state.instances()]
        self.blocks: dict[Block, list[AbsResourceInstance]] = {}
        for each in self.all:
            self.blocks.setdefault(self.block(each), []).append(each)
        self._by_module: dict[tuple[Block, int], dict[ModuleAddr, list[AbsResourceInstance]]] = {}

    def block(self, address: AbsResourceInstance) -> Block:
        """The block of an instance."""
        return self._variants.of(address.module), str(address.item.resource)

    def take(self, block: Block, module: ModuleAddr) -> list[AbsResourceInstance]:
        """The instances of a block that are not in another instance of a module than this one.

        They are handed out once for each depth at which they are looked for.
        """
        depth = shared_depth(block[0], self._variants.of(module))
        index = self._by_module.get((block, depth))
        if index is None:
            index = self._by_module[block, depth] = {}
            for each in self.blocks.get(block, ()):
                index.setdefault(ancestor(each.module, depth), []).append(each)
        return index.pop(ancestor(module, depth), [])


class _Known:
    """The resource blocks that the configuration declares, and those that only the state still has."""

    def __init__(self, graph: BlockGraph, state: State) -> None:
        self._variants = graph.variants
        self._declared = graph.resources()
        self.gone: dict[Block, list[AbsResource]] = {}
        """The stored objects of blocks that are not declared."""
        for address in state.resources:
            block = graph.resource_block(address)
            if block not in self._declared:
                self.gone.setdefault(block, []).append(address)
        self.all: frozenset[Block] = frozenset((*self._declared, *self.gone))

    def touched(self, target: Target) -> Iterator[Block]:
        """The blocks of which a target may name instances."""
        for block, resource in self._declared.items():
            if self._variants.touches(target, block[0], resource):
                yield block
        for block, stored in self.gone.items():
            if any(map(target.touches, stored)):
                yield block

    def covered(self, target: Target) -> Iterator[Block]:
        """The blocks of which a target names all instances."""
        for block, resource in self._declared.items():
            if self._variants.is_covered(target, block[0], resource):
                yield block
        for block, stored in self.gone.items():
            if all(map(target.covers, stored)):
                yield block


class _Needs:
    """The blocks that a block needs, as the configuration says."""

    def __init__(self, graph: BlockGraph, undeclared: Iterable[Block]) -> None:
        self._graph = graph
        self._undeclared: dict[ModuleAddr, list[Block]] = {}
        """The orphans, by the modules that they are in or below."""
        for block in undeclared:
            at: ModuleAddr | None = block[0]
            while at is not None:
                self._undeclared.setdefault(at, []).append(block)
                at = at.parent

    def of(self, block: Block) -> set[Block]:
        """The dependencies of a resource."""
        source = block if self._graph.is_resource(block) else expansion_block(block[0])
        return self.before(source) - {block}

    def before(self, block: Block) -> set[Block]:
        """The resources that a block comes from, whatever it is."""
        found = set(self._graph.resource_blocks_before(block))
        if self._undeclared:
            for module in self._graph.modules_before(block):
                found.update(self._undeclared.get(module, ()))
        return found


def _following(
    graph: BlockGraph,
    resources_before: Callable[[Block], AbstractSet[Block]],
    selected: AbstractSet[Block],
) -> set[Block]:
    """The root's outputs, and the variables with validations, that come from selected resources and
    from no others.
    """
    found: set[Block] = set()
    for block in (*graph.root_outputs(), *graph.validated_variables()):
        before = resources_before(block)
        if before and before <= selected:
            found.add(block)
    return found

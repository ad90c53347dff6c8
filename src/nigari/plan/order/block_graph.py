"""The block graph: dependencies between the blocks of a configuration, whatever their values.

`block_references` names the blocks and finds their direct dependencies. Here are the indirect ones,
and what follows from them. Answers are computed on request and cached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from nigari.addrs.absolute import AbsResource
from nigari.addrs.module import (
    ROOT_MODULE,
    ModuleAddr,
)
from nigari.addrs.provider import AbsProviderConfig
from nigari.addrs.resource import ACTION, EPHEMERAL
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.addrs.values import Caller
from nigari.config.core.declared import Dependencies
from nigari.diagnostics import Range
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.nodes.resource import Schemas
from nigari.lang.references import Reference
from nigari.plan.order.block_references import EVERYTHING, EXPANSION, Block, BlockReferences
from nigari.plan.order.variants import Variants

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")
    N = TypeVar("N")


def expansion_block(module: ModuleAddr) -> Block:
    """The block of the instances of a variant, or of a call."""
    return module, EXPANSION


def output_block(name: str) -> Block:
    """The block that declares an output value of the root module."""
    return ROOT_MODULE, f"output.{name}"


def block_label(block: Block) -> str:
    """The name of a block, as users write it."""
    path, name = block
    if name in (EVERYTHING, EXPANSION):
        return str(path)
    return name if path.is_root else f"{path}.{name}"


def is_given_by_call(block: Block, need: Block) -> bool:
    """Return whether a block depends on another through the arguments of its call, not through its
    own module.
    """
    path, name = need
    is_given = name == EVERYTHING or name.startswith("output.")
    return is_given and (path != block[0] or block[1] != EVERYTHING)


class BlockGraph:
    """The blocks of a configuration with their direct and indirect dependencies, as far as schemas
    show the references.
    """

    def __init__(self, root: ModuleInstance, schemas: Schemas | None) -> None:
        self._direct = BlockReferences(root, schemas)
        self.variants: Variants = self._direct.variants
        self._resources: Mapping[Block, AbsResource] = self._direct.resources
        self._before: dict[Block, frozenset[AbsResource]] = {}
        self._blocks_before: dict[Block, frozenset[Block]] = {}
        self._ephemeral: dict[Block, frozenset[Block]] = {}
        self._whole: dict[Block, frozenset[ModuleAddr]] = {}
        self._outside: dict[ModuleAddr, frozenset[Block]] = {}
        self.has_actions: bool = self._direct.has_actions
        """True if any module has actions."""

    def block(self, module: ModuleAddr, name: str) -> Block:
        """The block of this name in a module instance."""
        return self.variants.of(module), name

    def resource_block(self, address: AbsResource) -> Block:
        """The block that declares a resource of a module instance."""
        return self.block(address.module, str(address.item))

    def provider_block(self, address: AbsProviderConfig) -> Block:
        """The block that configures a provider in a module instance."""
        return self.block(address.module, str(address.item))

    def resources(self) -> Mapping[Block, AbsResource]:
        """Every resource block, with the resource in its module without keys."""
        return self._resources

    def root_outputs(self) -> Iterator[Block]:
        """The output values of the root module."""
        root = self.variants.representatives.get(ROOT_MODULE)
        for name in () if root is None else root.module.outputs:
            yield output_block(name)

    def validated_variables(self) -> Iterator[Block]:
        """The variables that have validations, of all modules."""
        for path, instance in self.variants.representatives.items():
            for name, variable in instance.module.variables.items():
                if variable.validations:
                    yield path, f"var.{name}"

    def referring_validations(self) -> Iterator[tuple[Block, Range]]:
        """Yield the variables whose validations refer to more than the variable, with their ranges."""
        return self._direct.referring_validations()

    def final_values(self) -> Iterator[Block]:
        """The blocks that are evaluated last: the root's outputs, and all checks."""
        yield from self.root_outputs()
        for path, instance in self.variants.representatives.items():
            for name in instance.module.checks:
                yield path, f"check.{name}"

    def is_resource(self, block: Block) -> bool:
        """Return whether a block declares a resource."""
        return block in self._resources

    def resource(self, block: Block) -> AbsResource | None:
        """The resource that a block declares, if it declares one, in its module without keys."""
        return self._resources.get(block)

    def is_in_check(self, block: Block) -> bool:
        """Return whether a block is the data source of a check."""
        declared = self._direct.declared_resource(block)
        return declared is not None and bool(declared.in_check)

    def needs(self, block: Block) -> tuple[Block, ...]:
        """Return the blocks that a block refers to."""
        return self._direct.needs(block)

    def needs_without_values(self, block: Block) -> Iterable[Block]:
        """Return them, except those that only values in the `depends_on` of a resource refer to."""
        return self._direct.needs_without_values(block)

    def referred(
        self, instance: ModuleInstance, references: Iterable[Reference]
    ) -> Iterator[Block]:
        """Yield the blocks that references of a module stand for."""
        return self._direct.referred(instance, references)

    def value_needs(self, block: Block) -> Iterator[Block]:
        """The blocks that the value of a block comes from; that of a module are its outputs."""
        is_module = block[1] == EVERYTHING and block[0] in self.variants.representatives
        yield from (
            each for each in self.needs(block) if not is_module or each[1].startswith("output.")
        )

    def actions(self) -> Iterator[tuple[Block, Range]]:
        """The actions of all modules, each with its range."""
        for block, address in self._resources.items() if self.has_actions else ():
            declared = self._direct.declared_resource(block)
            if address.item.mode is ACTION and declared is not None:
                yield block, declared.range

    def callers(self, action: Block) -> Iterator[Block]:
        """Yield the resources that trigger an action."""
        return self._direct.callers(action)

    def refers_to_caller(self, action: Block) -> bool:
        """Return whether the configuration of an action depends on the resource that triggers it."""
        references = self._direct.body_references(action)
        return any(isinstance(each.subject, Caller) for each in references)

    def referred_callers(self, action: Block) -> frozenset[ResourceAddr]:
        """The resources that trigger an action and that it refers to by their addresses."""
        callers = set(self.callers(action))
        instance = self.variants.representatives[action[0]]
        named = set(self._direct.referred(instance, self._direct.body_references(action)))
        return frozenset(self._resources[each].item for each in named & callers)

    def has_conditions(self, block: Block) -> bool:
        """Return whether a resource has conditions. Every apply checks them."""
        resource = self._direct.declared_resource(block)
        if resource is None:
            return False
        return bool(resource.lifecycle.preconditions or resource.lifecycle.postconditions)

    def resources_before(self, block: Block) -> frozenset[AbsResource]:
        """All resources that a block needs, directly or through others, in modules without keys."""
        return work_out(block, self._before, self._direct.needs, self._joined)

    def resource_blocks_before(self, block: Block) -> frozenset[Block]:
        """The blocks of all resources that a block needs, directly or through others."""
        return work_out(block, self._blocks_before, self._direct.needs, self._joined_blocks)

    def modules_before(self, block: Block) -> frozenset[ModuleAddr]:
        """The variants that a block needs as a whole, directly or through others."""
        return work_out(block, self._whole, self._direct.needs, self._joined_modules)

    def called_with(self, path: ModuleAddr) -> frozenset[Block]:
        """The resources that the instances of a variant and their variables come from."""
        found = self._outside.get(path)
        if found is None:
            given = {expansion_block(path)}
            instance = self.variants.representatives.get(path)
            for name in () if instance is None else instance.module.variables:
                given.update(self._direct.argument_needs(path, name))
            found = self._outside[path] = frozenset(
                each for block in given for each in self._at_and_before(block)
            )
        return found

    def _at_and_before(self, block: Block) -> Iterator[Block]:
        """The resources that a block needs, and the block itself if it is one."""
        if block in self._resources:
            yield block
        yield from self.resource_blocks_before(block)

    def resource_blocks_before_all(
        self, instance: ModuleInstance, depends_on: Dependencies
    ) -> frozenset[Block]:
        """All resources that the things in a `depends_on` need, directly or through others."""
        named = self._direct.of_dependencies(instance, depends_on)
        return frozenset[Block]().union(*map(self.resource_blocks_before, named))

    def ephemeral_before(self, block: Block) -> frozenset[Block]:
        """Return the ephemeral resources from which the value of a block is computed.

        Values of managed resources and data sources are never ephemeral.
        """
        return work_out(block, self._ephemeral, self._values_of, self._joined_ephemeral)

    def _values_of(self, block: Block) -> tuple[Block, ...]:
        return tuple(self.value_needs(block))

    def _joined_ephemeral(self, block: Block) -> frozenset[Block]:
        joined: frozenset[Block] = frozenset()
        for need in self.value_needs(block):
            resource = self._resources.get(need)
            if resource is None:
                joined |= self._ephemeral.get(need, frozenset())
            elif resource.item.mode is EPHEMERAL:
                joined |= self._ephemeral.get(need, frozenset()) | {need}
        return joined

    def _joined_modules(self, block: Block) -> frozenset[ModuleAddr]:
        joined: frozenset[ModuleAddr] = frozenset()
        for need in self._direct.needs(block):
            found = self._whole.get(need, frozenset())
            if need[1] == EVERYTHING:
                found = found | {need[0]}
            joined = found if not joined else joined | found
        return joined

    def _joined(self, block: Block) -> frozenset[AbsResource]:
        joined: frozenset[AbsResource] = frozenset()
        for need in self._direct.needs(block):
            found = self._before.get(need, frozenset())
            resource = self._resources.get(need)
            # An action is no object: nothing of it is stored, and it never ends.
            if resource is not None and resource.item.mode is not ACTION:
                found = found | {resource}
            joined = found if not joined else joined | found
        return joined

    def _joined_blocks(self, block: Block) -> frozenset[Block]:
        joined: frozenset[Block] = frozenset()
        for need in self._direct.needs(block):
            found = self._blocks_before.get(need, frozenset())
            resource = self._resources.get(need)
            if resource is not None and resource.item.mode is not ACTION:
                found = found | {need}
            joined = found if not joined else joined | found
        return joined


def work_out(
    start: N, known: dict[N, T], needs: Callable[[N], Iterable[N]], find: Callable[[N], T]
) -> T:
    """Compute a fact about a node from the same facts about its dependencies.

    Those are computed first, and added to `known`. A cycle, which only blocks and never values can
    have, is cut where it is met: the fact of that node is missing there.
    """
    stack: list[tuple[N, bool]] = [(start, False)]
    entered: set[N] = set()
    while stack:
        at, is_ready = stack.pop()
        if at in known:
            continue
        if is_ready:
            known[at] = find(at)
        elif at not in entered:
            entered.add(at)
            stack.append((at, True))
            stack.extend((need, False) for need in needs(at) if need not in known)
    return known[start]

"""The block graph: which blocks of a configuration need which others, whatever their values.

A block is named by the un-keyed path of its module and its name there. Besides what a module
declares there are two names for each call: the call itself stands for its expansion, on which all
in it depends, and the module with `*` for everything in it, which whoever names the call as a whole
needs. Nothing is evaluated; references were
found by compiling. Answers are worked out when asked for and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

from nigari.addrs.absolute import Abs, AbsResource
from nigari.addrs.address import Address
from nigari.addrs.module import (
    ROOT_MODULE,
    ModuleAddr,
    ModuleCall,
    ModuleCallInstance,
    ModuleCallOutput,
)
from nigari.addrs.provider import AbsProviderConfig, ProviderConfig
from nigari.addrs.resource import EPHEMERAL, ResourceInstance
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.addrs.values import InputVariable, LocalValue, ProviderFunction
from nigari.config.base.declared import CheckRule, Dependencies, Repetition
from nigari.config.blocks.resource import Resource
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.base.module_tree import ModuleInstance
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.nodes.provider_names import FoundBlock, find_block
from nigari.eval.nodes.resource import Schemas, resource_schema
from nigari.hcl.body import Body
from nigari.hcl.expressions import Expression
from nigari.lang.references import Reference, parse_reference
from nigari.schema.block import Block as SchemaBlock
from nigari.schema.decode import decoder_spec
from nigari.schema.provisioners import CONNECTION, PROVISIONERS

Block: TypeAlias = tuple[ModuleAddr, str]
"""A module without keys, and the name of something in it."""

T = TypeVar("T")
N = TypeVar("N")

_EVERYTHING = "*"
_EXPANSION = "(instances)"


def resource_block(address: AbsResource) -> Block:
    """The block that declares a resource."""
    return address.module.unkeyed, str(address.item)


def expansion_block(module: ModuleAddr) -> Block:
    """What stands for the instances of a module."""
    return module, _EXPANSION


def output_block(name: str) -> Block:
    """The block that declares an output value of the root module."""
    return ROOT_MODULE, f"output.{name}"


def provider_block(address: AbsProviderConfig) -> Block:
    """The block that configures a provider."""
    return address.module.unkeyed, str(address.item)


def block_label(block: Block) -> str:
    """What users call a block."""
    path, name = block
    if name in (_EVERYTHING, _EXPANSION):
        return str(path)
    return name if path.is_root else f"{path}.{name}"


def is_given_by_call(block: Block, need: Block) -> bool:
    """Whether a block needs another as what a call gives, and not as something of its own module."""
    path, name = need
    is_given = name == _EVERYTHING or name.startswith("output.")
    return is_given and (path != block[0] or block[1] != _EVERYTHING)


class BlockGraph:
    """Who needs whom among the blocks of a configuration, as far as schemas tell what is in them."""

    def __init__(self, root: ModuleInstance, schemas: Schemas | None) -> None:
        self._schemas = schemas
        self._modules: dict[ModuleAddr, list[ModuleInstance]] = {}
        self._resources: dict[Block, AbsResource] = {}
        self._needs: dict[Block, tuple[Block, ...]] = {}
        self._before: dict[Block, frozenset[AbsResource]] = {}
        self._blocks_before: dict[Block, frozenset[Block]] = {}
        self._ephemeral: dict[Block, frozenset[AbsResource]] = {}
        self._whole: dict[Block, frozenset[ModuleAddr]] = {}
        self._outside: dict[ModuleAddr, frozenset[Block]] = {}
        self._providers: dict[Block, FoundBlock] = {}
        pending = [root]
        while pending:
            instance = pending.pop()
            path = instance.addr.unkeyed
            self._modules.setdefault(path, []).append(instance)
            for addr in instance.module.resources:
                self._resources[path, str(addr)] = Abs(path, addr)
            for local, config in instance.module.provider_configs.items():
                provider = provider_of(instance.module, local.name)
                found = Abs(path, ProviderConfig(provider, local.alias))
                self._providers[provider_block(found)] = FoundBlock(instance, config, found)
            for children in instance.children.values():
                pending.extend(children.values())

    def resources(self) -> Iterable[AbsResource]:
        """Every resource block, in modules without keys."""
        return self._resources.values()

    def root_outputs(self) -> Iterator[Block]:
        """The output values of the root module."""
        for instance in self._modules.get(ROOT_MODULE, ()):
            for name in instance.module.outputs:
                yield output_block(name)

    def validated_variables(self) -> Iterator[Block]:
        """The variables that have validations, of all modules."""
        for path, instances in self._modules.items():
            for name, variable in instances[0].module.variables.items():
                if variable.validations:
                    yield path, f"var.{name}"

    def referring_validations(self) -> Iterator[tuple[Block, Range]]:
        """The variables whose validations refer to more than the variable, each with where."""
        for path, instances in self._modules.items():
            for name, variable in instances[0].module.variables.items():
                block = path, f"var.{name}"
                for rule in variable.validations:
                    if set(self._of_rules(instances[0], (rule,))) - {block}:
                        yield block, rule.condition.range

    def final_values(self) -> Iterator[Block]:
        """What is worked out once everything has been done: the root's outputs, and all checks."""
        yield from self.root_outputs()
        for path, instances in self._modules.items():
            for name in instances[0].module.checks:
                yield path, f"check.{name}"

    def is_resource(self, block: Block) -> bool:
        """Whether a block declares a resource."""
        return block in self._resources

    def resource(self, block: Block) -> AbsResource | None:
        """The resource that a block declares, if it declares one."""
        return self._resources.get(block)

    def is_in_check(self, block: Block) -> bool:
        """Whether a block is the data source of a check."""
        address = self._resources.get(block)
        return address is not None and any(
            instance.module.resources[address.item].in_check
            for instance in self._modules[address.module]
            if address.item in instance.module.resources
        )

    def needs(self, block: Block) -> tuple[Block, ...]:
        """The blocks that a block needs directly."""
        found = self._needs.get(block)
        if found is None:
            unique = dict.fromkeys(self._find_needs(block))
            unique.pop(block, None)
            found = self._needs[block] = tuple(unique)
        return found

    def is_decided_by_resources(self, block: Block) -> bool:
        """Whether resources decide which instances a block has, or how a provider is configured."""
        path, name = block
        for instance in self._modules.get(path, ()):
            found: Iterable[Block] = ()
            if name == _EXPANSION and instance.call is not None and instance.parent is not None:
                found = self._of_repetition(instance.parent, instance.call.repetition)
            elif block in self._resources:
                resource = instance.module.resources.get(self._resources[block].item)
                if resource is not None:
                    found = self._of_repetition(instance, resource.repetition)
            elif block in self._providers:
                found = self.needs(block)
            if any(each in self._resources or self.resources_before(each) for each in found):
                return True
        return False

    def referred(
        self, instance: ModuleInstance, references: Iterable[Reference]
    ) -> Iterator[Block]:
        """The blocks that references of a module stand for."""
        return self._of_references(instance, references)

    def value_needs(self, block: Block) -> Iterator[Block]:
        """The blocks that the value of a block comes from; that of a module are its outputs."""
        is_module = block[1] == _EVERYTHING
        yield from (
            each for each in self.needs(block) if not is_module or each[1].startswith("output.")
        )

    def has_conditions(self, block: Block) -> bool:
        """Whether a resource has conditions, which are looked at whenever something is applied."""
        address = self._resources.get(block)
        if address is None:
            return False
        resource = self._modules[address.module][0].module.resources[address.item]
        return bool(resource.lifecycle.preconditions or resource.lifecycle.postconditions)

    def resources_before(self, block: Block) -> frozenset[AbsResource]:
        """All resources that a block needs, directly or through others."""
        return work_out(block, self._before, self.needs, self._joined)

    def resource_blocks_before(self, block: Block) -> frozenset[Block]:
        """The blocks of all these resources. Blocks are asked for by the thousand while an order is
        made, which is why they are not made anew from the resources.
        """
        return work_out(block, self._blocks_before, self.needs, self._joined_blocks)

    def modules_before(self, block: Block) -> frozenset[ModuleAddr]:
        """The modules that a block needs as a whole, directly or through others."""
        return work_out(block, self._whole, self.needs, self._joined_modules)

    def called_with(self, path: ModuleAddr) -> frozenset[Block]:
        """The resources that the instances of a module and their variables come from."""
        found = self._outside.get(path)
        if found is None:
            given = {expansion_block(path)}
            for instance in self._modules.get(path, ()):
                for name in instance.module.variables:
                    given.update(self._argument_needs(instance, name))
            found = self._outside[path] = frozenset(
                each for block in given for each in self._at_and_before(block)
            )
        return found

    def _at_and_before(self, block: Block) -> Iterator[Block]:
        """The resources that a block needs, and the block itself if it is one."""
        if block in self._resources:
            yield block
        yield from self.resource_blocks_before(block)

    def resources_before_all(
        self, instance: ModuleInstance, depends_on: Dependencies
    ) -> frozenset[AbsResource]:
        """All resources that the things in a `depends_on` need, directly or through others."""
        named = self._of_dependencies(instance, depends_on)
        return frozenset[AbsResource]().union(*map(self.resources_before, named))

    def ephemeral_before(self, block: Block) -> frozenset[AbsResource]:
        """The ephemeral resources whose values a block is worked out from.

        Nothing ephemeral comes out of a managed resource or a data source that needs it.
        """
        return work_out(block, self._ephemeral, self._values_of, self._joined_ephemeral)

    def _values_of(self, block: Block) -> tuple[Block, ...]:
        return tuple(self.value_needs(block))

    def _joined_ephemeral(self, block: Block) -> frozenset[AbsResource]:
        joined: frozenset[AbsResource] = frozenset()
        for need in self.value_needs(block):
            resource = self._resources.get(need)
            if resource is None:
                joined |= self._ephemeral.get(need, frozenset())
            elif resource.item.mode is EPHEMERAL:
                joined |= self._ephemeral.get(need, frozenset()) | {resource}
        return joined

    def _joined_modules(self, block: Block) -> frozenset[ModuleAddr]:
        joined: frozenset[ModuleAddr] = frozenset()
        for need in self.needs(block):
            found = self._whole.get(need, frozenset())
            if need[1] == _EVERYTHING:
                found = found | {need[0]}
            joined = found if not joined else joined | found
        return joined

    def _joined(self, block: Block) -> frozenset[AbsResource]:
        joined: frozenset[AbsResource] = frozenset()
        for need in self.needs(block):
            found = self._before.get(need, frozenset())
            resource = self._resources.get(need)
            if resource is not None:
                found = found | {resource}
            joined = found if not joined else joined | found
        return joined

    def _joined_blocks(self, block: Block) -> frozenset[Block]:
        joined: frozenset[Block] = frozenset()
        for need in self.needs(block):
            found = self._blocks_before.get(need, frozenset())
            if need in self._resources:
                found = found | {need}
            joined = found if not joined else joined | found
        return joined

    # -- what each kind of block needs --------------------------------------------------------

    def _find_needs(self, block: Block) -> Iterator[Block]:
        path, name = block
        for instance in self._modules.get(path, ()):
            if name == _EXPANSION:
                yield from self._expansion_needs(instance)
            elif name == _EVERYTHING:
                yield from self._everything(instance)
            elif block in self._resources:
                yield from self._resource_needs(instance, self._resources[block].item)
            elif block in self._providers:
                yield from self._provider_needs(self._providers[block])
            else:
                yield from self._value_needs(instance, name)

    def _expansion_needs(self, instance: ModuleInstance) -> Iterator[Block]:
        call, parent = instance.call, instance.parent
        if call is None or parent is None:
            return
        yield parent.addr.unkeyed, _EXPANSION
        yield from self._of_repetition(parent, call.repetition)
        yield from self._of_dependencies(parent, call.depends_on or ())

    def _everything(self, instance: ModuleInstance) -> Iterator[Block]:
        """All that a module declares, whether anybody uses it or not; its checks come later."""
        path, module = instance.addr.unkeyed, instance.module
        yield path, _EXPANSION
        for addr, resource in module.resources.items():
            if not resource.in_check:
                yield path, str(addr)
        for kind, names in (
            ("output", module.outputs),
            ("var", module.variables),
            ("local", module.locals),
        ):
            for name in names:
                yield path, f"{kind}.{name}"
        for name in module.calls:
            yield path.child(name), _EVERYTHING

    def _value_needs(self, instance: ModuleInstance, name: str) -> Iterator[Block]:
        module = instance.module
        kind, _, rest = name.partition(".")
        if kind == "local" and rest in module.locals:
            yield from self._of_expression(instance, module.locals[rest].expr)
        elif kind == "output" and rest in module.outputs:
            output = module.outputs[rest]
            yield instance.addr.unkeyed, _EXPANSION
            yield from self._of_expression(instance, output.expr)
            yield from self._of_dependencies(instance, output.depends_on)
            yield from self._of_rules(instance, output.preconditions)
        elif kind == "check" and rest in module.checks:
            yield from self._of_rules(instance, module.checks[rest].asserts)
        elif kind == "var" and rest in module.variables:
            yield from self._of_rules(instance, module.variables[rest].validations)
            yield from self._argument_needs(instance, rest)

    def _argument_needs(self, instance: ModuleInstance, variable: str) -> Iterator[Block]:
        """What the value that a call gives to a variable needs."""
        call, parent = instance.call, instance.parent
        if call is None or parent is None:
            return
        yield instance.addr.unkeyed, _EXPANSION
        arguments = parent.compiled.arguments(call, Diagnostics())
        if variable in arguments:
            yield from self._of_expression(parent, arguments[variable].expr)

    def _resource_needs(self, instance: ModuleInstance, addr: ResourceAddr) -> Iterator[Block]:
        resource = instance.module.resources.get(addr)
        if resource is None:
            return
        yield instance.addr.unkeyed, _EXPANSION
        yield from self._of_repetition(instance, resource.repetition)
        yield from self._of_dependencies(instance, resource.depends_on)
        lifecycle = resource.lifecycle
        yield from self._of_rules(instance, lifecycle.preconditions + lifecycle.postconditions)
        for expr in (*lifecycle.replace_triggered_by, lifecycle.prevent_destroy):
            if expr is not None:
                yield from self._of_expression(instance, expr)
        ref = resource.provider
        if ref is not None and ref.key is not None:
            yield from self._of_expression(instance, ref.key)
        alias = "" if ref is None else ref.alias
        found = find_block(instance, resource.provider_name, alias)
        if found.key is not None:
            yield from self._of_expression(found.key.caller, found.key.expr)
        if found.config is not None:
            yield provider_block(found.address)
        schema = self._schema_of(found, resource)
        if schema is not None:
            yield from self._of_body(instance, resource.body, schema)
        if resource.provisioners:
            yield from self._provisioner_needs(instance, resource)

    def _provisioner_needs(self, instance: ModuleInstance, resource: Resource) -> Iterator[Block]:
        connections = [resource.connection]
        for provisioner in resource.provisioners:
            connections.append(provisioner.connection)
            schema = PROVISIONERS.get(provisioner.type)
            if schema is not None:
                yield from self._of_body(instance, provisioner.body, schema)
        for connection in connections:
            if connection is not None:
                yield from self._of_body(instance, connection.body, CONNECTION)

    def _schema_of(self, found: FoundBlock, resource: Resource | None) -> SchemaBlock | None:
        """The schema of a resource's body; without a resource, of the provider configuration."""
        schemas = self._schemas
        offered = None if schemas is None else schemas.of(found.address.item.provider)
        if offered is None:
            return None
        if resource is None:
            return offered.provider.block
        schema = resource_schema(offered, resource.addr)
        return None if schema is None else schema.block

    def _provider_needs(self, found: FoundBlock) -> Iterator[Block]:
        config = found.config
        schema = self._schema_of(found, None)
        if config is None or schema is None:
            return
        yield found.instance.addr.unkeyed, _EXPANSION
        for expr in (config.for_each, config.count):
            if expr is not None:
                yield from self._of_expression(found.instance, expr)
        yield from self._of_body(found.instance, config.body, schema)

    # -- references ---------------------------------------------------------------------------

    def _of_repetition(self, instance: ModuleInstance, repetition: Repetition) -> Iterator[Block]:
        for expr in (repetition.count, repetition.for_each, repetition.enabled):
            if expr is not None:
                yield from self._of_expression(instance, expr)

    def _of_rules(self, instance: ModuleInstance, rules: Iterable[CheckRule]) -> Iterator[Block]:
        for rule in rules:
            yield from self._of_expression(instance, rule.condition)
            yield from self._of_expression(instance, rule.error_message)

    def _of_dependencies(
        self, instance: ModuleInstance, depends_on: Dependencies
    ) -> Iterator[Block]:
        for traversal in depends_on:
            reference = parse_reference(traversal, Diagnostics())
            if reference is not None:
                yield from self._of_references(instance, (reference,))

    def _of_body(
        self, instance: ModuleInstance, body: Body, schema: SchemaBlock
    ) -> Iterator[Block]:
        compiled = instance.compiled.body(body, decoder_spec(schema))
        yield from self._of_references(instance, compiled.references)

    def _of_expression(self, instance: ModuleInstance, expr: Expression) -> Iterator[Block]:
        yield from self._of_references(instance, instance.compiled.expression(expr).references)

    def _of_references(
        self, instance: ModuleInstance, references: Iterable[Reference]
    ) -> Iterator[Block]:
        path = instance.addr.unkeyed
        for reference in references:
            subject: Address = reference.subject
            if isinstance(subject, ResourceInstance):
                subject = subject.resource
            if isinstance(subject, InputVariable | LocalValue | ResourceAddr):
                yield path, str(subject)
            elif isinstance(subject, ProviderFunction):
                found = find_block(instance, subject.provider, subject.alias)
                if found.config is not None:
                    yield provider_block(found.address)
            elif isinstance(subject, ModuleCallOutput):
                yield path.child(subject.call.name), f"output.{subject.name}"
            elif isinstance(subject, ModuleCall | ModuleCallInstance):
                call = subject if isinstance(subject, ModuleCall) else subject.call
                yield path.child(call.name), _EVERYTHING


def work_out(
    start: N, known: dict[N, T], needs: Callable[[N], Iterable[N]], find: Callable[[N], T]
) -> T:
    """A fact about a block that follows from the same facts about what it needs.

    These are found first, and put among what is known. A circle between blocks that values do
    not follow is cut where it is met: there a fact is missing.
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

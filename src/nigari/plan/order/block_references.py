"""Direct dependencies of blocks: what the expressions of a block refer to.

A block is named by the variant of its module (`ModuleInstance.variant`) and its name there. Besides
the declarations of a module there are two names for each call: the call itself stands for its
expansion, on which everything in it depends, and the module with `*` for everything in it, on which
a reference to the call as a whole depends. If the instances of a call are of several variants, the
path of the call without a key stands for all of them, with blocks for its outputs only. Nothing is
evaluated: compiling has found the references. Deliberately unknown here: indirect dependencies,
which are in `block_graph`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from nigari.addrs.absolute import Abs, AbsResource
from nigari.addrs.address import Address
from nigari.addrs.module import (
    ModuleAddr,
    ModuleCall,
    ModuleCallInstance,
    ModuleCallOutput,
)
from nigari.addrs.provider import ProviderConfig
from nigari.addrs.resource import ACTION, ResourceInstance
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.addrs.values import InputVariable, LocalValue, ProviderFunction
from nigari.config.blocks.resource import Resource
from nigari.config.core.declared import CheckRule, Dependencies, Repetition
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.nodes.action_triggers import is_triggered_by
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.nodes.provider_names import FoundBlock, find_block
from nigari.eval.nodes.resource import Schemas, resource_schema
from nigari.hcl.body import Body
from nigari.hcl.expressions import Expression
from nigari.lang.references import Reference, parse_reference
from nigari.plan.order.variants import Variants
from nigari.schema.block import Block as SchemaBlock
from nigari.schema.decode import decoder_spec
from nigari.schema.provisioners import CONNECTION, PROVISIONERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Block: TypeAlias = tuple[ModuleAddr, str]
"""A variant of a module, and the name of something in it."""

EVERYTHING = "*"
EXPANSION = "(instances)"


class BlockReferences:
    """The blocks of a configuration, each with the blocks that it refers to."""

    def __init__(self, root: ModuleInstance, schemas: Schemas | None) -> None:
        self._schemas = schemas
        self.variants: Variants = Variants(root)
        self.resources: dict[Block, AbsResource] = {}
        """Every resource block, with the resource in its module without keys."""
        self.providers: dict[Block, FoundBlock] = {}
        self._needs: dict[Block, tuple[Block, ...]] = {}
        self.has_actions: bool = False
        """True if any module has actions."""
        for path, instance in self.variants.representatives.items():
            module = path.unkeyed
            for addr in instance.module.resources:
                self.resources[path, str(addr)] = Abs(module, addr)
                self.has_actions = self.has_actions or addr.mode is ACTION
            for local, config in instance.module.provider_configs.items():
                provider = provider_of(instance.module, local.name)
                found = Abs(instance.addr, ProviderConfig(provider, local.alias))
                self.providers[path, str(found.item)] = FoundBlock(instance, config, found)

    def needs(self, block: Block) -> tuple[Block, ...]:
        """Return the blocks that a block refers to."""
        found = self._needs.get(block)
        if found is None:
            unique = dict.fromkeys(self._find_needs(block))
            unique.pop(block, None)
            found = self._needs[block] = tuple(unique)
        return found

    def needs_without_values(self, block: Block) -> Iterable[Block]:
        """Return the blocks that a block refers to, except those that only values in the `depends_on`
        of a resource refer to.
        """
        resource = self.declared_resource(block)
        if resource is None or not resource.dependency_values:
            return self.needs(block)
        instance = self.variants.representatives[block[0]]
        return self._resource_needs(instance, resource, resource.named_dependencies)

    def declared_resource(self, block: Block) -> Resource | None:
        """Return the declaration of a resource; None for other blocks."""
        address = self.resources.get(block)
        if address is None:
            return None
        return self.variants.representatives[block[0]].module.resources[address.item]

    def callers(self, action: Block) -> Iterator[Block]:
        """Yield the resources that trigger an action."""
        address = self.resources[action]
        for addr, resource in self.variants.representatives[action[0]].module.resources.items():
            if is_triggered_by(address.item, resource):
                yield action[0], str(addr)

    def body_references(self, block: Block) -> Sequence[Reference]:
        """Return the references in the body of a resource."""
        instance, resource = self.variants.representatives[block[0]], self.declared_resource(block)
        assert resource is not None
        alias = "" if resource.provider is None else resource.provider.alias
        found = find_block(instance, resource.provider_name, alias)
        schema = self._schema_of(found, resource)
        if schema is None:
            return ()
        return instance.compiled.body(resource.body, decoder_spec(schema)).references

    def referring_validations(self) -> Iterator[tuple[Block, Range]]:
        """Yield the variables whose validations refer to more than the variable, with their ranges."""
        for path, instance in self.variants.representatives.items():
            for name, variable in instance.module.variables.items():
                block = path, f"var.{name}"
                for rule in variable.validations:
                    if set(self._of_rules(instance, (rule,))) - {block}:
                        yield block, rule.condition.range

    # -- what each kind of block needs --------------------------------------------------------

    def _find_needs(self, block: Block) -> Iterator[Block]:
        path, name = block
        instance = self.variants.representatives.get(path)
        if name == EXPANSION:
            yield from self._expansion_needs(path)
        elif instance is None:
            # What comes out of a call, comes out of its variants.
            for variant in self.variants.of_call(path):
                yield variant, name
        elif name == EVERYTHING:
            yield from self._everything(instance)
        elif block in self.resources:
            resource = instance.module.resources[self.resources[block].item]
            needs = self._resource_needs(instance, resource, resource.depends_on)
            if resource.addr.mode is ACTION:
                # A resource that triggers an action depends on it, and not the other way round.
                callers = set(self.callers(block))
                needs = (each for each in needs if each not in callers)
            yield from needs
        elif block in self.providers:
            yield from self._provider_needs(self.providers[block])
        else:
            yield from self._value_needs(instance, name)

    def _expansion_needs(self, path: ModuleAddr) -> Iterator[Block]:
        call, parent = self.variants.caller(path)
        if call is None or parent is None:
            return
        yield parent.variant, EXPANSION
        yield from self._of_repetition(parent, call.repetition)
        yield from self.of_dependencies(parent, call.depends_on or ())

    def _everything(self, instance: ModuleInstance) -> Iterator[Block]:
        """Yield everything that a module declares, used or not; its checks come later."""
        path, module = instance.variant, instance.module
        yield path, EXPANSION
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
            yield path.child(name), EVERYTHING

    def _value_needs(self, instance: ModuleInstance, name: str) -> Iterator[Block]:
        module = instance.module
        kind, _, rest = name.partition(".")
        if kind == "local" and rest in module.locals:
            yield from self._of_expression(instance, module.locals[rest].expr)
        elif kind == "output" and rest in module.outputs:
            output = module.outputs[rest]
            yield instance.variant, EXPANSION
            yield from self._of_expression(instance, output.expr)
            yield from self.of_dependencies(instance, output.depends_on)
            yield from self._of_rules(instance, output.preconditions)
        elif kind == "check" and rest in module.checks:
            yield from self._of_rules(instance, module.checks[rest].asserts)
        elif kind == "var" and rest in module.variables:
            yield from self._of_rules(instance, module.variables[rest].validations)
            yield from self.argument_needs(instance.variant, rest)

    def argument_needs(self, path: ModuleAddr, variable: str) -> Iterator[Block]:
        """The needs of the value that a call gives to a variable."""
        call, parent = self.variants.caller(path)
        if call is None or parent is None:
            return
        yield path, EXPANSION
        arguments = parent.compiled.arguments(call, Diagnostics())
        if variable in arguments:
            yield from self._of_expression(parent, arguments[variable].expr)

    def _resource_needs(
        self, instance: ModuleInstance, resource: Resource, depends_on: Dependencies
    ) -> Iterator[Block]:
        yield instance.variant, EXPANSION
        yield from self._of_repetition(instance, resource.repetition)
        yield from self.of_dependencies(instance, depends_on)
        lifecycle = resource.lifecycle
        yield from self._of_rules(instance, lifecycle.preconditions + lifecycle.postconditions)
        triggers = (*lifecycle.replace_triggered_by, *lifecycle.replacing_values)
        for expr in (*triggers, lifecycle.prevent_destroy):
            if expr is not None:
                yield from self._of_expression(instance, expr)
        for trigger in lifecycle.action_triggers:
            yield from ((instance.variant, str(each.addr)) for each in trigger.actions)
            if trigger.condition is not None:
                yield from self._of_expression(instance, trigger.condition)
        ref = resource.provider
        if ref is not None and ref.key is not None:
            yield from self._of_expression(instance, ref.key)
        alias = "" if ref is None else ref.alias
        found = find_block(instance, resource.provider_name, alias)
        if found.key is not None:
            yield from self._of_expression(found.key.caller, found.key.expr)
        if found.config is not None:
            yield found.instance.variant, str(found.address.item)
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
        yield found.instance.variant, EXPANSION
        yield from self.of_dependencies(found.instance, config.parents)
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

    def of_dependencies(
        self, instance: ModuleInstance, depends_on: Dependencies
    ) -> Iterator[Block]:
        """Yield the blocks that a `depends_on` names."""
        for traversal in depends_on:
            reference = parse_reference(traversal, Diagnostics())
            if reference is not None:
                yield from self.referred(instance, (reference,))

    def _of_body(
        self, instance: ModuleInstance, body: Body, schema: SchemaBlock
    ) -> Iterator[Block]:
        compiled = instance.compiled.body(body, decoder_spec(schema))
        yield from self.referred(instance, compiled.references)

    def _of_expression(self, instance: ModuleInstance, expr: Expression) -> Iterator[Block]:
        yield from self.referred(instance, instance.compiled.expression(expr).references)

    def referred(
        self, instance: ModuleInstance, references: Iterable[Reference]
    ) -> Iterator[Block]:
        """Yield the blocks that references of a module stand for."""
        path = instance.variant
        for reference in references:
            subject: Address = reference.subject
            if isinstance(subject, ResourceInstance):
                subject = subject.resource
            if isinstance(subject, InputVariable | LocalValue | ResourceAddr):
                yield path, str(subject)
            elif isinstance(subject, ProviderFunction):
                found = find_block(instance, subject.provider, subject.alias)
                if found.config is not None:
                    yield found.instance.variant, str(found.address.item)
            elif isinstance(subject, ModuleCallOutput):
                for child in self.variants.called(path, subject.instance):
                    yield child, f"output.{subject.name}"
            elif isinstance(subject, ModuleCallInstance):
                for child in self.variants.called(path, subject):
                    yield child, EVERYTHING
            elif isinstance(subject, ModuleCall):
                yield path.child(subject.name), EVERYTHING

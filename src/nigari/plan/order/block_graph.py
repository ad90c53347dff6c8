"""The block graph: which blocks of a configuration need which others, whatever their values.

A block is named by the variant of its module (`ModuleInstance.variant`) and its name there. Besides
what a module declares there are two names for each call: the call itself stands for its expansion, on
which all in it depends, and the module with `*` for everything in it, on which a reference to the call as
a whole needs. Where the instances of a call are of several variants, the path of the call without a
key stands for all of them: only what comes out of it has blocks there. Nothing is evaluated; references
were found by compiling. Answers are worked out when asked for and cached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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
from nigari.addrs.resource import ACTION, EPHEMERAL, ResourceInstance
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.addrs.values import Caller, InputVariable, LocalValue, ProviderFunction
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
    from typing import TypeAlias, TypeVar

    T = TypeVar("T")
    N = TypeVar("N")

Block: TypeAlias = tuple[ModuleAddr, str]
"""A variant of a module, and the name of something in it."""


_EVERYTHING = "*"
EXPANSION = "(instances)"


def expansion_block(module: ModuleAddr) -> Block:
    """The block of the instances of a variant, or of a call."""
    return module, EXPANSION


def output_block(name: str) -> Block:
    """The block that declares an output value of the root module."""
    return ROOT_MODULE, f"output.{name}"


def block_label(block: Block) -> str:
    """The name of a block, as users write it."""
    path, name = block
    if name in (_EVERYTHING, EXPANSION):
        return str(path)
    return name if path.is_root else f"{path}.{name}"


def is_given_by_call(block: Block, need: Block) -> bool:
    """Return whether a block depends on another through the arguments of its call, not through its
    own module.
    """
    path, name = need
    is_given = name == _EVERYTHING or name.startswith("output.")
    return is_given and (path != block[0] or block[1] != _EVERYTHING)


class BlockGraph:
    """The dependencies between the blocks of a configuration, as far as schemas show the
    references.
    """

    def __init__(self, root: ModuleInstance, schemas: Schemas | None) -> None:
        self._schemas = schemas
        self.variants: Variants = Variants(root)
        self._resources: dict[Block, AbsResource] = {}
        self._needs: dict[Block, tuple[Block, ...]] = {}
        self._before: dict[Block, frozenset[AbsResource]] = {}
        self._blocks_before: dict[Block, frozenset[Block]] = {}
        self._ephemeral: dict[Block, frozenset[Block]] = {}
        self._whole: dict[Block, frozenset[ModuleAddr]] = {}
        self._outside: dict[ModuleAddr, frozenset[Block]] = {}
        self._providers: dict[Block, FoundBlock] = {}
        self.has_actions: bool = False
        """True if any module has actions."""
        for path, instance in self.variants.representatives.items():
            module = path.unkeyed
            for addr in instance.module.resources:
                self._resources[path, str(addr)] = Abs(module, addr)
                self.has_actions = self.has_actions or addr.mode is ACTION
            for local, config in instance.module.provider_configs.items():
                provider = provider_of(instance.module, local.name)
                found = Abs(instance.addr, ProviderConfig(provider, local.alias))
                self._providers[path, str(found.item)] = FoundBlock(instance, config, found)

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
        """The variables whose validations refer to more than the variable, each with where."""
        for path, instance in self.variants.representatives.items():
            for name, variable in instance.module.variables.items():
                block = path, f"var.{name}"
                for rule in variable.validations:
                    if set(self._of_rules(instance, (rule,))) - {block}:
                        yield block, rule.condition.range

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
        declared = self._declared(block)
        return declared is not None and bool(declared.in_check)

    def _declared(self, block: Block) -> Resource | None:
        """The declaration of a resource."""
        address = self._resources.get(block)
        if address is None:
            return None
        return self.variants.representatives[block[0]].module.resources[address.item]

    def needs(self, block: Block) -> tuple[Block, ...]:
        """The blocks that a block needs directly."""
        found = self._needs.get(block)
        if found is None:
            unique = dict.fromkeys(self._find_needs(block))
            unique.pop(block, None)
            found = self._needs[block] = tuple(unique)
        return found

    def needs_without_values(self, block: Block) -> Iterable[Block]:
        """The blocks that a resource needs directly, except for what only values in its `depends_on`
        refer to.
        """
        resource = self._declared(block)
        if resource is None or not resource.dependency_values:
            return self.needs(block)
        instance = self.variants.representatives[block[0]]
        return self._resource_needs(instance, resource, resource.named_dependencies)

    def referred(
        self, instance: ModuleInstance, references: Iterable[Reference]
    ) -> Iterator[Block]:
        """The blocks that references of a module stand for."""
        return self._of_references(instance, references)

    def value_needs(self, block: Block) -> Iterator[Block]:
        """The blocks that the value of a block comes from; that of a module are its outputs."""
        is_module = block[1] == _EVERYTHING and block[0] in self.variants.representatives
        yield from (
            each for each in self.needs(block) if not is_module or each[1].startswith("output.")
        )

    def actions(self) -> Iterator[tuple[Block, Range]]:
        """The actions of all modules, each with its range."""
        for block, address in self._resources.items() if self.has_actions else ():
            declared = self._declared(block)
            if address.item.mode is ACTION and declared is not None:
                yield block, declared.range

    def callers(self, action: Block) -> Iterator[Block]:
        """The resources that trigger an action."""
        address = self._resources[action]
        for addr, resource in self.variants.representatives[action[0]].module.resources.items():
            if is_triggered_by(address.item, resource):
                yield action[0], str(addr)

    def refers_to_caller(self, action: Block) -> bool:
        """Return whether the configuration of an action depends on the resource that triggers it."""
        references = self._body_references(action)
        return any(isinstance(each.subject, Caller) for each in references)

    def referred_callers(self, action: Block) -> frozenset[ResourceAddr]:
        """The resources that trigger an action and that it refers to by their addresses."""
        callers = set(self.callers(action))
        instance = self.variants.representatives[action[0]]
        named = set(self._of_references(instance, self._body_references(action)))
        return frozenset(self._resources[each].item for each in named & callers)

    def _body_references(self, block: Block) -> Sequence[Reference]:
        instance, resource = self.variants.representatives[block[0]], self._declared(block)
        assert resource is not None
        alias = "" if resource.provider is None else resource.provider.alias
        found = find_block(instance, resource.provider_name, alias)
        schema = self._schema_of(found, resource)
        if schema is None:
            return ()
        return instance.compiled.body(resource.body, decoder_spec(schema)).references

    def has_conditions(self, block: Block) -> bool:
        """Return whether a resource has conditions. Every apply checks them."""
        resource = self._declared(block)
        if resource is None:
            return False
        return bool(resource.lifecycle.preconditions or resource.lifecycle.postconditions)

    def resources_before(self, block: Block) -> frozenset[AbsResource]:
        """All resources that a block needs, directly or through others, in modules without keys."""
        return work_out(block, self._before, self.needs, self._joined)

    def resource_blocks_before(self, block: Block) -> frozenset[Block]:
        """The blocks of all resources that a block needs, directly or through others."""
        return work_out(block, self._blocks_before, self.needs, self._joined_blocks)

    def modules_before(self, block: Block) -> frozenset[ModuleAddr]:
        """The variants that a block needs as a whole, directly or through others."""
        return work_out(block, self._whole, self.needs, self._joined_modules)

    def called_with(self, path: ModuleAddr) -> frozenset[Block]:
        """The resources that the instances of a variant and their variables come from."""
        found = self._outside.get(path)
        if found is None:
            given = {expansion_block(path)}
            instance = self.variants.representatives.get(path)
            for name in () if instance is None else instance.module.variables:
                given.update(self._argument_needs(path, name))
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
        named = self._of_dependencies(instance, depends_on)
        return frozenset[Block]().union(*map(self.resource_blocks_before, named))

    def ephemeral_before(self, block: Block) -> frozenset[Block]:
        """The ephemeral resources whose values a block is worked out from.

        Nothing ephemeral comes out of a managed resource or a data source that needs it.
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
            # An action is no object: nothing of it is stored, and it never ends.
            if resource is not None and resource.item.mode is not ACTION:
                found = found | {resource}
            joined = found if not joined else joined | found
        return joined

    def _joined_blocks(self, block: Block) -> frozenset[Block]:
        joined: frozenset[Block] = frozenset()
        for need in self.needs(block):
            found = self._blocks_before.get(need, frozenset())
            resource = self._resources.get(need)
            if resource is not None and resource.item.mode is not ACTION:
                found = found | {need}
            joined = found if not joined else joined | found
        return joined

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
        elif name == _EVERYTHING:
            yield from self._everything(instance)
        elif block in self._resources:
            resource = instance.module.resources[self._resources[block].item]
            needs = self._resource_needs(instance, resource, resource.depends_on)
            if resource.addr.mode is ACTION:
                # A resource that triggers an action depends on it, and not the other way round.
                callers = set(self.callers(block))
                needs = (each for each in needs if each not in callers)
            yield from needs
        elif block in self._providers:
            yield from self._provider_needs(self._providers[block])
        else:
            yield from self._value_needs(instance, name)

    def _expansion_needs(self, path: ModuleAddr) -> Iterator[Block]:
        call, parent = self.variants.caller(path)
        if call is None or parent is None:
            return
        yield parent.variant, EXPANSION
        yield from self._of_repetition(parent, call.repetition)
        yield from self._of_dependencies(parent, call.depends_on or ())

    def _everything(self, instance: ModuleInstance) -> Iterator[Block]:
        """All that a module declares, whether anybody uses it or not; its checks come later."""
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
            yield path.child(name), _EVERYTHING

    def _value_needs(self, instance: ModuleInstance, name: str) -> Iterator[Block]:
        module = instance.module
        kind, _, rest = name.partition(".")
        if kind == "local" and rest in module.locals:
            yield from self._of_expression(instance, module.locals[rest].expr)
        elif kind == "output" and rest in module.outputs:
            output = module.outputs[rest]
            yield instance.variant, EXPANSION
            yield from self._of_expression(instance, output.expr)
            yield from self._of_dependencies(instance, output.depends_on)
            yield from self._of_rules(instance, output.preconditions)
        elif kind == "check" and rest in module.checks:
            yield from self._of_rules(instance, module.checks[rest].asserts)
        elif kind == "var" and rest in module.variables:
            yield from self._of_rules(instance, module.variables[rest].validations)
            yield from self._argument_needs(instance.variant, rest)

    def _argument_needs(self, path: ModuleAddr, variable: str) -> Iterator[Block]:
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
        yield from self._of_dependencies(instance, depends_on)
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
        yield from self._of_dependencies(found.instance, config.parents)
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
                    yield child, _EVERYTHING
            elif isinstance(subject, ModuleCall):
                yield path.child(subject.name), _EVERYTHING


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

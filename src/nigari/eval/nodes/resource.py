"""Resource blocks while nothing of them exists: the configuration against its schema.

This is how `validate` sees resources. Nothing is expanded: one look with unknown `each` and
`count` stands for all instances. The value that others see is unknown, of the schema's type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from nigari.addrs.absolute import Abs
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleCall, ModuleCallInstance
from nigari.addrs.provider import LocalProviderConfig, Provider
from nigari.addrs.resource import (
    ACTION,
    DATA,
    EPHEMERAL,
    LIST,
    MANAGED,
    ResourceInstance,
    ResourceMode,
)
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.config.blocks.resource import Resource
from nigari.config.core.declared import CheckRule, Dependencies, DependencyValue, Repetition
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.cty.paths import GetAttr, Path, path_text
from nigari.cty.types import BOOL
from nigari.cty.values import DYNAMIC_UNKNOWN, Mark, Value, unknown
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.eval.core.compile import Compiled, CompiledBody
from nigari.eval.core.instances import Frame, ResourceNode, Run
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData, deferred_data
from nigari.eval.core.scope import Binding, evaluate, evaluate_body, scope_of
from nigari.eval.core.worklist import DONE, Effect, Need, Node, Stages
from nigari.eval.nodes.conditions import message_text
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.nodes.provider_keys import check_provider_key
from nigari.hcl.body import Body
from nigari.hcl.quoting import with_article
from nigari.hcl.suggestion import did_you_mean
from nigari.hcl.traversal import Traversal, TraverseAttr
from nigari.lang.marks import EPHEMERAL as EPHEMERAL_MARK
from nigari.lang.marks import SENSITIVE, Deprecated
from nigari.lang.references import Reference, parse_reference
from nigari.record import record
from nigari.typed import Protocol

TYPE_CHECKING = False
# Without a schema, nothing that decodes with one is imported.
if TYPE_CHECKING:
    from nigari.providers.api import ProviderDiagnostic
    from nigari.schema.block import Block
    from nigari.schema.provider import ProviderSchema, Schema


@record
class ValidateConfig(Effect):
    """A provider must say what it thinks of a configuration. Answered with its diagnostics."""

    provider: Provider
    mode: ResourceMode
    type_name: str
    config: Value


class SchemaLookups(Run, Protocol):
    """The lookups that a run offers to resources validated by providers."""

    def provider_instances(
        self, frame: Frame, config: LocalProviderConfig
    ) -> Mapping[InstanceKey, InstanceData]:
        """The instances of a provider block of a module; none where it has no such block."""
        ...

    def answer(self, effect: ValidateConfig) -> Sequence[ProviderDiagnostic] | None:
        """The diagnostics of a provider, or None if it has not answered yet."""
        ...

    def check_repetition(self, frame: Frame, repetition: Repetition) -> Sequence[Need]:
        """Report what is wrong in how a block of a module is repeated."""
        ...


class Schemas(Protocol):
    """Looks up provider schemas."""

    def of(self, provider: Provider) -> ProviderSchema | None:
        """Return a provider's schema; None if it is unavailable here."""
        ...


def resource_schema(offered: ProviderSchema | None, addr: ResourceAddr) -> Schema | None:
    """The schema of a resource; None if its provider is not loaded or does not have it."""
    if offered is None:
        return None
    if addr.mode is MANAGED:
        return offered.resources.get(addr.type)
    if addr.mode is LIST:
        from nigari.schema.list_block import list_schema

        return list_schema(offered, addr.type)
    if addr.mode is ACTION:
        from nigari.schema.config_block import action_schema

        return action_schema(offered, addr.type)
    schemas = offered.data_sources if addr.mode is DATA else offered.ephemeral_resources
    return schemas.get(addr.type)


class ValidatedResource(ResourceNode):
    """A resource of one module instance, validated without a provider process."""

    __slots__ = (
        "_run",
        "_config",
        "_data",
        "_provider",
        "_schema",
        "_stages",
        "_triggers_seen",
        "_waits",
    )

    def __init__(
        self,
        frame: Frame,
        resource: Resource,
        schemas: Schemas,
        run: SchemaLookups,
        waits: Sequence[Node] = (),
    ) -> None:
        super().__init__(frame, resource)
        self._waits = waits
        """Dependencies of the module's calls and imports, and so of everything in it."""
        self._run = run
        self._provider = provider_of(frame.module, resource.provider_name)
        self._data = deferred_data(resource.repetition)
        self._schema = self._find_schema(schemas)
        self._config: Value | None = None
        self._triggers_seen = 0
        if self._schema is not None:
            self.element: Value = marked_unknown(self._schema, resource.addr)
        lifecycle = resource.lifecycle
        self._stages = Stages(
            self._wait,
            self._check_repetition,
            self._check_key,
            self._check_dependencies,
            self._check_body,
            self._ask_provider,
            self._check_ignored,
            self._check_protection,
            self._check_triggers,
            Rules(frame, lifecycle.preconditions, self._data).step,
            Rules(frame, lifecycle.postconditions, self._data, self.element).step,
            *self._provisioner_stages(),
            *self._trigger_stages(),
            self._finish,
        )

    def step(self) -> Sequence[Need]:
        return self._stages.step()

    def _provisioner_stages(self) -> Sequence[Callable[[], Sequence[Need]]]:
        if not self.resource.provisioners:
            return ()
        from nigari.eval.nodes.validated_provisioner import provisioner_stages

        return provisioner_stages(self, self._data)

    def _trigger_stages(self) -> Sequence[Callable[[], Sequence[Need]]]:
        if not self.resource.lifecycle.action_triggers:
            return ()
        from nigari.eval.nodes.action_triggers import trigger_stages

        return trigger_stages(self, self._data)

    def _find_schema(self, schemas: Schemas) -> Block | None:
        resource = self.resource
        offered = schemas.of(self._provider)
        if offered is None:
            return None
        schema = resource_schema(offered, resource.addr)
        if schema is None:
            _report_type(resource, self._provider, offered, self.frame.run.diags)
            return None
        return schema.block

    def _wait(self) -> Sequence[Need]:
        return [node for node in self._waits if node.state != DONE]

    def _check_key(self) -> Sequence[Need]:
        """Check that the key selecting a provider instance can be evaluated."""
        ref = self.resource.provider
        if ref is None or ref.key is None:
            return ()
        compiled = self.frame.instance.compiled.expression(ref.key)
        value = evaluate(self.frame, compiled, self._data, owner=self)
        if not isinstance(value, Value):
            return value
        known = self._run.provider_instances(self.frame, ref.config)
        check_provider_key(self.frame, ref, value, known, str(self.resource.addr))
        return ()

    def _check_repetition(self) -> Sequence[Need]:
        return self._run.check_repetition(self.frame, self.resource.repetition)

    def _check_dependencies(self) -> Sequence[Need]:
        needs = needs_of_dependencies(self.frame, self.resource.named_dependencies)
        needs = [need for need in needs if need is not self]
        values = self.resource.dependency_values
        return [*needs, *needs_of_values(self.frame, values, self._data)]

    def body_references(self) -> Sequence[Reference]:
        return () if self._schema is None else self._compiled(self._schema).references

    def _compiled(self, schema: Block) -> CompiledBody:
        from nigari.schema.decode import decoder_spec

        return self.frame.instance.compiled.body(self.resource.body, decoder_spec(schema))

    def _check_body(self) -> Sequence[Need]:
        if self._schema is None:
            return ()
        compiled = self._compiled(self._schema)
        errors = self.frame.run.diags.error_count
        config = evaluate_body(self.frame, compiled, self._data, owner=self)
        if not isinstance(config, Value):
            return config
        if self.frame.run.diags.error_count == errors:
            self._config, marks = unmark_deep_with_paths(config)
            for path, found in marks:
                if EPHEMERAL_MARK in found:
                    self._check_ephemeral(path)
        return ()

    def _check_ephemeral(self, path: Path) -> None:
        """Report an ephemeral value in an argument that is stored."""
        from nigari.schema.marked_paths import attribute_at

        schema, resource = self._schema, self.resource
        assert schema is not None
        attribute = attribute_at(schema, path)
        if resource.addr.mode in (EPHEMERAL, LIST) or (
            attribute is not None and attribute.write_only
        ):
            return
        address = str(Abs(self.frame.instance.addr, resource.addr))
        self.frame.run.diags.append(ephemeral_argument(address, schema, resource.body, path))

    def _ask_provider(self) -> Sequence[Need]:
        """Let the provider look at a configuration that is right as far as the schema goes."""
        if self._config is None:
            return ()
        addr = self.resource.addr
        effect = ValidateConfig(self._provider, addr.mode, addr.type, self._config)
        answer = self._run.answer(effect)
        if answer is None:
            return (effect,)
        if not answer:
            return ()
        from nigari.providers.diagnostics import located

        address = str(Abs(self.frame.instance.addr, addr))
        diagnostics = located(answer, self._schema, self.resource.body, address)
        self.frame.run.diags.extend(diagnostics)
        return ()

    def _check_ignored(self) -> Sequence[Need]:
        """Check that the attributes in `ignore_changes` exist."""
        ignored = self.resource.lifecycle.ignore_changes
        if self._schema is not None and isinstance(ignored, tuple):
            for traversal in ignored:
                self._check_ignored_path(self._schema, traversal)
        return ()

    def _check_ignored_path(self, schema: Block, traversal: Traversal) -> None:
        from nigari.schema.marked_paths import attribute_at
        from nigari.schema.traversals import check_traversal

        diags = self.frame.run.diags
        errors = diags.error_count
        check_traversal(schema, traversal, diags)
        names = [GetAttr(step.name) for step in traversal.steps if isinstance(step, TraverseAttr)]
        attribute = attribute_at(schema, tuple(names))
        if diags.error_count > errors or attribute is None:
            return
        if attribute.computed and not attribute.optional:
            diags.warning(
                "ignore_changes without effect",
                f"ignore_changes applies to arguments, but {path_text(tuple(names)).lstrip('.')} "
                f"of {self.resource.addr} is set by the provider alone. It has no effect.",
                self.resource.range,
            )

    def _check_protection(self) -> Sequence[Need]:
        """Check that `prevent_destroy` can be true or false."""
        expr = self.resource.lifecycle.prevent_destroy
        if expr is None:
            return ()
        compiled = self.frame.instance.compiled.expression(expr)
        value = evaluate(self.frame, compiled, self._data, owner=self)
        if not isinstance(value, Value):
            return value
        try:
            convert(value, BOOL)
        except CtyError as error:
            self.frame.run.diags.error(
                "Invalid prevent_destroy argument",
                f"prevent_destroy of {self.resource.addr} must be true or false: {error.message}.",
                expr.range,
            )
        return ()

    def _check_triggers(self) -> Sequence[Need]:
        """Check that the references in `replace_triggered_by` exist, and evaluate its values."""
        needs: list[Need] = []
        lifecycle = self.resource.lifecycle
        triggers = (*lifecycle.replace_triggered_by, *lifecycle.replacing_values)
        for expr in triggers[self._triggers_seen :]:
            compiled = self.frame.instance.compiled.expression(expr)
            if expr in lifecycle.replacing_values:
                value = evaluate(self.frame, compiled, self._data)
                if not isinstance(value, Value):
                    needs.extend(value)
                    break
            elif not self._is_without_instance(compiled):
                found, diags = Diagnostics(), self.frame.run.diags
                value = evaluate(self.frame, compiled, self._data, owner=self, diags=found)
                if not isinstance(value, Value):
                    needs.extend(value)
                    break
                is_whole = not any(each.remaining.steps for each in compiled.references)
                # A trigger that names a whole object uses none of its deprecated attributes.
                diags.extend(e for e in found if e.severity is Severity.ERROR or not is_whole)
            self._triggers_seen += 1
        return needs

    def _is_without_instance(self, compiled: Compiled) -> bool:
        """Return whether a trigger names an attribute of a repeated resource without a key, and
        report it. The trigger has no effect: OpenTofu validates it and then finds no change for it.
        """
        for reference in compiled.references:
            subject = reference.subject
            if not isinstance(subject, ResourceInstance) or subject.key is not None:
                continue
            node = self.frame.resources.get(subject.resource)
            if node is not None and not node.resource.repetition.has_one_value:
                name, step = node.resource.addr, reference.remaining
                self.frame.run.diags.warning(
                    "Trigger without effect",
                    f"{name}{step} names no instance of {name}, so replace_triggered_by has no effect "
                    f"here. Name the whole resource, {name}, or one of its instances.",
                    compiled.expr.range,
                )
                return True
        return False

    def _finish(self) -> Sequence[Need]:
        """Set the value that others see: nothing but the type, or an unknown value for repeated
        resources.
        """
        repetition = self.resource.repetition
        is_repeated = repetition.count is not None or repetition.for_each is not None
        value = DYNAMIC_UNKNOWN if is_repeated else self.element
        if repetition.enabled is not None:
            # It may be null, and then nothing in it is secret or deprecated.
            value = unknown(value.type)
        if self.resource.addr.mode is EPHEMERAL:
            value = value.mark(EPHEMERAL_MARK)
        self.value = value
        return ()


def marked_unknown(block: Block, addr: ResourceAddr) -> Value:
    """Any value of a block's type, sensitive and deprecated where the schema says so."""
    if addr.mode is LIST:
        # What a query finds does not look like its configuration.
        return DYNAMIC_UNKNOWN
    if not block.has_sensitive and not block.has_deprecated:
        return unknown(block.implied_type)
    from nigari.schema.marked_paths import sensitive_paths
    from nigari.schema.placeholders import unknown_block

    value = unknown_block(block)
    secret = frozenset({SENSITIVE})
    value = mark_with_paths(value, [(path, secret) for path in sensitive_paths(block, value)])
    return advised(block, value, addr)


def advised(block: Block, value: Value, addr: ResourceAddr) -> Value:
    """The value of an instance with the marks of what its provider warns against using."""
    if not block.has_deprecated:
        return value
    from nigari.schema.marked_paths import deprecated_paths

    marks: dict[Path, frozenset[Mark]] = {}
    for path, kind, message in deprecated_paths(block, value):
        kind = kind if path else addr.mode.type_noun
        advice = Deprecated(message, f"{addr}{path_text(path)}", kind=kind)
        marks[path] = marks.get(path, frozenset()) | {advice}
    plain, had = unmark_deep_with_paths(value)
    for path, found in had:
        marks[path] = marks.get(path, frozenset()) | found
    return mark_with_paths(plain, list(marks.items()))


class Rules:
    """Check rules whose expressions are validated, while their conditions may fail."""

    __slots__ = ("_at", "_check", "_data", "_expressions", "_frame", "_messages", "_self")

    def __init__(
        self,
        frame: Frame,
        rules: Sequence[CheckRule],
        data: InstanceData = NO_INSTANCE_DATA,
        self_value: Value | None = None,
        check: str = "",
    ) -> None:
        self._frame = frame
        self._expressions = [
            expr for rule in rules for expr in (rule.condition, rule.error_message)
        ]
        self._messages = {rule.error_message for rule in rules} if check else set()
        """Those that must be fit to be shown, whether or not the rules hold."""
        self._data = data
        self._self = self_value
        self._check = check
        self._at = 0

    def step(self) -> Sequence[Need]:
        """Validate the remaining expressions."""
        while self._at < len(self._expressions):
            expr = self._expressions[self._at]
            compiled = self._frame.instance.compiled.expression(expr)
            value = evaluate(self._frame, compiled, self._data, self._self, check=self._check)
            if not isinstance(value, Value):
                return value
            if expr in self._messages:
                scope = partial(scope_of, self._frame, compiled, self._data, self._self)
                message_text(expr, value, self._frame.run.diags, scope)
            self._at += 1
        return ()


def needs_of_dependencies(frame: Frame, depends_on: Dependencies) -> Sequence[Need]:
    """The nodes that a `depends_on` names; what it may not name is reported."""
    diags = frame.run.diags
    binding = Binding(frame)
    for traversal in depends_on:
        reference = parse_reference(traversal, diags)
        if reference is None:
            continue
        if reference.remaining.steps:
            diags.error(
                "Dependency on part of an object",
                "A dependency must be a whole object, so its address ends here. Remove the rest.",
                reference.remaining.range,
            )
            continue
        binding.bind((reference,))
        subject = reference.subject
        if isinstance(subject, ModuleCallInstance):
            subject = subject.call
        if isinstance(subject, ModuleCall) and subject.name in frame.calls:
            contents = frame.calls[subject.name].contents
            if contents is not None and contents.state != DONE:
                binding.needs.append(contents)
    return binding.needs


def needs_of_values(
    frame: Frame, values: Sequence[DependencyValue], data: InstanceData = NO_INSTANCE_DATA
) -> Sequence[Need]:
    """The nodes that the values in a `depends_on` refer to; mistakes in these are reported."""
    found, needs = Diagnostics(), list[Need]()
    for each in values:
        value = evaluate(frame, frame.instance.compiled.expression(each.expr), data, diags=found)
        needs += () if isinstance(value, Value) else value
    if not needs:
        frame.run.diags.extend(found)
    return needs


def ephemeral_argument(address: str, schema: Block, body: Body, path: Path) -> Diagnostic:
    """An argument that would be stored and must not be."""
    from nigari.schema.locate import locate

    return Diagnostic(
        Severity.ERROR,
        "Ephemeral value in a stored argument",
        f"The value of {path_text(path).lstrip('.')} is ephemeral, but this argument is "
        "stored in the plan and in the state. Only write-only arguments and ephemeral "
        "resources accept ephemeral values.",
        locate(schema, body, path),
        address=address,
    )


def _report_type(
    resource: Resource, provider: Provider, offered: ProviderSchema, diags: Diagnostics
) -> None:
    addr = resource.addr
    what = addr.mode.type_noun
    others = {
        MANAGED: offered.resources,
        DATA: offered.data_sources,
        EPHEMERAL: offered.ephemeral_resources,
        LIST: offered.list_resources,
        ACTION: offered.actions,
    }
    if addr.type in offered.faults:
        diags.error(
            "Unusable provider schema",
            f'The schema of the {what} "{addr.type}" of the provider '
            f"{provider.display} is not valid: {offered.faults[addr.type]}. This is a bug in the "
            "provider.",
            resource.type_range,
        )
        return
    hint = did_you_mean(addr.type, others[addr.mode])
    for mode, schemas in others.items():
        if mode is not addr.mode and addr.type in schemas:
            hint = (
                f" It has {with_article(mode.type_noun)} with that name: use "
                f"{with_article(mode.value)} block."
            )
    diags.error(
        f"Unknown {what}",
        f'The provider {provider.display} has no {what} "{addr.type}".{hint}',
        resource.type_range,
    )

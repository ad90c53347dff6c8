"""Provider blocks while nothing is configured: their bodies against the schema.

This is how `validate` sees provider configurations; their values may be unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.provider import Provider
from nigari.addrs.resource import Resource, ResourceInstance
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.cty.types import NUMBER, STRING
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, unknown
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.scope import evaluate_body
from nigari.eval.core.worklist import Effect, Need, Node, Stages
from nigari.eval.nodes.resource import needs_of_dependencies
from nigari.hcl.traversal import Traversal
from nigari.lang.references import parse_reference
from nigari.providers.api import ProviderDiagnostic
from nigari.providers.diagnostics import located
from nigari.record import record
from nigari.schema.block import Block
from nigari.schema.decode import decoder_spec
from nigari.typed import Protocol


@record
class ValidateProvider(Effect):
    """A provider must say what it thinks of a configuration of itself. Answered with its
    diagnostics.
    """

    provider: Provider
    config: Value


class ProviderValidations(Protocol):
    """The store of provider answers."""

    def answer(self, effect: ValidateProvider) -> Sequence[ProviderDiagnostic] | None:
        """The diagnostics of a provider, or None if it has not answered yet."""
        ...


class ValidatedProvider(Node):
    """A provider block of one module instance, validated once for all its instances."""

    __slots__ = ("_config", "_opinions", "_provider", "_schema", "_stages", "config", "frame")

    def __init__(
        self,
        frame: Frame,
        config: ProviderConfig,
        provider: Provider,
        schema: Block,
        opinions: ProviderValidations,
    ) -> None:
        super().__init__()
        self.frame: Frame = frame
        self.config: ProviderConfig = config
        self._provider = provider
        self._schema = schema
        self._opinions = opinions
        self._config: Value | None = None
        self._stages = Stages(
            self._check_parents,
            self._check_body,
            self._ask_provider,
        )

    @property
    def label(self) -> str:
        return self.frame.label(f"provider.{self.config.addr}")

    @property
    def range(self) -> Range:
        return self.config.range

    def fail(self) -> None:
        """Nothing depends on its result."""

    def step(self) -> Sequence[Need]:
        return self._stages.step()

    def _check_parents(self) -> Sequence[Need]:
        """Check that the references in `all_objects_part_of` exist and have another provider."""
        frame, config = self.frame, self.config
        needs = needs_of_dependencies(frame, config.parents)
        for traversal in () if needs else config.parents:
            reference = parse_reference(traversal, Diagnostics())
            subject = None if reference is None else reference.subject
            if isinstance(subject, ResourceInstance):
                subject = subject.resource
            found = frame.module.resources.get(subject) if isinstance(subject, Resource) else None
            if found is None or found.provider_name != config.name:
                continue
            if found.provider_alias == config.alias:
                _report_own_parent(traversal, frame.run.diags)
        return needs

    def _check_body(self) -> Sequence[Need]:
        compiled = self.frame.instance.compiled.body(self.config.body, decoder_spec(self._schema))
        diags = self.frame.run.diags
        errors = diags.error_count
        value = evaluate_body(self.frame, compiled, _deferred(self.config))
        if not isinstance(value, Value):
            return value
        if diags.error_count == errors:
            self._config = value.unmark_deep()[0]
        return ()

    def _ask_provider(self) -> Sequence[Need]:
        """Let the provider look at a configuration that is right as far as the schema goes."""
        if self._config is None:
            return ()
        effect = ValidateProvider(self._provider, self._config)
        answered = self._opinions.answer(effect)
        if answered is None:
            return (effect,)
        found = located(answered, self._schema, self.config.body, self.label)
        self.frame.run.diags.extend(found)
        return ()


def _report_own_parent(traversal: Traversal, diags: Diagnostics) -> None:
    diags.error(
        "Provider of its own parent",
        f"This provider manages {traversal} itself, so that cannot be what everything else lives in. "
        "Name an object of another provider, such as the one that creates a cluster.",
        traversal.range,
    )


def _deferred(config: ProviderConfig) -> InstanceData:
    """The unknown `each` and `count` of a block whose instances are not evaluated one by one."""
    if config.count is not None:
        return InstanceData(count_index=unknown(NUMBER))
    if config.for_each is not None:
        return InstanceData(each_key=unknown(STRING), each_value=DYNAMIC_UNKNOWN)
    return NO_INSTANCE_DATA

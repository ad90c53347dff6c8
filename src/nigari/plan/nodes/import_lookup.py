"""Looking up objects that exist, without planning anything: for `import`, and to write blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nigari.config.blocks.resource import Resource
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.instances import Frame, Origin
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.core.scope import evaluate_body
from nigari.eval.core.worklist import DONE, Need, Node
from nigari.eval.nodes.module_call import expand
from nigari.plan.nodes.imports import ImportTarget, imported, report_missing, report_undeclared
from nigari.plan.nodes.plan_run import PlanRun
from nigari.plan.objects.prior_object import PriorObject, as_secret_as, read
from nigari.running.provider_node import ProviderNode
from nigari.running.provider_objects import with_schema_marks
from nigari.running.provider_run import frame_at, known_instances
from nigari.running.requests import AskProvider
from nigari.running.without_diagnostics import without_diagnostics
from nigari.schema.decode import decoder_spec
from nigari.schema.provider import Schema

Choose = Callable[[], ProviderNode | list[Need] | None]
"""Finds the provider instance that is asked, or what is needed first to tell."""

Describe = Callable[[Schema], Value | list[Need]]
"""Works out how the object is declared, or what is needed first to tell."""


class ImportLookup(Node):
    """An object that is looked up and read."""

    __slots__ = (
        "_choose",
        "_config",
        "_describe",
        "_effect",
        "_run",
        "found",
        "provider",
        "schema",
        "target",
    )

    def __init__(
        self,
        run: PlanRun,
        target: ImportTarget,
        choose: Choose,
        describe: Describe | None = None,
    ) -> None:
        super().__init__()
        self.target: ImportTarget = target
        self.found: PriorObject | None = None
        self.provider: ProviderNode | None = None
        self.schema: Schema | None = None
        self._run = run
        self._choose = choose
        self._describe = describe
        self._config: Value | None = None
        self._effect: AskProvider | None = None

    @property
    def label(self) -> str:
        return str(self.target.address)

    @property
    def range(self) -> Range | None:
        return self.target.range

    def fail(self) -> None:
        """Nothing depends on its result."""

    def step(self) -> Sequence[Need]:
        if self._effect is not None:
            return ()
        chosen = self._choose()
        if isinstance(chosen, list):
            return chosen
        if chosen is None:
            return ()
        if chosen.state != DONE:
            return (chosen,)
        self.provider = chosen
        if chosen.provider is None or chosen.schema is None:
            return ()
        self.schema = chosen.schema.resources.get(self.target.address.item.resource.type)
        if self.schema is None:
            _report_type(self.target, self._run)
            return ()
        if self._describe is not None:
            config = self._describe(self.schema)
            if isinstance(config, list):
                return config
            self._config = config
        self._effect = AskProvider(self)
        return (self._effect,)

    async def perform(self) -> None:
        """Ask the provider for the object, and read it."""
        node, schema, run, target = self.provider, self.schema, self._run, self.target
        assert node is not None
        assert node.provider is not None
        assert schema is not None
        run.listener.import_started(target.address, target.text)
        # Others report to the run's collector while this waits, so it has one of its own.
        reported = Diagnostics()
        found = await imported(node.provider, schema, target, reported)
        if found is None:
            run.diags.extend(reported)
            return
        run.listener.refresh_started(target.address, with_schema_marks(found.value, schema), "")
        meta = run.meta_at(target.address.module, node.address.item.provider)
        self.found = await read(node.provider, schema, target.address, found, meta, reported)
        run.diags.extend(reported)
        if self.found is not None:
            value = with_schema_marks(self.found.value, schema)
            run.listener.refresh_finished(target.address, value, "")
            if self._config is not None:
                self.found = as_secret_as(self._config, self.found, schema)
        elif not reported.has_errors:
            report_missing(target, run.diags)


class DeclaredTarget:
    """The instance of a resource that an object is imported to."""

    def __init__(self, run: PlanRun, target: ImportTarget) -> None:
        self._run = run
        self._target = target
        self._found: tuple[Frame, Resource, InstanceData] | None = None

    def provider(self) -> ProviderNode | list[Need] | None:
        """The provider that the block of the instance chooses."""
        run, target = self._run, self._target
        frame = frame_at(run.root, target.address.module)
        resource = (
            None if frame is None else frame.module.resources.get(target.address.item.resource)
        )
        if frame is None or resource is None:
            report_undeclared(target, run.diags)
            return None
        expansion = expand(frame, resource.repetition)
        if isinstance(expansion, list):
            return expansion
        known = known_instances(frame, expansion, str(resource.addr), resource)
        if known is None:
            return None
        data = known.get(target.address.item.key)
        if data is None:
            report_undeclared(target, run.diags)
            return None
        self._found = frame, resource, data
        return run.providers.for_instance(frame, resource, data)

    def config(self, schema: Schema) -> Value | list[Need]:
        """Return the block's configuration of the instance.

        It may be incomplete or partly wrong, as long as no change is planned.
        """
        assert self._found is not None
        frame, resource, data = self._found
        body = frame.instance.compiled.body(resource.body, decoder_spec(schema.block))
        return evaluate_body(without_diagnostics(frame), body, data)


def named_provider(run: PlanRun, target: ImportTarget) -> Choose:
    """The provider that an import block names, or the usual one, for what has no block yet."""

    def choose() -> ProviderNode | list[Need] | None:
        ref = None if target.block is None else target.block.provider
        name = target.address.item.resource.implied_provider if ref is None else ref.name
        root: Frame = run.root
        found = run.providers.find(root, name, "" if ref is None else ref.alias)
        origin = None
        if ref is not None and ref.key is not None:
            origin = Origin(root, root.instance.compiled.expression(ref.key))
        return run.providers.chosen(found, origin)

    return choose


def _report_type(target: ImportTarget, run: PlanRun) -> None:
    run.diags.error(
        "Unknown resource type",
        f"The provider has no resource type {target.address.item.resource.type}, so nothing can be "
        f"imported to {target.address}.",
        target.range,
        address=str(target.address),
    )

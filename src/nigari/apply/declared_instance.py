"""The configuration of an instance at apply: its arguments and its conditions."""

from __future__ import annotations

from functools import partial

from nigari.apply.apply_run import AppliedResource
from nigari.apply.context import ApplyContext, OperationFailed
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.scope import evaluate, evaluate_body
from nigari.plan.model.changes import Change, EphemeralInstance
from nigari.plan.model.check_results import resource_conditions
from nigari.plan.objects.ignore_changes import ignore, ignore_all
from nigari.plan.objects.planned_change import Ignore
from nigari.plan.objects.triggers import trigger_digests
from nigari.running.unknown_values import is_reported
from nigari.schema.decode import decoder_spec


async def declared_instance(
    context: ApplyContext, subject: Change | EphemeralInstance
) -> DeclaredInstance:
    """The instance that a change or an opening is about, which the configuration has."""
    run, address = context.run, subject.address
    frame = await run.frame(address.module)
    node = None if frame is None else frame.resources.get(address.item.resource)
    if not isinstance(node, AppliedResource):
        raise OperationFailed
    await run.finish(node.expand)
    return DeclaredInstance(context, subject, node)


class DeclaredInstance:
    """A resource instance that the configuration has."""

    def __init__(
        self, context: ApplyContext, subject: Change | EphemeralInstance, node: AppliedResource
    ) -> None:
        self._context = context
        self._subject = subject
        self.node = node
        self.data: InstanceData = (node.data or {}).get(subject.address.item.key, NO_INSTANCE_DATA)

    @property
    def meta(self) -> Value | None:
        """Return the module's metadata for the provider (`provider_meta`)."""
        provider = self._subject.provider.item.provider
        return self._context.run.meta_at(self._subject.address.module, provider)

    async def config(self) -> Value:
        """The arguments, all of them known."""
        run, node, subject = self._context.run, self.node, self._subject
        compiled = node.frame.instance.compiled.body(
            node.resource.body, decoder_spec(subject.schema.block)
        )
        problems = Diagnostics()
        find = partial(evaluate_body, node.frame, compiled, self.data, diags=problems)
        config = await run.value(find)
        problems.name_since(0, str(subject.address))
        run.diags.extend(problems)
        if problems.has_errors or is_reported(config):
            raise OperationFailed
        # OpenTofu ("Configuration contains unknown value"): ApplyResourceChange must get
        # a wholly known configuration.
        if not config.is_wholly_known:
            run.diags.error(
                "Configuration still unknown",
                f"Parts of the configuration of {subject.address} are still unknown, although "
                "everything that it depends on has been applied.",
                node.resource.range,
                address=str(subject.address),
            )
            raise OperationFailed
        return config

    def ignore(self) -> Ignore | None:
        """Return how the prior object replaces arguments whose changes are ignored."""
        settings, frame, addr = self._context.settings, self.node.frame, self.node.resource.addr
        lifecycle, block = self.node.resource.lifecycle, self._subject.schema.block
        # processIgnoreChanges: ignored arguments take their prior values before the
        # provider sees the configuration.
        if lifecycle.ignore_all_changes or settings.ignores_all(frame, addr):
            return lambda prior, config: ignore_all(block, prior, config)
        ignored = settings.ignored(frame, addr)
        return (lambda prior, config: ignore(ignored, prior, config)) if ignored else None

    async def triggers(self) -> tuple[str, ...]:
        """Evaluate `replace_triggered_by` and return digests for the state, which must not have the values."""
        values: list[Value] = []
        for expr in self.node.resource.lifecycle.replacing_values:
            compiled = self.node.frame.instance.compiled.expression(expr)
            find = partial(evaluate, self.node.frame, compiled, self.data)
            values.append(await self._context.run.value(find, str(self._subject.address)))
        return trigger_digests(values) or ()

    async def check(self, kind: str, self_value: Value | None) -> None:
        """Check the preconditions or postconditions; raise `OperationFailed` if one fails."""
        context, address = self._context, self._subject.address
        lifecycle = self.node.resource.lifecycle
        rules = lifecycle.preconditions if kind == "precondition" else lifecycle.postconditions
        if not rules:
            return
        noted = resource_conditions(self.node.frame, address, kind, rules, self.data, self_value)
        context.conditions.append(noted)
        conditions = noted[3]
        await context.run.finish(conditions.step, str(address))
        if conditions.is_refusing:
            raise OperationFailed

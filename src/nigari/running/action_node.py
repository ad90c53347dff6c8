"""Actions while planning and applying: their instances, and their configuration for one caller.

An action has no value, and nothing of it is done before something invokes it: then its configuration
is evaluated with the resource instance that triggers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.addrs.keys import InstanceKey
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.addrs.resource import ResourceInstance
from nigari.config.blocks.action_trigger import TriggeredAction
from nigari.config.blocks.resource import Resource
from nigari.cty.values import Value, null, number, object_value, string
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame, ResourceNode
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.core.scope import evaluate_body
from nigari.eval.core.worklist import Need
from nigari.eval.nodes.module_call import expand
from nigari.hcl.scope import Scope
from nigari.lang.references import parse_reference
from nigari.record import replace
from nigari.running.deferrals import Deferral, DeferredKind
from nigari.running.provider_run import ProviderRun, known_instances
from nigari.schema.decode import decoder_spec
from nigari.schema.provider import Schema


class ActionNode(ResourceNode):
    """An `action` block of one module instance, which waits for its expansion."""

    __slots__ = ("data", "deferral", "run")

    def __init__(self, frame: Frame, resource: Resource, run: ProviderRun) -> None:
        super().__init__(frame, resource)
        self.run: ProviderRun = run
        self.data: Mapping[InstanceKey, InstanceData] = {}
        self.deferral: Deferral | None = None
        """The reason for which the instances, or some of them, are not known."""

    def step(self) -> Sequence[Need]:
        resource, deferrals = self.resource, self.run.deferrals
        expansion = expand(self.frame, resource.repetition)
        if isinstance(expansion, list):
            return expansion
        name = str(resource.addr)
        found = None
        if deferrals is not None:
            found = deferrals.expanded(
                DeferredKind.RESOURCE,
                self.frame,
                name,
                resource.repetition,
                expansion,
                resource.range,
            )
        if found is not None:
            self.deferral, self.data = found
        else:
            self.data = known_instances(self.frame, expansion, name, resource) or {}
        return ()

    def config(
        self,
        key: InstanceKey,
        schema: Schema,
        caller: Value | None,
        diags: Diagnostics,
        others: Mapping[ResourceAddr, ResourceNode],
    ) -> Value | list[Need]:
        """Evaluate the block of an instance; `others` stand for resources that it refers to."""
        data = replace(self.data[key], caller=caller)
        compiled = self.frame.instance.compiled.body(self.resource.body, decoder_spec(schema.block))
        frame = self.frame.with_resources(others) if others else self.frame
        return evaluate_body(frame, compiled, data, caller, diags=diags)


def action_key(
    action: TriggeredAction, data: InstanceData, diags: Diagnostics
) -> InstanceKey | None:
    """Evaluate the key of a triggered action for one resource instance."""
    names: dict[str, Value] = {}
    if data.each_key is not None:
        names["each"] = object_value({"key": data.each_key})
    if data.count_index is not None:
        names["count"] = object_value({"index": data.count_index})
    keys = [key.value(Scope(names), diags) for key in action.written.keys]
    reference = parse_reference(action.written.with_keys(keys), diags)
    subject = None if reference is None else reference.subject
    return subject.key if isinstance(subject, ResourceInstance) else None


def key_data(key: InstanceKey) -> InstanceData:
    """Say what `each.key` and `count.index` are in an instance that may not be declared any more."""
    return InstanceData(
        each_key=string(key) if isinstance(key, str) else None,
        count_index=number(key) if isinstance(key, int) else None,
    )


def without_ephemeral(value: Value) -> Value:
    """Replace ephemeral values by null: plans do not store them."""
    from nigari.cty.paths import Path, transform
    from nigari.lang.marks import EPHEMERAL

    def stored(_path: Path, part: Value) -> Value:
        return null(part.type) if EPHEMERAL in part.marks else part

    return transform(value, stored)

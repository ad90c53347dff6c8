"""Module instances that the configuration has no more, for what must still be evaluated in them.

That is the configuration of providers which are needed to destroy what is left of the instance,
and whether that may be destroyed. Its variables come from the call as it is now, where `each.value`
is not known any more; its resources are what the state says. Whatever cannot be evaluated is
unknown, and no error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.config.blocks.module_call import ModuleCall
from nigari.config.blocks.resource import Resource
from nigari.cty.values import DYNAMIC_UNKNOWN, Value
from nigari.eval.core.instances import CallNode, Frame
from nigari.eval.core.worklist import Need
from nigari.eval.nodes.local import LocalValueNode
from nigari.eval.nodes.variable import ArgumentVariable
from nigari.plan.nodes.prior_values import PriorResource
from nigari.running.declared_modules import former_instance
from nigari.running.without_diagnostics import without_diagnostics
from nigari.schema.provider import Schema
from nigari.state.model import State

SchemaOf = Callable[[Frame, Resource], Schema | None]


def frame_of_old(
    root: Frame, module: ModuleAddr, prior: State, schema_of: SchemaOf
) -> Frame | None:
    """A module instance that was there once; None where not even its call is there any more."""
    frame = root
    for name, key in module.steps:
        call = frame.calls.get(name)
        if call is None:
            return None
        child = call.frames.get(key) or _vanished(frame, call.call, key, prior, schema_of)
        if child is None:
            return None
        frame = child
    return frame


def _vanished(
    parent: Frame, call: ModuleCall, key: InstanceKey, prior: State, schema_of: SchemaOf
) -> Frame | None:
    instance = former_instance(parent.instance, call.name, key)
    if instance is None:
        return None
    caller = without_diagnostics(parent)
    frame = Frame(caller.run, instance, caller)
    arguments = parent.instance.compiled.arguments(call, caller.run.diags)
    module = instance.module
    for name, variable in module.variables.items():
        frame.variables[name] = ArgumentVariable(frame, variable, arguments.get(name))
    for name, local in module.locals.items():
        frame.locals[name] = LocalValueNode(frame, local)
    for name, inner in module.calls.items():
        frame.calls[name] = _RemovedCall(frame, inner)
    for addr_, resource in module.resources.items():
        frame.resources[addr_] = PriorResource(frame, resource, prior, schema_of)
    return frame


class _RemovedCall(CallNode):
    """A call in a module instance that is gone: it has no instances, and nothing is known of it."""

    __slots__ = ()

    @property
    def label(self) -> str:
        return self.frame.label(f"module.{self.call.name}")

    def fail(self) -> None:
        """It cannot fail."""

    def step(self) -> Sequence[Need]:
        return ()

    def whole(self) -> Value | list[Need]:
        return DYNAMIC_UNKNOWN

    def output(self, key: InstanceKey, name: str) -> Value | list[Need]:
        return DYNAMIC_UNKNOWN

"""Module instances that the configuration has no more, for what must still be evaluated in them.

That is the configuration of providers which are needed to destroy what is left of the instance.
Its variables come from the call as it is now, where `each.value` is not known any more; its
resources are what the state says. Whatever cannot be evaluated is unknown, and no error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.config.module_call import ModuleCall
from nigari.config.resource import Resource
from nigari.cty.types import NUMBER, STRING
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, number, string, unknown
from nigari.eval.expansion import InstanceData
from nigari.eval.instances import CallNode, Frame, ModuleInstance
from nigari.eval.local import LocalValue
from nigari.eval.once import Need
from nigari.eval.variable import ArgumentVariable
from nigari.lang.references import Reference
from nigari.plan.prior_values import PriorResource
from nigari.plan.unheard import unheard
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
    template = _template(parent.instance, call, key)
    if template is None:
        return None
    addr = parent.instance.addr.child(call.name, key)
    instance = ModuleInstance(addr, template.compiled, parent.instance, call, _data(key))
    instance.children = template.children
    caller = unheard(parent)
    frame = Frame(caller.run, instance, caller)
    arguments = parent.instance.compiled.arguments(call, caller.run.diags)
    module = instance.module
    for name, variable in module.variables.items():
        frame.variables[name] = ArgumentVariable(frame, variable, arguments.get(name))
    for name, local in module.locals.items():
        frame.locals[name] = LocalValue(frame, local)
    for name, inner in module.calls.items():
        frame.calls[name] = _VanishedCall(frame, inner)
    for addr_, resource in module.resources.items():
        frame.resources[addr_] = PriorResource(frame, resource, prior, schema_of)
    return frame


def _template(parent: ModuleInstance, call: ModuleCall, key: InstanceKey) -> ModuleInstance | None:
    """An instance that looks like the old one: all do, unless their sources differ."""
    known = parent.children.get(call.name, {})
    exact = known.get(key) or known.get(DEFERRED) or known.get(None)
    if exact is not None:
        return exact
    others = {each.compiled: each for each in known.values()}
    return next(iter(others.values())) if len(others) == 1 else None


def _data(key: InstanceKey) -> InstanceData:
    return InstanceData(
        string(key) if isinstance(key, str) else unknown(STRING),
        DYNAMIC_UNKNOWN,
        number(key) if isinstance(key, int) else unknown(NUMBER),
    )


class _VanishedCall(CallNode):
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

    def output(self, key: InstanceKey, name: str, reference: Reference) -> Value | list[Need]:
        return DYNAMIC_UNKNOWN

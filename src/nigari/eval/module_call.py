"""What a module call means: the instances that it makes, and what their outputs are to the caller.

In the static phase a call also decides which directory each instance comes from. An expansion is
looked at there only if a static place needs it: as long as every instance has the same source, one
instance with a deferred key stands for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from nigari.addrs.keys import DEFERRED, InstanceKey, key_text
from nigari.addrs.module import ModuleAddr
from nigari.config.declared import Repetition
from nigari.config.module_call import ModuleCall
from nigari.cty.types import DYNAMIC, NUMBER, STRING, ListType, MapType, ObjectType, Type
from nigari.cty.values import (
    DYNAMIC_UNKNOWN,
    Value,
    null,
    object_value,
    tuple_value,
    unknown,
)
from nigari.diagnostics import Range
from nigari.eval.causes import CauseKind, UnknownCause
from nigari.eval.compile import CompiledModule
from nigari.eval.expansion import (
    NO_INSTANCE_DATA,
    SINGLE_INSTANCE,
    Expansion,
    InstanceData,
    expand_count,
    expand_enabled,
    expand_for_each,
)
from nigari.eval.instances import (
    FAILED,
    Absent,
    CallNode,
    Frame,
    ModuleInstance,
    ValueNode,
)
from nigari.eval.once import DONE, Effect, Need
from nigari.eval.scope import evaluate
from nigari.hcl.evaluate import Fault
from nigari.hcl.suggestion import did_you_mean
from nigari.record import record, replace


@record
class InstallModule(Effect):
    """A module must be found and read. Answered with the module, or with nothing when that failed
    and was reported.
    """

    addr: ModuleAddr
    """The call instance that needs it."""
    source: str
    version: str | None


def expand(
    frame: Frame, repetition: Repetition, data: InstanceData = NO_INSTANCE_DATA
) -> Expansion | list[Need]:
    """The instances that a block's repetition asks for, or what must be done first."""
    for expr, rules in (
        (repetition.count, expand_count),
        (repetition.for_each, expand_for_each),
        (repetition.enabled, expand_enabled),
    ):
        if expr is not None:
            value = evaluate(frame, frame.instance.compiled.expression(expr), data)
            if not isinstance(value, Value):
                return value
            return rules(value, expr.range, frame.run.diags)
    return SINGLE_INSTANCE


def deferred(frame: Frame, name: str, repetition: Repetition) -> dict[InstanceKey, InstanceData]:
    """One instance that stands for all of a block, without looking at its repetition."""
    if repetition.count is not None:
        cause = _expansion_cause(frame, name, CauseKind.COUNT, repetition)
        index = unknown(NUMBER).with_causes((cause,))
        return {DEFERRED: InstanceData(count_index=index, expr=repetition.count)}
    if repetition.for_each is not None:
        cause = _expansion_cause(frame, name, CauseKind.EACH, repetition)
        return {
            DEFERRED: InstanceData(
                each_key=unknown(STRING).with_causes((cause,)),
                each_value=DYNAMIC_UNKNOWN.with_causes((cause,)),
                expr=repetition.for_each,
            )
        }
    return {None: NO_INSTANCE_DATA}


def _expansion_cause(
    frame: Frame, name: str, kind: CauseKind, repetition: Repetition
) -> UnknownCause:
    expr = repetition.count if kind is CauseKind.COUNT else repetition.for_each
    where = None if expr is None else expr.range
    return UnknownCause(kind, frame.instance.addr, name, where)


class ModuleCallNode(CallNode):
    """A call in one module instance. Subclasses say where its instances come from."""

    __slots__ = ()

    @property
    def label(self) -> str:
        return self.frame.label(f"module.{self.call.name}")

    @property
    def range(self) -> Range:
        return self.call.range

    def fail(self) -> None:
        self.frames = {}
        self.has_failed = True

    def whole(self) -> Value | list[Need]:
        needs: list[Need] = []
        objects: dict[InstanceKey, Value] = {}
        for key, frame in self.frames.items():
            needs.extend(node for node in frame.outputs.values() if node.state != DONE)
            if not needs:
                outputs = frame.outputs.items()
                objects[key] = object_value({name: node.value for name, node in outputs})
        if needs:
            return needs
        if self.has_failed:
            return FAILED
        return self._opaque(objects) if self.frame.run.is_opaque else self._collected(objects)

    def output(self, key: InstanceKey, name: str) -> Value | list[Need] | Absent:
        if self.has_failed:
            return FAILED
        fault = self._wrong_key(key)
        if fault is not None:
            return Absent(fault, self._path)
        chosen = self._chosen(key)
        if not chosen:
            return self._without_instance(key)
        nodes: list[ValueNode] = []
        for frame in chosen:
            node = frame.outputs.get(name)
            if node is None:
                exists = self._path if key is None else (*self._path, str(key))
                return Absent(_no_output(frame, name), exists)
            nodes.append(node)
        needs: list[Need] = [node for node in nodes if node.state != DONE]
        if needs:
            return needs
        if self.frame.run.is_opaque:
            return DYNAMIC_UNKNOWN
        return nodes[0].value if DEFERRED not in self.frames else self._deferred_value()

    @property
    def _path(self) -> tuple[str, ...]:
        return "module", self.call.name

    def _chosen(self, key: InstanceKey) -> list[Frame]:
        """The instances that a key may mean; a number may be written as a string, and the other
        way round.
        """
        if DEFERRED in self.frames:
            return list(self.frames.values())
        if self.call.repetition.count is not None and isinstance(key, str):
            key = int(key)
        elif self.call.repetition.for_each is not None:
            key = str(key)
        return [self.frames[key]] if key in self.frames else []

    def _wrong_key(self, key: InstanceKey) -> Fault | None:
        """What is wrong with a key whatever the instances are: there must be one where the call is
        repeated, and none elsewhere.
        """
        repetition = self.call.repetition
        name = f"module.{self.call.name}"
        if repetition.count is not None and isinstance(key, str) and not key.isdecimal():
            return _named_key(name, key)
        is_repeated = not repetition.has_one_value
        if is_repeated == (key is not None):
            return None
        if not is_repeated:
            return _needless_key(name)
        return _missing_key(name, "count" if repetition.count is not None else "for_each")

    def _without_instance(self, key: InstanceKey) -> Absent:
        """What stands for an instance that does not exist."""
        if self.call.repetition.enabled is not None:
            return Absent(_not_enabled(self.call), self._path, is_null=True)
        return Absent(_no_instance(self, key), self._path)

    def _deferred_value(self) -> Value:
        repetition = self.call.repetition
        kind = CauseKind.COUNT if repetition.count is not None else CauseKind.EACH
        cause = _expansion_cause(self.frame, f"module.{self.call.name}", kind, repetition)
        return DYNAMIC_UNKNOWN.with_causes((cause,))

    def _collected(self, objects: dict[InstanceKey, Value]) -> Value:
        """The outputs of all instances, as the call's repetition shapes them."""
        repetition = self.call.repetition
        if repetition.is_single or repetition.enabled is not None:
            return objects.get(None, null(DYNAMIC))
        if DEFERRED in objects:
            return self._deferred_value()
        if repetition.count is not None:
            return tuple_value(objects.values())
        return object_value({str(key): value for key, value in objects.items()})

    def _opaque(self, objects: dict[InstanceKey, Value]) -> Value:
        """Outputs of which only the names are known, which is all that `validate` goes by."""
        names = {name: DYNAMIC for value in objects.values() for name in value.mapping()}
        type_: Type = ObjectType(names)
        if self.call.repetition.count is not None:
            type_ = ListType(type_)
        elif self.call.repetition.for_each is not None:
            type_ = MapType(type_)
        return unknown(type_)


def is_remote(frame: Frame) -> bool:
    """Whether a module, or one that it is called through, comes from elsewhere."""
    while frame.parent is not None and frame.instance.call is not None:
        caller, instance = frame.parent, frame.instance
        assert instance.call is not None
        source = caller.instance.compiled.expression(instance.call.source)
        value = evaluate(caller, source, instance.data)
        if isinstance(value, Value) and value.is_known and value.type == STRING:
            text, _ = value.unmark()
            if not text.is_null and not text.as_string().startswith(("./", "../")):
                return True
        frame = caller
    return False


class Finder(Protocol):
    """Who finds out where the instances of a call come from."""

    def must_expand(self, module: ModuleAddr, call: str) -> bool:
        """Whether a static place needs the instances of this call one by one."""
        ...

    def module_source(
        self, frame: Frame, call: ModuleCall, data: InstanceData
    ) -> tuple[str, str | None] | list[Need] | None:
        """The source and the version constraint of a call instance; None where one of them has
        been reported, or what must be done first.
        """
        ...

    def is_answered(self, effect: Effect) -> bool:
        """Whether an effect has happened."""
        ...

    def installed(self, effect: Effect) -> CompiledModule | None:
        """The module that an effect has brought."""
        ...


class StaticCall(ModuleCallNode):
    """A call in the static phase: it finds out where its instances come from."""

    __slots__ = ("_expansion", "_finder")

    def __init__(self, frame: Frame, call: ModuleCall, finder: Finder) -> None:
        super().__init__(frame, call)
        self._finder = finder
        self._expansion: dict[InstanceKey, InstanceData] | None = None

    def step(self) -> Sequence[Need]:
        if self._expansion is None:
            expansion = self._expand()
            if isinstance(expansion, list):
                return expansion
            self._expansion = expansion
        needs: list[Need] = []
        modules: dict[InstanceKey, CompiledModule] = {}
        for key, data in self._expansion.items():
            found = self._module(key, data)
            if isinstance(found, CompiledModule):
                modules[key] = found
            elif found is None:
                self.has_failed = True
            else:
                needs.extend(found)
        if needs:
            return needs
        self._open(modules)
        return ()

    def _expand(self) -> dict[InstanceKey, InstanceData] | list[Need]:
        frame, call = self.frame, self.call
        repetition = call.repetition
        name = f"module.{call.name}"
        if repetition.count is None and repetition.for_each is None:
            return {None: NO_INSTANCE_DATA}
        if not self._finder.must_expand(frame.instance.addr, call.name):
            return deferred(frame, name, repetition)
        expansion = expand(frame, repetition)
        if isinstance(expansion, list):
            return expansion
        expr = repetition.count or repetition.for_each
        return {key: replace(data, expr=expr) for key, data in expansion.instances.items()}

    def _module(self, key: InstanceKey, data: InstanceData) -> CompiledModule | list[Need] | None:
        """The module that one instance is made of; None where that has been reported."""
        frame, call = self.frame, self.call
        wanted = self._finder.module_source(frame, call, data)
        if wanted is None or isinstance(wanted, list):
            return wanted
        source, version = wanted
        addr = frame.instance.addr.child(call.name, key)
        effect = InstallModule(addr, source, version)
        return self._finder.installed(effect) if self._finder.is_answered(effect) else [effect]

    def _open(self, modules: dict[InstanceKey, CompiledModule]) -> None:
        assert self._expansion is not None
        parent = self.frame.instance
        children: dict[InstanceKey, ModuleInstance] = {}
        for key, module in modules.items():
            addr = parent.addr.child(self.call.name, key)
            children[key] = ModuleInstance(addr, module, parent, self.call, self._expansion[key])
        parent.children[self.call.name] = children
        self.frames = {
            key: self.frame.run.open(child, self.frame) for key, child in children.items()
        }


class TreeCall(ModuleCallNode):
    """A call in a later phase: its instances are those that the static phase found."""

    __slots__ = ()

    def step(self) -> Sequence[Need]:
        children = self.frame.instance.children.get(self.call.name, {})
        self.frames = {
            key: self.frame.run.open(child, self.frame) for key, child in children.items()
        }
        return ()


def _missing_key(name: str, argument: str) -> Fault:
    key = "0" if argument == "count" else '"key"'
    return Fault(
        "Missing instance key",
        f"{name} has {argument}, so it stands for several instances. Say which one is meant: "
        f"{name}[{key}].",
    )


def _named_key(name: str, key: str) -> Fault:
    return Fault(
        "Invalid instance key",
        f"{name} has count, so its instances are numbered, and there is none named {key_text(key)}.",
    )


def _needless_key(name: str) -> Fault:
    return Fault(
        "Needless instance key",
        f"{name} has neither count nor for_each, so there is only one of it. Leave out the key in "
        "brackets.",
    )


def _not_enabled(call: ModuleCall) -> Fault:
    return Fault(
        "Module not enabled",
        f"module.{call.name} has enabled = false, so it is null and has no output values.",
    )


def _no_instance(node: ModuleCallNode, key: InstanceKey) -> Fault:
    keys = [key_text(each) for each in node.frames]
    have = f"Its instances have the keys {', '.join(keys)}." if keys else "It has none."
    return Fault(
        "No such module instance",
        f"module.{node.call.name} has no instance {key_text(key)}. {have}",
    )


def _no_output(frame: Frame, name: str) -> Fault:
    return Fault(
        "Reference to undeclared output value",
        f'{frame.instance.addr} has no output value named "{name}".'
        f"{did_you_mean(name, frame.outputs)}",
    )

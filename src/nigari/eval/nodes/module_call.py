"""Module calls: the instances that they make, and what their outputs are to the caller.

Where the instances come from is the affair of the phase: the static phase finds the modules
(`nigari.eval.static.module_call`), planning expands every call.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nigari.addrs.keys import DEFERRED, InstanceKey, key_text
from nigari.cty.types import DYNAMIC, STRING, ListType, MapType, ObjectType, Type
from nigari.cty.values import (
    DYNAMIC_UNKNOWN,
    Value,
    null,
    object_value,
    tuple_value,
    unknown,
)
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.instances import (
    FAILED,
    Absent,
    CallNode,
    Frame,
    ValueNode,
)
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.worklist import DONE, AllOf, Need, Node
from nigari.hcl.evaluation import Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.config.blocks.module_call import ModuleCall
    from nigari.config.core.declared import Repetition
    from nigari.eval.core.expansion import Expansion


def expand(
    frame: Frame,
    repetition: Repetition,
    data: InstanceData = NO_INSTANCE_DATA,
    diags: Diagnostics | None = None,
) -> Expansion | list[Need]:
    """The instances that a block's repetition asks for, or what must be done first.

    What is wrong with it goes to the run, unless there are other `diags` for it.
    """
    from nigari.eval.core.expansion import (
        SINGLE_INSTANCE,
        Asked,
        expand_count,
        expand_enabled,
        expand_for_each,
    )
    from nigari.eval.core.scope import evaluate, scope_of

    diags = frame.run.diags if diags is None else diags
    for expr, rules in (
        (repetition.count, expand_count),
        (repetition.for_each, expand_for_each),
        (repetition.enabled, expand_enabled),
    ):
        if expr is not None:
            compiled = frame.instance.compiled.expression(expr)
            value = evaluate(frame, compiled, data, diags=diags)
            if not isinstance(value, Value):
                return value
            return rules(value, Asked(expr, partial(scope_of, frame, compiled, data), diags))
    return SINGLE_INSTANCE


class ModuleCallNode(CallNode):
    """A call in one module instance. Subclasses say where its instances come from."""

    __slots__ = ("_outputs", "_whole")

    def __init__(self, frame: Frame, call: ModuleCall) -> None:
        super().__init__(frame, call)
        self._outputs: AllOf | None = None
        """Outputs that the value of the call depends on; None until the instances are known."""
        self._whole: Value | None = None
        """The value of the call, once everything in it is done and something has asked for it."""

    @property
    def label(self) -> str:
        return self.frame.label(f"module.{self.call.name}")

    @property
    def range(self) -> Range:
        return self.call.range

    def fail(self) -> None:
        self.frames: dict[InstanceKey, Frame] = {}
        self.has_failed = True

    def whole(self) -> Value | list[Need]:
        if self._whole is not None:
            return self._whole
        if self._outputs is not None and self._outputs.state != DONE:
            return [self._outputs]
        needs: list[Node] = []
        objects: dict[InstanceKey, Value] = {}
        for key, frame in self.frames.items():
            needs.extend(node for node in frame.outputs.values() if node.state != DONE)
            if not needs:
                outputs = frame.outputs.items()
                objects[key] = object_value({name: node.value for name, node in outputs})
        if needs:
            self._outputs = AllOf(needs)
            return [self._outputs]
        if self.has_failed:
            return FAILED
        is_opaque = self.frame.run.is_opaque
        value = self._opaque(objects) if is_opaque else self._collected(objects)
        if self.state == DONE:
            self._whole = value
        return value

    def output(self, key: InstanceKey, name: str) -> Value | list[Need] | Absent:
        if self.has_failed:
            return FAILED
        fault = self._wrong_key(key)
        if fault is not None:
            return Absent(fault, self._path)
        chosen = self._chosen(key)
        if not chosen:
            return DYNAMIC_UNKNOWN if self.frame.run.is_opaque else self._without_instance(key)
        nodes: list[ValueNode] = []
        for frame in chosen:
            node = frame.outputs.get(name)
            if node is None:
                exists = self._path if key is None else (*self._path, str(key))
                return Absent(_no_output(self, frame, key, name), exists)
            nodes.append(node)
        needs: list[Need] = [node for node in nodes if node.state != DONE]
        if needs:
            return needs
        if self.frame.run.is_opaque:
            return DYNAMIC_UNKNOWN
        return nodes[0].value if self.undecided is None else self.undecided

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
        """Return the fault of a key that is wrong for all possible instances: repeated calls need
        one, others must not have one.
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
        keys = [key for key in self.frames if key is not DEFERRED]
        return _missing_key(name, "count" if repetition.count is not None else "for_each", keys)

    def _without_instance(self, key: InstanceKey) -> Absent:
        """Stand in for an instance that does not exist."""
        if self.call.repetition.enabled is not None:
            return Absent(_not_enabled(self.call), self._path, is_null=True)
        return Absent(_no_instance(self, key), self._path)

    @property
    def undecided(self) -> Value | None:
        """Stand in for all outputs while the instances are not known."""
        return None

    def _collected(self, objects: dict[InstanceKey, Value]) -> Value:
        """The outputs of all instances, as the call's repetition shapes them."""
        if self.undecided is not None:
            return self.undecided
        repetition = self.call.repetition
        if repetition.is_single or repetition.enabled is not None:
            return objects.get(None, null(DYNAMIC))
        if repetition.count is not None:
            return tuple_value(objects.values())
        return object_value({str(key): value for key, value in objects.items()})

    def _opaque(self, objects: dict[InstanceKey, Value]) -> Value:
        """Outputs of which only the names are known, which is all that `validate` goes by."""
        if not objects:
            return DYNAMIC_UNKNOWN
        if len({frozenset(value.mapping()) for value in objects.values()}) > 1:
            # Where the sources have other outputs, an expression is right for each instance or wrong.
            return self._collected(
                {
                    key: object_value(dict.fromkeys(value.mapping(), DYNAMIC_UNKNOWN))
                    for key, value in objects.items()
                }
            )
        names = {name: DYNAMIC for value in objects.values() for name in value.mapping()}
        type_: Type = ObjectType(names)
        if self.call.repetition.count is not None:
            type_ = ListType(type_)
        elif self.call.repetition.for_each is not None:
            type_ = MapType(type_)
        return unknown(type_)


def is_remote(frame: Frame) -> bool:
    """Return whether a module, or one of its callers, was downloaded."""
    from nigari.eval.core.scope import evaluate

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


class TreeCall(ModuleCallNode):
    """A call in a later phase: its instances are those that the static phase found."""

    __slots__ = ()

    def step(self) -> Sequence[Need]:
        children = self.frame.instance.children.get(self.call.name, {})
        self.frames: dict[InstanceKey, Frame] = {
            key: self.frame.run.open(child, self.frame) for key, child in children.items()
        }
        return ()


def _missing_key(name: str, argument: str, keys: Sequence[InstanceKey]) -> Fault:
    key = key_text(keys[0]) if keys else "[0]" if argument == "count" else '["key"]'
    return Fault(
        "Missing instance key",
        f"{name} has {argument}, so it has several instances. Select one of them: {name}{key}.",
    )


def _named_key(name: str, key: str) -> Fault:
    return Fault(
        "Invalid instance key",
        f"{name} has count, so its instance keys are numbers, and {key_text(key)} is not one.",
    )


def _needless_key(name: str) -> Fault:
    return Fault(
        "Unexpected instance key",
        f"{name} has neither count nor for_each, so it has only one instance. Remove the key in "
        "brackets.",
    )


def _not_enabled(call: ModuleCall) -> Fault:
    return Fault(
        "Module not enabled",
        f"module.{call.name} has enabled = false, so it is null and has no output values.",
    )


def _no_instance(node: ModuleCallNode, key: InstanceKey) -> Fault:
    from nigari.hcl.suggestion import listed

    name, keys = f"module.{node.call.name}", [key_text(each) for each in node.frames]
    if keys:
        are = "is" if len(keys) == 1 else "are"
        detail = f"{name} has no instance {key_text(key)}: there {are} {listed(keys)}."
    else:
        detail = f"{name} has no instances, so there is no {name}{key_text(key)}."
    return Fault("No such module instance", detail)


def _no_output(node: ModuleCallNode, frame: Frame, key: InstanceKey, name: str) -> Fault:
    from nigari.hcl.suggestion import did_you_mean, listed

    addr = frame.instance.addr
    if addr.key is DEFERRED:
        # The one instance that stands for all of them has no name that a user knows.
        addr = node.frame.instance.addr.child(node.call.name, key)
    have = did_you_mean(name, frame.outputs)
    if not have:
        names = listed([f'"{each}"' for each in sorted(frame.outputs)])
        have = f" Its output values are {names}." if names else " It has none at all."
    return Fault(
        "Reference to undeclared output value",
        f'{addr} has no output value named "{name}".{have}',
        str(addr) if addr.has_known_key else "",
    )

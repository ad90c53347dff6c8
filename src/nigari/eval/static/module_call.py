"""A module call in the static phase: where its instances come from, and which there are.

A call decides which directory each instance comes from. As long as all have the same source, one
instance with a deferred key stands for all, and the expansion is not evaluated. A reference to an
instance has the call expanded beside that, with frames that have values and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.config.blocks.module_call import ModuleCall
from nigari.config.core.declared import Repetition
from nigari.cty.types import NUMBER, STRING
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, unknown
from nigari.eval.core.causes import CauseKind, UnknownCause, caused_by
from nigari.eval.core.compile import CompiledModule
from nigari.eval.core.instances import Absent, CallNode, Frame, Run
from nigari.eval.core.module_tree import (
    NO_INSTANCE_DATA,
    InstallModule,
    InstanceData,
    ModuleInstance,
)
from nigari.eval.core.static_position import StaticPosition, explain_unknown
from nigari.eval.core.worklist import DONE, Effect, Need
from nigari.eval.nodes.module_call import ModuleCallNode, expand
from nigari.record import replace
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


MOST_TIMES: Final = 100
MOST_RECURSIONS: Final = 2_000
"""Modules that call themselves more often, on one way or in all, are taken for such that never
stop.
"""


def _report_endless(node: StaticCall, too_many: bool) -> None:
    ending = (
        "no call on the way has a count, for_each or enabled, or a source with variables, that could "
        "end it"
    )
    if too_many:
        ending = f"it still does after {MOST_TIMES} levels or {MOST_RECURSIONS:,} calls"
    node.frame.run.diags.error(
        "Module that calls itself without end",
        f"The source of module.{node.call.name} leads back to a module that this call comes "
        f"from, and {ending}. Use one of these to end the calls at some depth.",
        node.call.source.range,
    )


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


class ModuleLookups(Run, Protocol):
    """The run that finds the modules of calls."""

    def look_into(self, instance: ModuleInstance, parent: Frame, like: Frame) -> Frame:
        """A frame for one of the instances that another stands for: values, and nothing else."""
        ...

    endless: list[CompiledModule]
    """Modules that are known to call themselves without end."""
    recursions: int
    """The number of calls that have led back to their own modules."""

    def request_expansion(self, module: ModuleAddr, call: str) -> bool:
        """Have a call expanded; False where it is."""
        ...

    def request(self, cause: UnknownCause) -> bool:
        """Request what would make a value known; False if nothing would."""
        ...

    def must_expand(self, module: ModuleAddr, call: str) -> bool:
        """Return whether a static position needs the individual instances of this call."""
        ...

    def module_source(
        self, frame: Frame, call: ModuleCall, data: InstanceData
    ) -> tuple[str, str | None] | list[Need] | None:
        """The source and the version constraint of a call instance; None where one of them has
        been reported, or what must be done first.
        """
        ...

    def is_answered(self, effect: Effect) -> bool:
        """Return whether an effect has completed."""
        ...

    def installed(self, effect: Effect) -> CompiledModule | None:
        """The module that an effect has brought."""
        ...


class StaticCall(ModuleCallNode):
    """A call in the static phase: it finds out where its instances come from."""

    __slots__ = ("_expanded", "_expansion", "_installs", "_run", "_is_bounded")

    def __init__(self, frame: Frame, call: ModuleCall, run: ModuleLookups) -> None:
        super().__init__(frame, call)
        self._run = run
        self._expanded: InstancedCall | None = None
        self._expansion: dict[InstanceKey, InstanceData] | None = None
        self._installs: dict[InstanceKey, InstallModule] = {}
        """The source of each instance."""
        self._is_bounded = False
        """True if the instances of a recursive call are known."""

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
                self.has_failed: bool = True
            else:
                needs.extend(found)
        if needs:
            return needs
        again = next((each for each in modules.values() if self._times(each)), None)
        if again is not None and not self._is_bounded:
            return self._bound(again) or self.step()
        self._open(modules)
        return ()

    def _times(self, module: CompiledModule) -> int:
        """Count how often a module occurs among the callers."""
        times = 0
        instance: ModuleInstance | None = self.frame.instance
        while instance is not None:
            times += instance.compiled.is_same_as(module)
            instance = instance.parent
        return times

    def _bound(self, module: CompiledModule) -> Sequence[Need]:
        """Find out which instances there are of a call that leads back to its own module: it must
        come to an end.
        """
        run, repetition = self._run, self.call.repetition
        if any(module.is_same_as(each) for each in run.endless):
            return self._end()
        ends = self._ends(module)
        run.recursions += 1
        too_many = run.recursions > MOST_RECURSIONS or self._times(module) > MOST_TIMES
        can_end = bool(ends) or not repetition.is_single or self._may_change_source(module)
        if too_many or not can_end:
            run.endless.append(module)
            _report_endless(self, too_many)
            return self._end()
        self._is_bounded = True
        if repetition.is_single:
            requests = [run.request_expansion(caller, name) for caller, name in ends]
            return self._end() if any(requests) else ()
        return self._expand_now()

    def _ends(self, module: CompiledModule) -> list[tuple[ModuleAddr, str]]:
        """The calls on the way from the module to itself that may have no instances."""
        found: list[tuple[ModuleAddr, str]] = []
        instance: ModuleInstance | None = self.frame.instance
        while instance is not None and not instance.compiled.is_same_as(module):
            call, caller = instance.call, instance.parent
            if call is not None and caller is not None and not call.repetition.is_single:
                found.append((caller.addr, call.name))
            instance = caller
        return found

    def _may_change_source(self, module: CompiledModule) -> bool:
        """Return whether a call on the path from the module to itself may lead elsewhere at some
        depth.
        """
        call: ModuleCall | None = self.call
        caller: ModuleInstance | None = self.frame.instance
        while call is not None and caller is not None:
            if not caller.compiled.is_written_out(call.source):
                return True
            if caller.compiled.is_same_as(module):
                return False
            call, caller = caller.call, caller.parent
        return False

    def _expand_now(self) -> Sequence[Need]:
        repetition = self.call.repetition
        expansion = expand(self.frame, repetition)
        if isinstance(expansion, list):
            self._is_bounded = False
            return expansion
        if expansion.deferred_by is not None:
            arguments = (
                ("count", repetition.count),
                ("for_each", repetition.for_each),
                ("enabled", repetition.enabled),
            )
            for argument, expr in arguments:
                if expr is not None:
                    slot = StaticPosition(
                        f"{argument} of {self.label}", self.frame, expr, self._run.request
                    )
                    explain_unknown(slot, expansion.deferred_by)
            return self._end()
        if expansion.is_wrong:
            return self._end()
        written = repetition.count or repetition.for_each
        found = expansion.instances.items()
        self._expansion = {key: replace(data, expr=written) for key, data in found}
        self._installs.clear()
        return ()

    def _end(self) -> Sequence[Need]:
        self._is_bounded = self.has_failed = True
        self._expansion = {}
        return ()

    @property
    def expanded(self) -> CallNode:
        repetition = self.call.repetition
        if repetition.is_single or (repetition.enabled is None and DEFERRED not in self.frames):
            return self
        if self._expanded is None:
            self._expanded = InstancedCall(self.frame, self.call, self._run, self)
        return self._expanded

    def whole(self) -> Value | list[Need]:
        other = self.expanded
        if other is self:
            return super().whole()
        return other.whole() if other.state == DONE else [other]

    def output(self, key: InstanceKey, name: str) -> Value | list[Need] | Absent:
        other = self.expanded
        if other is self:
            return super().output(key, name)
        return other.output(key, name) if other.state == DONE else [other]

    def _expand(self) -> dict[InstanceKey, InstanceData] | list[Need]:
        frame, call = self.frame, self.call
        repetition = call.repetition
        name = f"module.{call.name}"
        if repetition.is_single:
            return {None: NO_INSTANCE_DATA}
        if not self._run.must_expand(frame.instance.addr, call.name):
            return deferred(frame, name, repetition)
        expansion = expand(frame, repetition)
        if isinstance(expansion, list):
            return expansion
        expr = repetition.count or repetition.for_each
        return {key: replace(data, expr=expr) for key, data in expansion.instances.items()}

    def _module(self, key: InstanceKey, data: InstanceData) -> CompiledModule | list[Need] | None:
        """The module that one instance is made of; None where that has been reported."""
        effect = self._installs.get(key)
        if effect is None:
            frame, call = self.frame, self.call
            wanted = self._run.module_source(frame, call, data)
            if wanted is None or isinstance(wanted, list):
                return wanted
            source, version = wanted
            addr = frame.instance.addr.child(call.name, key)
            effect = self._installs[key] = InstallModule(addr, source, version)
        return self._run.installed(effect) if self._run.is_answered(effect) else [effect]

    def _open(self, modules: dict[InstanceKey, CompiledModule]) -> None:
        assert self._expansion is not None
        parent = self.frame.instance
        children: dict[InstanceKey, ModuleInstance] = {}
        for key, module in modules.items():
            addr = parent.addr.child(self.call.name, key)
            children[key] = ModuleInstance(addr, module, parent, self.call, self._expansion[key])
        parent.children[self.call.name] = children
        self.frames: dict[InstanceKey, Frame] = {
            key: self.frame.run.open(child, self.frame) for key, child in children.items()
        }


class InstancedCall(ModuleCallNode):
    """A call with an instance for each key, made beside a call that one instance stands for."""

    __slots__ = ("_deferred_by", "_run", "_like")

    def __init__(self, frame: Frame, call: ModuleCall, run: ModuleLookups, like: CallNode) -> None:
        super().__init__(frame, call)
        self._run = run
        self._like = like
        """The call that has found the modules."""
        self._deferred_by: Value | None = None

    def step(self) -> Sequence[Need]:
        frame, like = self.frame, self._like
        if like.state != DONE:
            return (like,)
        expansion = expand(frame, self.call.repetition)
        if isinstance(expansion, list):
            return expansion
        self.has_failed: bool = expansion.is_wrong or like.has_failed
        self._deferred_by = expansion.deferred_by
        expr = self.call.repetition.count or self.call.repetition.for_each
        for key, data in expansion.instances.items():
            known = like.frames
            template = known.get(key) or known.get(DEFERRED) or known.get(None)
            if template is not None:
                self.frames[key] = self._open(key, replace(data, expr=expr), template)
        return ()

    def _open(self, key: InstanceKey, data: InstanceData, template: Frame) -> Frame:
        parent = self.frame.instance
        addr = parent.addr.child(self.call.name, key)
        child = ModuleInstance(addr, template.instance.compiled, parent, self.call, data)
        return self._run.look_into(child, self.frame, template)

    @property
    def undecided(self) -> Value | None:
        by = self._deferred_by
        return None if by is None else caused_by(by, DYNAMIC_UNKNOWN)

"""The static phase: everything that can be known before anything runs.

It finds the tree of module instances and where each comes from, and gives values to whatever does
not depend on resources. A resource is unknown here, and so is a variable that nobody has given:
neither is an error unless a place that needs a value now depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.config.module_call import ModuleCall
from nigari.cty.function import Function
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, string
from nigari.diagnostics import Diagnostics
from nigari.eval.causes import CauseKind, Phase, UnknownCause
from nigari.eval.compile import CompiledModule
from nigari.eval.expansion import InstanceData
from nigari.eval.inputs import Inputs
from nigari.eval.instances import Frame, ModuleInstance, ResourceNode
from nigari.eval.local import LocalValue
from nigari.eval.module_call import InstallModule, StaticCall
from nigari.eval.once import Cycle, Effect, Need, Node, WorkList
from nigari.eval.output import OutputNode
from nigari.eval.slots import Slot, fill_text
from nigari.eval.variable import ArgumentVariable, RootVariable


class Modules(Protocol):
    """Who finds and reads the modules that calls ask for."""

    def load(
        self, effect: InstallModule, caller: ModuleInstance, diags: Diagnostics
    ) -> CompiledModule | None:
        """The module; None where it cannot be had, which has then been reported."""
        ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the static phase is told about the world."""

    inputs: Inputs
    functions: Mapping[str, Function]
    modules: Modules
    workspace: str = "default"
    root_path: str = "."
    working_path: str = "."


@dataclass(slots=True)
class Wishes:
    """What would make more values known: calls to be expanded, and variables to be asked for."""

    expansions: set[tuple[ModuleAddr, str]] = field(default_factory=set)
    variables: dict[str, UnknownCause] = field(default_factory=dict)


class StaticResource(ResourceNode):
    """A resource in the static phase: it will be something, once it has been planned."""

    __slots__ = ()

    def step(self) -> Sequence[Need]:
        resource = self.resource
        cause = UnknownCause(
            CauseKind.RESOURCE,
            self.frame.instance.addr,
            str(resource.addr),
            resource.range,
            Phase.APPLY,
        )
        self.value = DYNAMIC_UNKNOWN.with_causes((cause,))
        return ()


class StaticRun:
    """One pass over the whole tree. What it wishes for is granted by starting another."""

    is_opaque = False

    def __init__(
        self,
        root: CompiledModule,
        surroundings: Surroundings,
        expanded: frozenset[tuple[ModuleAddr, str]] = frozenset(),
        can_ask: bool = False,
    ) -> None:
        self.diags = Diagnostics()
        self.functions = surroundings.functions
        self.root_path = surroundings.root_path
        self.working_path = surroundings.working_path
        self.wishes = Wishes()
        self._surroundings = surroundings
        self._expanded = expanded
        self._can_ask = can_ask
        self._answers: dict[Effect, CompiledModule | None] = {}
        self._frames: list[Frame] = []
        self.work = WorkList()
        self.root = self.open(ModuleInstance(ROOT_MODULE, root), None)

    # -- what nodes ask for ---------------------------------------------------------------------

    def terraform(self, name: str) -> Value:
        if name == "workspace":
            return string(self._surroundings.workspace)
        cause = UnknownCause(CauseKind.RUN_TIME, ROOT_MODULE, f"terraform.{name}")
        return DYNAMIC_UNKNOWN.with_causes((cause,))

    def open(self, instance: ModuleInstance, parent: Frame | None) -> Frame:
        frame = Frame(self, instance, parent)
        module = instance.module
        if parent is None or instance.call is None:
            inputs = self._surroundings.inputs
            for name, variable in module.variables.items():
                frame.variables[name] = RootVariable(frame, variable, inputs.get(name))
        else:
            arguments = parent.instance.compiled.arguments(instance.call, self.diags)
            for name, variable in module.variables.items():
                frame.variables[name] = ArgumentVariable(frame, variable, arguments.get(name))
        for name, local in module.locals.items():
            frame.locals[name] = LocalValue(frame, local)
        for name, output in module.outputs.items():
            frame.outputs[name] = OutputNode(frame, output)
        for name, call in module.calls.items():
            frame.calls[name] = StaticCall(frame, call, self)
        for addr, resource in module.resources.items():
            frame.resources[addr] = StaticResource(frame, resource)
        self._frames.append(frame)
        self.work.want(frame.calls.values())
        return frame

    def must_expand(self, module: ModuleAddr, call: str) -> bool:
        return (module.unkeyed, call) in self._expanded

    def module_source(
        self, frame: Frame, call: ModuleCall, data: InstanceData
    ) -> tuple[str, str | None] | list[Need] | None:
        name = f"module.{call.name}"
        source = fill_text(
            Slot(f"source of {frame.label(name)}", frame, call.source, self.wish, data)
        )
        if isinstance(source, list):
            return source
        if call.version is None:
            return None if source is None else (source, None)
        slot = Slot(f"version of {frame.label(name)}", frame, call.version, self.wish, data)
        version = fill_text(slot, takes_null=True)
        if isinstance(version, list):
            return version
        return None if source is None else (source, version)

    def wish(self, cause: UnknownCause) -> bool:
        """Ask for what would make a value known; False where nobody can give it."""
        if cause.kind in (CauseKind.EACH, CauseKind.COUNT):
            call = (cause.module.unkeyed, cause.name.removeprefix("module."))
            if call in self._expanded:
                return False
            self.wishes.expansions.add(call)
            return True
        if cause.kind is CauseKind.MISSING_VARIABLE and self._can_ask:
            self.wishes.variables[cause.name.removeprefix("var.")] = cause
            return True
        return False

    def is_answered(self, effect: Effect) -> bool:
        return effect in self._answers

    def installed(self, effect: Effect) -> CompiledModule | None:
        return self._answers[effect]

    # -- running --------------------------------------------------------------------------------

    def frames(self) -> Iterator[Frame]:
        """Every module instance that has been found, callers first."""
        return iter(self._frames)

    def evaluate(self, nodes: Sequence[Node]) -> None:
        """Work out these nodes and whatever they need."""
        work = self.work
        work.want(nodes)
        while True:
            work.pump()
            if work.new_effects:
                effects, work.new_effects = work.new_effects, []
                for effect in effects:
                    self._answer(effect)
                continue
            cycle = work.find_cycle()
            if cycle is None:
                return
            report_cycle(cycle, self.diags)
            work.break_cycle(cycle)

    def _answer(self, effect: Effect) -> None:
        assert isinstance(effect, InstallModule)
        caller = self._instance(effect.addr.parent or ROOT_MODULE)
        module = self._surroundings.modules.load(effect, caller, self.diags)
        self._answers[effect] = module
        self.work.answer(effect)

    def _instance(self, addr: ModuleAddr) -> ModuleInstance:
        instance = self.root.instance
        for name, key in addr.steps:
            instance = instance.children[name][key]
        return instance


def run_static(
    root: CompiledModule, surroundings: Surroundings, can_ask: bool = False
) -> StaticRun:
    """The static phase, repeated until every expansion that a static place needs is made."""
    expanded: frozenset[tuple[ModuleAddr, str]] = frozenset()
    while True:
        run = StaticRun(root, surroundings, expanded, can_ask)
        run.evaluate(())
        if not run.wishes.expansions:
            return run
        expanded |= run.wishes.expansions


def report_cycle(cycle: Cycle, diags: Diagnostics) -> None:
    """Report nodes that wait for each other."""
    if len(cycle.nodes) == 1:
        diags.error(
            "Reference to itself",
            f"{cycle.nodes[0].label} is made from itself, so it can never be worked out.",
            cycle.range,
        )
        return
    diags.error(
        "Values that need each other",
        f"None of these can be worked out, since each needs the next: {cycle.text}. Break the "
        "circle by giving one of them a value that does not depend on the others.",
        cycle.range,
    )

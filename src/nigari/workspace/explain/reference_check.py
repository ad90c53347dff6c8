"""Mistakes in references that only schemas or the known instances show.

The static phase takes a resource for one unknown value. Here an expression is evaluated once more,
with everything that it comes from, as validation and planning do: resources have the types of their
schemas, and the instances that they are known to have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.provider import Provider
from nigari.addrs.values import ProviderFunction
from nigari.config.blocks.module_call import ModuleCall
from nigari.config.blocks.resource import Resource as ResourceBlock
from nigari.config.blocks.variable import Variable
from nigari.cty.function import Function
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, object_value, tuple_value, unknown
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.eval.core.instances import CallNode, Frame, Origin, ResourceNode, ValueNode
from nigari.eval.core.worklist import Effect, Need
from nigari.eval.nodes.module_call import ModuleCallNode, expand
from nigari.eval.nodes.phase_run import PhaseRun
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.nodes.resource import resource_schema
from nigari.eval.nodes.variable import RootVariable, StaticArgument
from nigari.hcl.body import Attribute
from nigari.lang.references import Reference
from nigari.record import replace
from nigari.schema.provider import ProviderSchema
from nigari.workspace.explain.queries import ValueQueries, ValueQuery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    FindSchema: TypeAlias = Callable[[Provider], ProviderSchema | None]


class _TypedResource(ResourceNode):
    """A resource whose instances are known, each of an unknown value of its schema's type."""

    __slots__ = ()

    def __init__(self, frame: Frame, resource: ResourceBlock, find: FindSchema) -> None:
        super().__init__(frame, resource)
        offered = find(provider_of(frame.module, resource.provider_name))
        schema = resource_schema(offered, resource.addr)
        if schema is not None:
            self.element: Value = unknown(schema.block.implied_type)

    def step(self) -> Sequence[Need]:
        repetition = self.resource.repetition
        expansion = expand(self.frame, repetition)
        if isinstance(expansion, list):
            return expansion
        keys = expansion.instances
        self.value: Value = self.element
        if DEFERRED in keys or expansion.is_wrong or repetition.enabled is not None:
            self.value = DYNAMIC_UNKNOWN
        elif repetition.count is not None:
            self.value = tuple_value([self.element] * len(keys))
        elif repetition.for_each is not None:
            self.value = object_value({str(key): self.element for key in keys})
        return ()


class _KnownCall(ModuleCallNode):
    """A call with the instances that the static phase knows."""

    __slots__ = ("_run", "_static")

    def __init__(self, frame: Frame, call: ModuleCall, static: CallNode, run: _TypedRun) -> None:
        super().__init__(frame, call)
        self._static = static
        self._run = run

    @property
    def undecided(self) -> Value | None:
        return DYNAMIC_UNKNOWN if DEFERRED in self.frames else None

    def step(self) -> Sequence[Need]:
        static = self._run.evaluation.module_instances(self._static)
        self.has_failed: bool = self._static.has_failed
        self.frames: dict[InstanceKey, Frame] = {
            key: self._run.open_like(each, self.frame) for key, each in static.items()
        }
        return ()


class _TypedRun(PhaseRun):
    """The modules once more, with resources that have types and instances."""

    checks_instances = True

    def __init__(self, evaluation: ValueQueries, find: FindSchema) -> None:
        static = evaluation.run
        super().__init__(static.functions, static.root_path, static.working_path)
        self.evaluation = evaluation
        self._find = find
        self._opened: dict[Frame, Frame] = {}
        self.open_like(static.root, None)

    def open_like(self, static: Frame, parent: Frame | None) -> Frame:
        """The frame for a module instance of the static phase."""
        self._like: Frame = static
        frame = self._opened[static] = self.open(static.instance, parent)
        return frame

    def counterpart(self, static: Frame) -> Frame:
        """The frame that stands for one of the static phase here."""
        found = self._opened.get(static)
        if found is None:
            assert static.parent is not None
            found = self.open_like(static, self.counterpart(static.parent))
        return found

    def terraform(self, name: str) -> Value:
        return self.evaluation.run.terraform(name)

    def provider_function(
        self,
        frame: Frame,
        function: ProviderFunction,
        reference: Reference,
        needs: list[Need],
        diags: Diagnostics,
    ) -> Function | None:
        return self.evaluation.run.provider_function(frame, function, reference, needs, diags)

    def input_node(self, frame: Frame, variable: Variable) -> ValueNode:
        return RootVariable(frame, variable, self.evaluation.run.inputs.get(variable.name))

    def argument_node(
        self, frame: Frame, variable: Variable, argument: Attribute | None
    ) -> ValueNode:
        return StaticArgument(frame, variable, argument)

    def call_node(self, frame: Frame, call: ModuleCall) -> CallNode:
        return _KnownCall(frame, call, self._like.calls[call.name], self)

    def resource_node(self, frame: Frame, resource: ResourceBlock) -> ResourceNode:
        return _TypedResource(frame, resource, self._find)

    def opened(self, frame: Frame) -> None:
        """Nothing is wanted but what an expression comes from."""

    def evaluate(self, query: ValueQuery) -> None:
        """Work out an expression and whatever it needs."""

        def answer(effects: Sequence[Effect]) -> None:
            raise AssertionError(f"{effects[0]} in a phase without effects")

        self.work.want([query])
        self.work.run(answer)


def check_references(
    evaluation: ValueQueries, origin: Origin, find: FindSchema, diags: Diagnostics
) -> None:
    """Report what the static phase does not see of an expression and of what it comes from."""
    run = _TypedRun(evaluation, find)
    frame = run.counterpart(origin.frame)
    run.evaluate(ValueQuery("", replace(origin, frame=frame)))
    reported = {_identity(each) for each in evaluation.run.diags}
    for found in run.diags:
        if found.severity is Severity.ERROR and _identity(found) not in reported:
            diags.append(found)


def _identity(found: Diagnostic) -> object:
    return found.summary, found.subject

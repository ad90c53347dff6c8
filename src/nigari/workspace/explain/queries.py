"""Queries about a configuration, evaluated in the static phase.

Every answer is a value together with why it is not known; how that is shown is not decided here.
Where several threads may ask, a lock has one question answered at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from nigari.addrs.keys import InstanceKey
from nigari.addrs.provider import LocalProviderConfig
from nigari.config.blocks.resource import Resource
from nigari.config.core.declared import Repetition
from nigari.cty.types import NUMBER, STRING
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, unknown
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.causes import REPORTED, CauseKind, UnknownCause, causes_within
from nigari.eval.core.expansion import SINGLE_INSTANCE, Expansion
from nigari.eval.core.explain import chain, way_to
from nigari.eval.core.inputs import Inputs
from nigari.eval.core.instances import (
    FAILED,
    CallNode,
    Frame,
    Origin,
    ResourceNode,
    ValueNode,
)
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.scope import evaluate_origin
from nigari.eval.core.value_dependencies import WithoutReference, decisive_references
from nigari.eval.core.worklist import Need, Node
from nigari.eval.nodes.module_call import expand
from nigari.eval.nodes.variable import ArgumentVariable, RootVariable, VariableNode
from nigari.eval.static.run import StaticRun
from nigari.hcl.expressions import Expression
from nigari.lang.references import Reference
from nigari.record import replace


class ValueQueries:
    """The static phase of a configuration, for those who look at it."""

    __slots__ = ("_expansions", "_values", "_without", "configuration", "lock", "run", "sources")

    def __init__(
        self,
        run: StaticRun,
        sources: Mapping[str, bytes],
        lock: AbstractContextManager[object] | None = None,
        configuration: object = None,
    ) -> None:
        self.run: StaticRun = run
        self.sources: Mapping[str, bytes] = sources
        """The files that have been read."""
        self.lock: nullcontext[None] | AbstractContextManager[object, bool | None] = (
            nullcontext() if lock is None else lock
        )
        """Held while anything is worked out, if several threads may ask."""
        self.configuration: object = configuration
        """The loaded configuration; None if the program inspects something else."""
        self._values: dict[tuple[Frame, Expression], Value] = {}
        self._expansions: dict[tuple[Frame, str], Expansion] = {}
        self._without: WithoutReference = {}

    def evaluate(self, nodes: Sequence[Node]) -> None:
        """Work out these nodes and whatever they need."""
        with self.lock:
            self.run.evaluate(nodes)

    def value(self, name: str, origin: Origin, missing: UnknownCause | None = None) -> Value:
        """The value of an expression, which may belong to something `missing`."""
        # What is the same for all instances of a block is asked for by each of them.
        key = (origin.frame, origin.compiled.expr)
        is_shared = origin.data is NO_INSTANCE_DATA and missing is None
        if is_shared and key in self._values:
            return self._values[key]
        question = ValueQuery(name, origin, missing)
        self.evaluate([question])
        if is_shared:
            self._values[key] = question.value
        return question.value

    def decisive(self, origin: Origin, names: Sequence[str]) -> list[Reference]:
        """The references that the value of an expression, or an attribute of it, depends on."""
        return decisive_references(origin, names, self._without)

    def module_instances(self, call: CallNode) -> Mapping[InstanceKey, Frame]:
        """The instances of a call that could be read, as far as it is known which there are."""
        with self.lock:
            return self.run.instances_of(call)

    def expansion(self, frame: Frame, name: str, repetition: Repetition, where: Range) -> Expansion:
        """The instances of a block, as far as it is known which there are."""
        if repetition.is_single:
            return SINGLE_INSTANCE
        found = self._expansions.get((frame, name))
        if found is None:
            node = Instances(frame, name, repetition, where)
            self.evaluate([node])
            found = self._expansions[frame, name] = node.expansion
        return found

    def resource_instances(self, frame: Frame, resource: Resource) -> Expansion:
        """The instances of a resource, as far as it is known which there are."""
        return self.expansion(frame, str(resource.addr), resource.repetition, resource.range)

    def giver(self, node: ValueNode) -> str:
        """Return the source of a variable's value; empty if it is not a variable."""
        if not isinstance(node, VariableNode):
            return ""
        return value_origin(node.frame, node.variable.name, self.run.inputs)

    def given_at(self, node: ValueNode) -> Range | None:
        """Return the range of a variable's value, if it is in a file: the caller's, or one for the
        root module.
        """
        if isinstance(node, RootVariable):
            return None if node.given is None else node.given.range
        if isinstance(node, ArgumentVariable) and node.argument is not None:
            return node.given_at
        return None

    def earlier(self, node: ValueNode) -> Value | None:
        """Return the earlier value, if known. Before anything runs, none is."""
        return None

    def fate(self, node: ResourceNode, key: InstanceKey) -> str:
        """Return the planned action of a resource instance, if known."""
        return ""


class ValueQuery(Node):
    """An expression whose value is requested.

    A failure of an expression of something `missing` is no mistake, since nothing else
    evaluates it: it has no value for that reason.
    """

    __slots__ = ("_missing", "_name", "_origin", "value")

    def __init__(self, name: str, origin: Origin, missing: UnknownCause | None = None) -> None:
        super().__init__()
        self._name = name
        self._origin = origin
        self._missing = missing
        self.value: Value = FAILED

    @property
    def label(self) -> str:
        return self._name

    def fail(self) -> None:
        self.value = FAILED

    def step(self) -> Sequence[Need]:
        result = self._evaluate()
        if not isinstance(result, Value):
            return result
        self.value = result
        return ()

    def _evaluate(self) -> Value | list[Need]:
        if self._missing is None:
            return evaluate_origin(self._origin)
        found = Diagnostics()
        value = evaluate_origin(self._origin, found)
        return DYNAMIC_UNKNOWN.with_causes((self._missing,)) if found.has_errors else value


class Instances(Node):
    """The instances of a block, requested from outside the run."""

    __slots__ = ("_frame", "_name", "_range", "_repetition", "expansion")

    def __init__(self, frame: Frame, name: str, repetition: Repetition, where: Range) -> None:
        super().__init__()
        self._frame = frame
        self._name = name
        self._repetition = repetition
        self._range = where
        self.expansion: Expansion = SINGLE_INSTANCE

    @property
    def label(self) -> str:
        return self._frame.label(f"instances of {self._name}")

    @property
    def range(self) -> Range:
        return self._range

    def fail(self) -> None:
        """Keep the default of an unknown value."""

    def step(self) -> Sequence[Need]:
        expansion = expand(self._frame, self._repetition)
        if isinstance(expansion, list):
            return expansion
        expr = self._repetition.count or self._repetition.for_each
        found = {key: replace(data, expr=expr) for key, data in expansion.instances.items()}
        self.expansion = replace(expansion, instances=found)
        return ()


def compiled_origin(
    frame: Frame, expr: Expression, data: InstanceData = NO_INSTANCE_DATA
) -> Origin:
    """An expression of a module, to be asked about."""
    return Origin(frame, frame.instance.compiled.expression(expr), data)


def missing_instances(
    expansion: Expansion, frame: Frame, name: str, where: Range
) -> UnknownCause | None:
    """Return why a block's arguments may have no values: it has no instance."""
    if expansion.instances:
        return None
    if expansion.is_wrong:
        return REPORTED
    return UnknownCause(CauseKind.NO_INSTANCES, frame.instance.addr, name, where)


def any_instance(
    frame: Frame, repetition: Repetition, missing: UnknownCause | None = None
) -> InstanceData:
    """Return the values of `each` and `count` in a block that represents all its instances, if any."""
    expr = repetition.count or repetition.for_each
    if expr is None:
        return NO_INSTANCE_DATA

    def differing(name: str) -> tuple[UnknownCause]:
        addr = frame.instance.addr
        return (missing or UnknownCause(CauseKind.INSTANCE, addr, name, expr.range),)

    if repetition.count is not None:
        return InstanceData(count_index=unknown(NUMBER).with_causes(differing("count.index")))
    return InstanceData(
        each_key=unknown(STRING).with_causes(differing("each.key")),
        each_value=DYNAMIC_UNKNOWN.with_causes(differing("each.value")),
    )


def reasons(
    name: str, value: Value, origin: Origin | None, label: str = "", most: int | None = None
) -> list[str]:
    """Return the reasons why a value, or a part of it, is unknown: one chain for each cause, up to
    a limit. `label` is its name in diagnostics, if that differs.
    """
    found: list[str] = []
    for cause in causes_within(value)[:most]:
        way = [] if origin is None else way_to(cause, origin)
        if way and way[0].name == label:
            del way[0]
        found.append(chain(name, cause, way)[0])
    return found


def value_origin(frame: Frame, name: str, inputs: Inputs) -> str:
    """Return the source of a variable's value: `argument`, `default`, `none`, or its location."""
    caller, call = frame.parent, frame.instance.call
    if caller is not None and call is not None:
        if name in caller.instance.compiled.arguments(call, Diagnostics()):
            return "argument"
    given = inputs.get(name) if caller is None else None
    if given is not None:
        return given.origin
    return "none" if frame.module.variables[name].default is None else "default"


def provider_behind(
    frame: Frame, addr: LocalProviderConfig
) -> tuple[Frame, LocalProviderConfig] | None:
    """The block that a name of a provider configuration stands for, and the module that has it:
    the module's own, or what its caller passes under that name.
    """
    while addr not in frame.module.provider_configs:
        call, parent = frame.instance.call, frame.parent
        passed = () if call is None else call.providers
        found = next((each.in_parent for each in passed if each.in_child.config == addr), None)
        if found is None or parent is None:
            return None
        frame, addr = parent, found.config
    return frame, addr

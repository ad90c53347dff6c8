"""The least number of rounds that an address takes from an empty state, by references and schemas.

Nothing is planned. An attribute that only its provider sets is unknown before its object exists, so
whatever needs that value to be planned certainly waits another round. Where values may be known
earlier (an attribute that may be planned, one of several references that may be enough), no round is
counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from nigari.addrs.keys import DEFERRED
from nigari.addrs.module import ModuleAddr, ModuleCall, ModuleCallInstance, ModuleCallOutput
from nigari.addrs.provider import LocalProviderConfig, Provider
from nigari.addrs.resource import DATA, MANAGED
from nigari.addrs.values import CountAttr, EachAttr
from nigari.config.core.declared import Dependencies, Repetition
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import CallNode, Frame, ResourceNode, ValueNode
from nigari.eval.core.scope import nodes_of
from nigari.eval.core.value_dependencies import independent_parts
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.nodes.resource import resource_schema
from nigari.hcl.expressions import Expression
from nigari.hcl.traversal import TraverseAttr
from nigari.lang.references import Reference, parse_reference
from nigari.lazy import lazy_pattern
from nigari.plan.order.block_graph import expansion_block
from nigari.plan.order.block_references import Block
from nigari.plan.order.earliest_rounds import EarliestRounds
from nigari.record import record
from nigari.schema.provider import ProviderSchema
from nigari.workspace.explain.queries import ValueQueries, compiled_origin, provider_behind
from nigari.workspace.explain.uses import WrittenGraph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


SchemaOf: TypeAlias = Callable[[Provider], ProviderSchema | None]
"""Looks up a provider's schema; None if it is unavailable."""
_KEY = lazy_pattern(r'\[(?:[0-9]+|\*|"(?:[^"\\]|\\.)*")\]')


@record
class _Done:
    """The round in which a resource is planned and not left for later."""

    node: ResourceNode


@record
class _Open:
    """The round in which the instances of a module are known."""

    frame: Frame


@record
class _Value:
    """The round in which an expression waits for nothing deferred, or, with `is_known`, in which
    its value is known when planning.
    """

    frame: Frame
    expr: Expression
    is_known: bool


@record
class _All:
    """The round in which several things are there."""

    items: tuple[_Done | _Open | _Value, ...]


_Item: TypeAlias = _Done | _Open | _Value | _All
_Alternatives: TypeAlias = list[tuple[_Item, int]]
"""Any of which may be enough: an item, and how many rounds later what is asked for is there."""


def least_rounds(evaluation: ValueQueries, address: str, schema_of: SchemaOf) -> int:
    """The earliest round after which an address, or the block it is a part of, is done."""
    block = _block_of(WrittenGraph(evaluation.run), address)
    if block is None:
        return 1
    least = _LeastRounds(evaluation, schema_of)
    return least.of_call(block[0]) if block == expansion_block(block[0]) else least.of(*block)


def _block_of(graph: WrittenGraph, address: str) -> Block | None:
    """The block that an address names, or a part of which it names."""
    words = _KEY.sub("", address).split(".")
    for length in range(len(words), 0, -1):
        found = graph.named(".".join(words[:length]))
        if found:
            return found[0]
    return None


class _LeastRounds:
    """The earliest rounds in which parts of a configuration can be done."""

    def __init__(self, evaluation: ValueQueries, schema_of: SchemaOf) -> None:
        self._evaluation = evaluation
        self._schema_of = schema_of
        self._rounds = EarliestRounds(self._waits_of)

    def of(self, module: ModuleAddr, name: str) -> int:
        """The round that does a block of a variant at the earliest, whichever instance that is in."""
        found = [
            self._rounds.of(item)
            for frame in self._frames(module)
            if (item := self._item(frame, name)) is not None
        ]
        return min(found, default=1)

    def of_call(self, module: ModuleAddr) -> int:
        """The round in which the instances of a variant are known at the earliest."""
        return min((self._rounds.of(_Open(frame)) for frame in self._frames(module)), default=1)

    def _frames(self, module: ModuleAddr) -> list[Frame]:
        frames = [self._evaluation.run.root]
        for name, _ in module.steps:
            calls = [frame.calls[name] for frame in frames if name in frame.calls]
            instances = map(self._evaluation.module_instances, calls)
            frames = [each for found in instances for each in found.values()]
        return [each for each in frames if each.instance.variant == module]

    def _item(self, frame: Frame, name: str) -> _Item | None:
        for address, resource in frame.resources.items():
            if str(address) == name:
                return _Done(resource)
        kind, _, rest = name.partition(".")
        nodes: dict[str, Mapping[str, ValueNode]] = {
            "local": frame.locals,
            "output": frame.outputs,
            "var": frame.variables,
        }
        node = nodes.get(kind, {}).get(rest)
        origin = None if node is None else node.origin()
        return None if origin is None else _Value(origin.frame, origin.compiled.expr, False)

    def _waits_of(self, item: _Item) -> Iterable[_Alternatives]:
        if isinstance(item, _Done):
            return self._of_resource(item.node)
        if isinstance(item, _Open):
            return self._of_module(item.frame)
        if isinstance(item, _Value):
            return self._of_value(item)
        return ([(each, 0)] for each in item.items)

    # -- what each kind of item waits for -------------------------------------------------------

    def _of_module(self, frame: Frame) -> Iterator[_Alternatives]:
        parent, call = frame.parent, frame.instance.call
        if parent is None or call is None:
            return
        yield [(_Open(parent), 0)]
        expansion = self._evaluation.expansion(
            parent, f"module.{call.name}", call.repetition, call.range
        )
        if DEFERRED in expansion.instances:
            yield from self._deciding(parent, call.repetition)

    def _of_resource(self, node: ResourceNode) -> Iterator[_Alternatives]:
        frame, resource = node.frame, node.resource
        yield [(_Open(frame), 0)]
        if DEFERRED in self._evaluation.resource_instances(frame, resource).instances:
            yield from self._deciding(frame, resource.repetition)
        for each in _named(frame, resource.depends_on):
            yield [(_Done(each), 0)]
        for expr in _arguments(node):
            yield [(_Value(frame, expr, False), 0)]
        yield from self._of_provider(node)

    def _deciding(self, frame: Frame, repetition: Repetition) -> Iterator[_Alternatives]:
        for expr in (repetition.count, repetition.for_each, repetition.enabled):
            if expr is not None:
                yield [(_Value(frame, expr, True), 0)]

    def _of_provider(self, node: ResourceNode) -> Iterator[_Alternatives]:
        """A provider waits for what it must have, and for whatever of its arguments is deferred."""
        resource = node.resource
        local = LocalProviderConfig(resource.provider_name, resource.provider_alias)
        found = provider_behind(node.frame, local)
        if found is None:
            return
        frame, config = found[0], found[0].module.provider_configs[found[1]]
        for expr in (config.for_each, config.count):
            if expr is not None:
                yield [(_Value(frame, expr, True), 0)]
        schema = self._schema_of(provider_of(frame.module, found[1].name))
        taken = {} if schema is None else schema.provider.block.attributes
        for name, argument in config.body.just_attributes(Diagnostics()).items():
            is_required = name in taken and taken[name].required
            yield [(_Value(frame, argument.expr, is_required), 0)]

    def _of_value(self, item: _Value) -> Iterator[_Alternatives]:
        origin = compiled_origin(item.frame, item.expr)
        references = origin.compiled.references
        # What differs between instances may be known for some of them.
        if not references or any(isinstance(e.subject, EachAttr | CountAttr) for e in references):
            return
        if self._evaluation.value("an expression", origin).is_wholly_known:
            return
        for part in independent_parts(item.expr):
            among: _Alternatives = []
            for reference in self._evaluation.decisive(compiled_origin(item.frame, part), ()):
                among += self._of_reference(item, reference)
            yield among

    def _of_reference(self, item: _Value, reference: Reference) -> _Alternatives:
        call = _call_of(item.frame, reference)
        if call is not None:
            frames = self._evaluation.module_instances(call).values()
            if not call.call.repetition.is_single:
                # There may turn out to be no instance at all.
                return [(_Open(each), 0) for each in frames] or [(_Open(item.frame), 0)]
        found: _Alternatives = []
        for node in nodes_of(item.frame, reference):
            if isinstance(node, ResourceNode):
                found.append(self._of_attribute(item, node, reference))
            elif (origin := node.origin()) is not None:
                found.append((_Value(origin.frame, origin.compiled.expr, item.is_known), 0))
        # Anything else may be known at any time.
        return found or [(_Open(item.frame), 0)]

    def _of_attribute(
        self, item: _Value, node: ResourceNode, reference: Reference
    ) -> tuple[_Item, int]:
        """When an attribute of a resource is there, or, where that is asked for, is known."""
        resource, done = node.resource, _Done(node)
        if not item.is_known:
            return done, 0
        if resource.addr.mode is DATA:
            return self._of_reading(node)
        steps = reference.remaining.steps
        first = steps[0].name if steps and isinstance(steps[0], TraverseAttr) else ""
        if self._is_computed(node, first):
            return done, 1
        written = resource.body.just_attributes(Diagnostics()).get(first)
        if written is None or not resource.repetition.is_single:
            return done, 0
        return _All((done, _Value(node.frame, written.expr, True))), 0

    def _of_reading(self, node: ResourceNode) -> tuple[_Item, int]:
        """A data source is read when it is planned, unless what it depends on is yet to be made."""
        for each in _named(node.frame, node.resource.depends_on):
            if each.resource.addr.mode is MANAGED and each.resource.repetition.is_single:
                return _Done(each), 1
        arguments = [_Value(node.frame, expr, True) for expr in _arguments(node)]
        return _All((_Done(node), *arguments)), 0

    def _is_computed(self, node: ResourceNode, name: str) -> bool:
        """Return whether an attribute is computed, of an object that will be created."""
        resource = node.resource
        if resource.addr.mode is not MANAGED or resource.repetition.enabled is not None:
            return False
        offered = self._schema_of(provider_of(node.frame.module, resource.provider_name))
        schema = resource_schema(offered, resource.addr)
        attribute = None if schema is None else schema.block.attributes.get(name)
        return attribute is not None and attribute.computed and not attribute.optional


def _call_of(frame: Frame, reference: Reference) -> CallNode | None:
    """The module call that a reference is about, if it is about one."""
    subject = reference.subject
    if isinstance(subject, ModuleCallOutput | ModuleCallInstance):
        subject = subject.call
    return frame.calls.get(subject.name) if isinstance(subject, ModuleCall) else None


def _arguments(node: ResourceNode) -> list[Expression]:
    body = node.resource.body
    return [each.expr for each in body.just_attributes(Diagnostics()).values()]


def _named(frame: Frame, depends_on: Dependencies) -> Iterator[ResourceNode]:
    """The resources that are named as such in a `depends_on`."""
    for traversal in depends_on:
        reference = parse_reference(traversal, Diagnostics())
        for node in () if reference is None else nodes_of(frame, reference):
            if isinstance(node, ResourceNode):
                yield node

"""Blocks as Python programs see them: resources, providers, the backend, and what is in them.

No provider is needed: a block is known by what is written in it. A `dynamic` block is shown as it
is written, too.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.absolute import Abs
from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.backends.harmless import marked
from nigari.config.blocks.backend import BackendBlock
from nigari.config.blocks.resource import Resource
from nigari.config.core.declared import Repetition
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.causes import CauseKind, UnknownCause
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.nodes.provider_config import provider_of
from nigari.hcl.body import Block, Body
from nigari.hcl.expressions import Expression
from nigari.hcl.native_body import NativeBody
from nigari.hcl.quoting import quoted
from nigari.lang.marks import SENSITIVE
from nigari.record import record
from nigari.workspace.explain.queries import (
    ValueQueries,
    any_instance,
    compiled_origin,
    missing_instances,
)
from nigari.workspace.views.parts import InnerPart, RepeatedPart, Step
from nigari.workspace.views.static_value import StaticValue, as_sensitive, known_expression, text_of


class BlockView:
    """A nested block, with its arguments and the blocks in it."""

    __slots__ = ("arguments", "blocks", "labels", "range", "type")

    def __init__(
        self,
        type: str,
        labels: tuple[str, ...],
        range: Range,
        arguments: Mapping[str, StaticValue],
        blocks: tuple[BlockView, ...],
    ) -> None:
        self.type: str = type
        self.labels: tuple[str, ...] = labels
        self.range: Range = range
        self.arguments: Mapping[str, StaticValue] = arguments
        self.blocks: tuple[BlockView, ...] = blocks

    def _key(self) -> tuple[object, ...]:
        return self.type, self.labels, self.range, self.arguments, self.blocks

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, BlockView) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.type, self.labels, self.range))

    def __repr__(self) -> str:
        return f"<{' '.join((self.type, *map(quoted, self.labels)))}>"


@record
class Reader:
    """Evaluates what is written in one block of a module instance."""

    evaluation: ValueQueries
    frame: Frame
    data: InstanceData = NO_INSTANCE_DATA
    """The values of `each` and `count` in the block."""
    missing: UnknownCause | None = None
    """The reason why there may be no values: no instances."""

    def known(
        self, name: str, expr: Expression, missing: UnknownCause | None = None
    ) -> StaticValue:
        """The value of an expression."""
        origin = compiled_origin(self.frame, expr, self.data)
        return known_expression(self.evaluation, name, origin, missing or self.missing)

    def arguments(
        self, body: Body, name: str, iterators: frozenset[str] = frozenset()
    ) -> Mapping[str, StaticValue]:
        """The arguments that are written in a body; in `dynamic` blocks they may use iterators."""
        written = body.just_attributes(Diagnostics())
        return {
            key: self.known(f"{name}.{key}", each.expr, self._iterated(each.expr, iterators))
            for key, each in written.items()
        }

    def _iterated(self, expr: Expression, iterators: frozenset[str]) -> UnknownCause | None:
        for traversal in expr.variables() if iterators else ():
            if traversal.root_name in iterators:
                addr = self.frame.instance.addr
                return UnknownCause(CauseKind.INSTANCE, addr, str(traversal), traversal.range)
        return None

    def blocks(
        self, body: Body, name: str, iterators: frozenset[str] = frozenset()
    ) -> tuple[BlockView, ...]:
        """The nested blocks that are written in a body; in JSON they look like arguments."""
        if not isinstance(body, NativeBody):
            return ()
        return tuple(
            self._block(block, f"{name}.{block.type}", iterators)
            for block in body.blocks
            if block.type not in body.hidden_blocks
        )

    def _block(self, block: Block, name: str, iterators: frozenset[str]) -> BlockView:
        is_dynamic = block.type == "dynamic" and bool(block.labels)
        if is_dynamic:
            iterators |= {_iterator(block.body, block.labels[0])}
        arguments = dict(self.arguments(block.body, name, iterators))
        if is_dynamic:
            # A name, which has no value.
            arguments.pop("iterator", None)
        blocks = self.blocks(block.body, name, iterators)
        return BlockView(block.type, tuple(block.labels), block.def_range, arguments, blocks)


def _iterator(body: Body, type_: str) -> str:
    """Return the iterator's name in a `dynamic` block."""
    written = body.just_attributes(Diagnostics()).get("iterator")
    return type_ if written is None else text_of(written.expr)


def repeated_reader(
    evaluation: ValueQueries,
    frame: Frame,
    name: str,
    repetition: Repetition,
    where: Range,
    data: InstanceData | None,
) -> Reader:
    """Reads a block for one instance, or for all of them where `data` is None."""
    if data is not None:
        return Reader(evaluation, frame, data)
    expansion = evaluation.expansion(frame, name, repetition, where)
    missing = missing_instances(expansion, frame, name, where)
    data = expansion.instances.get(DEFERRED) or any_instance(frame, repetition, missing)
    return Reader(evaluation, frame, data, missing)


def repetition_of(reader: Reader, name: str, repetition: Repetition) -> StaticValue | None:
    """The value of `count`, `for_each` or `enabled`; None where a block has none of them."""
    found = (
        ("count", repetition.count),
        ("for_each", repetition.for_each),
        ("enabled", repetition.enabled),
    )
    for argument, expr in found:
        if expr is not None:
            return Reader(reader.evaluation, reader.frame).known(f"{name}.{argument}", expr)
    return None


class ResourceView(RepeatedPart[Resource]):
    """A resource of one module instance: the block, which represents all instances, or one of them."""

    __slots__ = ()

    def _identity(self) -> object:
        return self._frame, self._declaration.addr, self.key, self._data is None

    def _among(self) -> Step:
        return "resources", str(self._declaration.addr)

    def __repr__(self) -> str:
        return f"<{self.mode} {self.address}>"

    @property
    def address(self) -> str:
        """The address of the block, or of the instance, in the tree."""
        addr = self._declaration.addr.instance(self.key)
        return str(Abs(self._frame.instance.addr, addr))

    @property
    def mode(self) -> str:
        """`resource`, `data` or `ephemeral`."""
        return self._declaration.addr.mode.value

    @property
    def type(self) -> str:
        """The resource type."""
        return self._declaration.addr.type

    @property
    def name(self) -> str:
        """The name after the type."""
        return self._declaration.addr.name

    @property
    def provider(self) -> str:
        """Full address of the resource type's provider."""
        return str(provider_of(self._frame.module, self._declaration.provider_name))

    @property
    def range(self) -> Range:
        """Range of the block's header."""
        return self._declaration.range

    @property
    def repetition(self) -> StaticValue | None:
        """The value of `count`, `for_each` or `enabled`; None where the block is not repeated."""
        return repetition_of(self._reader(), self.address, self._declaration.repetition)

    @property
    def instances(self) -> Mapping[InstanceKey, ResourceView]:
        """The block's instances by key; if the keys are unknown, one with a deferred key represents all."""
        found = self._evaluation.resource_instances(self._frame, self._declaration).instances
        return {
            key: ResourceView(self._evaluation, self._frame, self._declaration, key, data)
            for key, data in found.items()
        }

    @property
    def arguments(self) -> Mapping[str, StaticValue]:
        """The arguments that are written in the block, with their values."""
        return self._reader().arguments(self._declaration.body, self.address)

    @property
    def blocks(self) -> tuple[BlockView, ...]:
        """The nested blocks that are written in the block; in JSON they look like arguments."""
        return self._reader().blocks(self._declaration.body, self.address)

    def _reader(self) -> Reader:
        declared = self._declaration
        return repeated_reader(
            self._evaluation,
            self._frame,
            str(declared.addr),
            declared.repetition,
            declared.range,
            self._data,
        )


class BackendView(InnerPart):
    """The state's location: a `backend` or `cloud` block."""

    __slots__ = ("_backend", "_reader")

    def __init__(self, evaluation: ValueQueries, backend: BackendBlock) -> None:
        self._reader = Reader(evaluation, evaluation.run.root)
        self._backend = backend

    def _identity(self) -> object:
        return self._reader.frame

    def _way(self) -> tuple[ValueQueries, tuple[Step, ...]]:
        return self._reader.evaluation, (("backend",),)

    def __repr__(self) -> str:
        return f"<backend {self.type}>"

    @property
    def type(self) -> str:
        """The kind of backend; `cloud` for a `cloud` block."""
        return self._backend.type

    @property
    def range(self) -> Range:
        """Range of the block's header."""
        return self._backend.range

    @property
    def arguments(self) -> Mapping[str, StaticValue]:
        """The arguments that are written in the block, with their values; those that are not known
        to be harmless are sensitive.
        """
        written = self._reader.arguments(self._backend.body, "backend")
        return {name: self._shown(name, each) for name, each in written.items()}

    @property
    def blocks(self) -> tuple[BlockView, ...]:
        """The nested blocks."""
        return tuple(map(self._shown_block, self._reader.blocks(self._backend.body, "backend")))

    def _shown(self, name: str, known: StaticValue) -> StaticValue:
        is_secret = SENSITIVE in marked(self.type, name, known.value).marks
        return as_sensitive(known) if is_secret else known

    def _shown_block(self, block: BlockView, name: str = "") -> BlockView:
        """A block; what it is called on the outermost level decides about all of it."""
        name = name or block.type
        return BlockView(
            block.type,
            block.labels,
            block.range,
            {key: self._shown(name, each) for key, each in block.arguments.items()},
            tuple(self._shown_block(each, name) for each in block.blocks),
        )

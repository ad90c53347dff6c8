"""Relevant attributes: those that have a part in what a plan is going to change.

What changed outside is worth telling where a planned change may come from it. Nothing is
evaluated: it is a matter of references, followed through local values, variables and outputs, and
through the arguments of the resources that they lead to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr, ModuleCall, ModuleCallInstance, ModuleCallOutput
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.addrs.resource import ResourceInstance
from nigari.addrs.values import CountAttr, EachAttr, InputVariable, LocalValue
from nigari.config.blocks.resource import Resource
from nigari.diagnostics import Diagnostics
from nigari.eval.core.module_tree import ModuleInstance
from nigari.hcl.decode import Spec
from nigari.hcl.expressions import Expression
from nigari.hcl.traversal import Traversal, TraverseAttr, TraverseIndex
from nigari.lang.references import Reference
from nigari.plan.model.changes import Action, Plan
from nigari.record import record
from nigari.running.declared_modules import template
from nigari.schema.block import Block
from nigari.schema.decode import decoder_spec

BlockOf = Callable[[ModuleInstance, Resource], Block | None]


@record
class RelevantAttribute:
    """A part of a resource; without steps, all of it."""

    address: str
    """As it is written: with its key only where that is written out."""
    steps: tuple[str | int, ...] = ()


@record
class _Where:
    """A module as it is written, and the address of the instance that is meant."""

    module: ModuleInstance
    addr: ModuleAddr

    def child(self, name: str, key: InstanceKey) -> _Where | None:
        """An instance of a call."""
        module = template(self.module, name, key)
        return None if module is None else _Where(module, self.addr.child(name, key))

    @property
    def caller(self) -> _Where | None:
        parent, above = self.module.parent, self.addr.parent
        return None if parent is None or above is None else _Where(parent, above)


@record
class _Place:
    """A reference, where it is, and the resource that it is written in."""

    where: _Where
    reference: Reference
    resource: Resource | None = None


def relevant_attributes(
    plan: Plan, root: ModuleInstance, block_of: BlockOf
) -> tuple[RelevantAttribute, ...]:
    """All that has a part in the changes of a plan, by address."""
    search = _Search(root, block_of)
    for change in plan.changes:
        if change.action is not Action.NO_OP:
            search.start_at(change.address)
    for address in plan.forgotten_data():
        search.start_at(address)
    for module, names in plan.modules.items():
        search.start_in(module, names)
    for name, output in plan.outputs.items():
        declared = root.module.outputs.get(name)
        if output.action is not Action.NO_OP and declared is not None:
            search.follow(_in_expression(_Where(root, root.addr), declared.expr))
    search.run()
    return tuple(sorted(search.found, key=lambda each: (each.address, str(each.steps))))


class _Search:
    """The work of following references, each once."""

    def __init__(self, root: ModuleInstance, block_of: BlockOf) -> None:
        self._root = _Where(root, root.addr)
        self._block_of = block_of
        self._pending: list[_Place] = []
        self._seen: set[tuple[ModuleAddr, str]] = set()
        self._started: set[tuple[ModuleAddr, ResourceAddr]] = set()
        self.found: dict[RelevantAttribute, None] = {}

    def start_at(self, address: AbsResourceInstance) -> None:
        """Look at everything that the arguments of a resource refer to."""
        key = (address.module, address.item.resource)
        if key in self._started:
            return
        self._started.add(key)
        where = self._at(address.module)
        if where is None:
            return
        resource = where.module.module.resources.get(address.item.resource)
        if resource is not None:
            self.follow(self._in_body(where, resource))

    def start_in(self, module: ModuleAddr, names: Iterable[str]) -> None:
        """Look at outputs of a called module: no state has them, so those with a value change."""
        where = self._at(module)
        if where is not None:
            self.follow(_in_outputs(where, names))

    def _at(self, module: ModuleAddr) -> _Where | None:
        where: _Where | None = self._root
        for name, key in module.steps:
            where = None if where is None else where.child(name, key)
        return where

    def follow(self, places: Iterable[_Place]) -> None:
        """Record references to resources, and queue everything else."""
        for place in places:
            key = (place.where.addr, str(place.reference))
            if key in self._seen:
                continue
            self._seen.add(key)
            self._pending.append(place)
            subject = place.reference.subject
            if isinstance(subject, ResourceAddr | ResourceInstance):
                prefix = str(place.where.addr)
                text = f"{prefix}.{subject}" if prefix else str(subject)
                steps = tuple(_steps(place.reference.remaining))
                self.found[RelevantAttribute(text, steps)] = None

    def run(self) -> None:
        """Look at everything that was found on the way."""
        while self._pending:
            self.follow(self._behind(self._pending.pop()))

    # -- what is behind a name ----------------------------------------------------------------

    def _behind(self, place: _Place) -> Iterator[_Place]:
        subject, where = place.reference.subject, place.where
        module = where.module.module
        if isinstance(subject, ResourceInstance):
            subject = subject.resource
        if isinstance(subject, ResourceAddr):
            resource = module.resources.get(subject)
            if resource is not None:
                yield from self._in_part(where, resource, place.reference.remaining)
        elif isinstance(subject, LocalValue) and subject.name in module.locals:
            yield from _in_expression(where, module.locals[subject.name].expr)
        elif isinstance(subject, InputVariable):
            yield from _in_argument(where, subject.name)
        elif isinstance(subject, ModuleCallOutput):
            child = where.child(subject.call.name, subject.instance.key)
            yield from _in_outputs(child, (subject.name,))
        elif isinstance(subject, ModuleCall | ModuleCallInstance):
            if isinstance(subject, ModuleCall):
                subject = ModuleCallInstance(subject, None)
            child = where.child(subject.call.name, subject.key)
            yield from _in_outputs(child, () if child is None else child.module.module.outputs)
        elif isinstance(subject, CountAttr | EachAttr) and place.resource is not None:
            repetition = place.resource.repetition
            for expr in (repetition.count, repetition.for_each):
                if expr is not None:
                    yield from _in_expression(where, expr)

    def _in_part(self, where: _Where, resource: Resource, remaining: Traversal) -> Iterator[_Place]:
        """The references of the argument that a reference leads to; of a block, all of them."""
        block = self._block_of(where.module, resource)
        name = next(iter(_steps(remaining)), None)
        if block is None or name is None or name in block.blocks:
            yield from self._in_body(where, resource)
        elif name in block.attributes:
            yield from _in_pieces(where, resource, decoder_spec(block).pieces[str(name)])

    def _in_body(self, where: _Where, resource: Resource) -> Iterator[_Place]:
        block = self._block_of(where.module, resource)
        if block is not None:
            yield from _in_pieces(where, resource, decoder_spec(block))


def _in_pieces(where: _Where, resource: Resource, spec: Spec) -> Iterator[_Place]:
    """The references of the part of a body that a specification reads."""
    for reference in where.module.compiled.body(resource.body, spec).references:
        yield _Place(where, reference, resource)


def _in_expression(where: _Where, expr: Expression) -> Iterator[_Place]:
    """The references of an expression."""
    for reference in where.module.compiled.expression(expr).references:
        yield _Place(where, reference)


def _in_argument(where: _Where, name: str) -> Iterator[_Place]:
    call, caller = where.module.call, where.caller
    if call is None or caller is None:
        return
    arguments = caller.module.compiled.arguments(call, Diagnostics())
    if name in arguments:
        yield from _in_expression(caller, arguments[name].expr)


def _in_outputs(child: _Where | None, names: Iterable[str]) -> Iterator[_Place]:
    for name in names:
        if child is not None and name in child.module.module.outputs:
            yield from _in_expression(child, child.module.module.outputs[name].expr)


def _steps(remaining: Traversal) -> Iterator[str | int]:
    """The steps to a part, as far as they are written out."""
    for step in remaining.steps:
        if isinstance(step, TraverseAttr):
            yield step.name
        elif isinstance(step, TraverseIndex):
            data = step.key.unmark_deep()[0].data
            if not isinstance(data, str | int):
                return
            yield data
        else:
            return

"""The expressions of one module's files with their blocks, and all references.

Read off the trees of the files, once for each directory, so that nothing escapes that a decoder
leaves out: overrides, settings, nested blocks of resources. Nothing is evaluated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from nigari.addrs.module import ModuleCallInstance, ModuleCallOutput
from nigari.addrs.resource import ResourceInstance
from nigari.config.module import Module
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Attribute, Block, Body
from nigari.hcl.collections import For
from nigari.hcl.expressions import Expression
from nigari.hcl.native_body import NativeBody
from nigari.hcl.splats import Splat
from nigari.hcl.static import expr_as_keyword
from nigari.lang.references import Reference, references_in_expression
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

SPLAT_ITEM: Final = "*"
"""The splat's element among bound names."""


@record
class WrittenExpression:
    """The expression of an argument, and where it is."""

    expr: Expression
    attribute: Attribute
    blocks: tuple[Block, ...]
    """The blocks around it, the outermost first; none in JSON files."""
    bound: frozenset[str] = frozenset()
    """Names of the iterators of the `dynamic` blocks around it."""

    @property
    def block(self) -> Block | None:
        """The outermost block."""
        return self.blocks[0] if self.blocks else None

    def is_in(self, *types: str) -> bool:
        """Return whether the outermost block has one of these types."""
        return bool(self.blocks) and self.blocks[0].type in types


class WrittenModule:
    """The files of a module as trees."""

    def __init__(self, module: Module, trees: Mapping[str, Body]) -> None:
        self.module = module
        self.files: dict[str, Body] = {each: trees[each] for each in module.files if each in trees}

    @property
    def native_files(self) -> Iterator[NativeBody]:
        """The files in the native syntax."""
        for body in self.files.values():
            if isinstance(body, NativeBody):
                yield body

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The outermost blocks of files in the native syntax."""
        return tuple(block for body in self.native_files for block in body.blocks)

    @cached_property
    def expressions(self) -> tuple[WrittenExpression, ...]:
        """Every argument, at any depth."""
        return tuple(
            each for body in self.files.values() for each in _expressions(body, (), frozenset())
        )

    @cached_property
    def references(self) -> tuple[tuple[Reference, WrittenExpression], ...]:
        """Every reference; what looks like one but cannot be is left out."""
        ignored = Diagnostics()
        return tuple(
            (reference, written)
            for written in self.expressions
            for reference in references_in_expression(written.expr, ignored)
            if str(reference).partition(".")[0] not in written.bound
        )

    @cached_property
    def used(self) -> Mapping[str, tuple[WrittenExpression, ...]]:
        """Return the references to each subject, by its address without keys."""
        found: dict[str, list[WrittenExpression]] = {}
        for reference, written in self.references:
            found.setdefault(subject_name(reference), []).append(written)
        return {name: tuple(each) for name, each in found.items()}


def subject_name(reference: Reference) -> str:
    """The address of a reference's subject, without instance keys."""
    subject = reference.subject
    if isinstance(subject, ResourceInstance):
        return str(subject.resource)
    if isinstance(subject, ModuleCallOutput):
        return f"{subject.call}.{subject.name}"
    if isinstance(subject, ModuleCallInstance):
        return str(subject.call)
    return str(subject)


def expressions_within(expr: Expression) -> Iterator[tuple[Expression, frozenset[str]]]:
    """An expression with all its parts, each with the names that `for` binds around it."""
    pending: list[tuple[Expression, frozenset[str]]] = [(expr, frozenset())]
    while pending:
        current, bound = pending.pop()
        yield current, bound
        if isinstance(current, For):
            names = {current.key_name, current.value_name}
            pending.append((current.collection, bound))
            inner = bound | names
            pending += [
                (each, inner) for each in current.children() if each is not current.collection
            ]
        elif isinstance(current, Splat):
            pending.append((current.operand, bound))
            pending.append((current.each, bound | {SPLAT_ITEM}))
        else:
            pending += [(each, bound) for each in current.children()]


def _expressions(
    body: Body, around: tuple[Block, ...], bound: frozenset[str]
) -> Iterator[WrittenExpression]:
    is_native = isinstance(body, NativeBody)
    attributes = body.written_attributes() if is_native else body.just_attributes(Diagnostics())
    for attribute in attributes.values():
        yield WrittenExpression(attribute.expr, attribute, around, bound)
    for block in _blocks(body):
        inner = bound
        if block.type == "dynamic" and block.labels:
            inner = bound | {_iterator(block)}
        yield from _expressions(block.body, (*around, block), inner)


def _blocks(body: Body) -> Iterable[Block]:
    return body.blocks if isinstance(body, NativeBody) else ()


def _iterator(block: Block) -> str:
    """The name of the current element in a `dynamic` block."""
    written = block.body.written_attributes().get("iterator")
    name = None if written is None else expr_as_keyword(written.expr)
    return name or block.labels[0]

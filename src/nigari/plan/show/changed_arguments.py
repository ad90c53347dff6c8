"""The arguments that a change gives another value, each with what is written for it.

A value that is written as an object is followed into its attributes, and blocks into theirs, so
that every difference has the range of its expression. Nothing is evaluated here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nigari.cty.errors import Step
from nigari.cty.paths import GetAttr, Path, index_step
from nigari.cty.types import DYNAMIC, KIND_MAP
from nigari.cty.values import Value, null
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Block as WrittenBlock
from nigari.hcl.body import Body
from nigari.hcl.decode import Spec, schema_of
from nigari.hcl.dynamic_blocks import IteratedExpression, UnknownExpression
from nigari.hcl.expressions import Expression
from nigari.hcl.static import attribute_expression
from nigari.lang.references import Reference, references_in_body
from nigari.record import record
from nigari.schema.block import Block, NestedBlock, Nesting
from nigari.schema.decode import decoder_spec


@record
class ChangedArgument:
    """A part of an object that gets another value."""

    path: Path
    before: Value
    after: Value
    expr: Expression | None = None
    """The written expression; None for blocks, and for arguments that are not in the configuration."""
    range: Range | None = None
    references: tuple[Reference, ...] = ()
    """The further references: everything in blocks, or the expression that makes the blocks."""

    @property
    def is_written(self) -> bool:
        """Return whether the configuration sets it."""
        return self.range is not None


def changed_arguments(
    block: Block, written: Body | None, expanded: Body | None, before: Value, after: Value
) -> list[ChangedArgument]:
    """All arguments that differ, in the order of their names.

    `written` is the body as it is written, and `expanded` the same with the blocks that its
    `dynamic` blocks make.
    """
    return list(_in_body(block, written, expanded, before, after, ()))


def _in_body(
    block: Block,
    written: Body | None,
    expanded: Body | None,
    before: Value,
    after: Value,
    path: Path,
) -> Iterator[ChangedArgument]:
    spec = decoder_spec(block)
    content = None
    if expanded is not None:
        content = expanded.partial_content(schema_of(spec), Diagnostics())[0]
    for name in sorted({*block.attributes, *block.blocks}):
        old, new, at = _part(before, name), _part(after, name), (*path, GetAttr(name))
        if _is_same(old, new):
            continue
        attribute = None if content is None else content.attributes.get(name)
        blocks = [] if content is None else content.blocks_of(name)
        piece = spec.pieces[name]
        if attribute is not None:
            yield from _in_expression(attribute.expr, old, new, at)
        elif not blocks:
            yield ChangedArgument(at, old, new)
        elif name in block.blocks:
            yield from _in_blocks(block.blocks[name], blocks, piece, written, old, new, at)
        else:
            yield _whole(blocks, piece, written, old, new, at)


def _in_expression(
    expr: Expression, before: Value, after: Value, path: Path
) -> Iterator[ChangedArgument]:
    """The attributes of a written object that differ; of anything else, the whole."""
    pending = [(expr, before, after, path)]
    while pending:
        current, old, new, at = pending.pop()
        names = _names(old) | _names(new)
        inner = {name: attribute_expression(current, name) for name in names}
        is_object = isinstance(new.data, dict) and (old.is_null or isinstance(old.data, dict))
        if not is_object or not any(inner.values()):
            yield ChangedArgument(at, old, new, current, current.range)
            continue
        for name in sorted(names, reverse=True):
            first, second = _part(old, name), _part(new, name)
            if _is_same(first, second):
                continue
            step: Step = index_step(name) if new.type.kind == KIND_MAP else GetAttr(name)
            found = inner[name]
            if found is None:
                yield ChangedArgument((*at, step), first, second, None, current.range)
            else:
                pending.append((found, first, second, (*at, step)))


def _in_blocks(
    nested: NestedBlock,
    blocks: list[WrittenBlock],
    piece: Spec,
    written: Body | None,
    before: Value,
    after: Value,
    path: Path,
) -> Iterator[ChangedArgument]:
    pairs = _pairs(nested, blocks, before, after)
    if pairs is None:
        yield _whole(blocks, piece, written, before, after, path)
        return
    for steps, block, old, new in pairs:
        if _is_same(old, new):
            continue
        at = (*path, *steps)
        if block is None:
            yield ChangedArgument(at, old, new)
            continue
        found = list(_in_body(nested.block, block.body, block.body, old, new, at))
        extra = () if written is None else _dynamic_references(written, piece, block)
        for each in found:
            is_iterated = isinstance(each.expr, IteratedExpression | UnknownExpression)
            yield _with_references(each, extra) if is_iterated else each
        if not found:
            yield ChangedArgument(at, old, new, None, block.def_range)


def _dynamic_references(written: Body, piece: Spec, block: WrittenBlock) -> tuple[Reference, ...]:
    """The expression that makes the block of a `dynamic` block."""
    found = references_in_body(written, piece, Diagnostics(), content=False)
    return tuple(
        each
        for each in found
        if each.source is block.source and block.start <= each.start < block.end
    )


def _with_references(found: ChangedArgument, extra: tuple[Reference, ...]) -> ChangedArgument:
    return ChangedArgument(
        found.path, found.before, found.after, found.expr, found.range, (*found.references, *extra)
    )


_Pair = tuple[tuple[Step, ...], WrittenBlock | None, Value, Value]


def _pairs(
    nested: NestedBlock, blocks: list[WrittenBlock], before: Value, after: Value
) -> list[_Pair] | None:
    """Each block with the object that it describes; None where they cannot be matched."""
    if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
        return [((), blocks[0], before, after)]
    if nested.nesting is Nesting.MAP:
        labels = {block.labels[0]: block for block in blocks if block.labels}
        names = sorted(_names(before) | _names(after))
        return [
            ((index_step(name),), labels.get(name), _part(before, name), _part(after, name))
            for name in names
        ]
    old, new = before.data, after.data
    if nested.nesting is not Nesting.LIST or not isinstance(new, tuple) or len(new) != len(blocks):
        return None
    known = old if isinstance(old, tuple) else ()
    nothing = null(DYNAMIC)
    return [
        (
            (index_step(position),),
            blocks[position] if position < len(blocks) else None,
            known[position] if position < len(known) else nothing,
            new[position] if position < len(new) else nothing,
        )
        for position in range(max(len(known), len(new)))
    ]


def _whole(
    blocks: list[WrittenBlock],
    piece: Spec,
    written: Body | None,
    before: Value,
    after: Value,
    path: Path,
) -> ChangedArgument:
    """All blocks of a type, with everything that is written in them."""
    references = () if written is None else references_in_body(written, piece, Diagnostics())
    return ChangedArgument(path, before, after, None, blocks[0].def_range, tuple(references))


def _names(value: Value) -> set[str]:
    data = value.data
    return set(data) if isinstance(data, Mapping) else set()


def _part(value: Value, name: str) -> Value:
    """An attribute of an object that may not be there, with the marks of the object."""
    data = value.data
    found = data.get(name) if isinstance(data, dict) else None
    if isinstance(found, Value):
        return found.with_marks(value.marks)
    return null(DYNAMIC) if value.is_known else value


def _is_same(before: Value, after: Value) -> bool:
    old, new = before.unmark_deep()[0], after.unmark_deep()[0]
    if old.is_null and new.is_null:
        return True
    return new.is_wholly_known and old == new

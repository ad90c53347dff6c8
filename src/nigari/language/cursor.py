"""The syntax at an offset of a document: the blocks around it, the argument, the expressions."""

from __future__ import annotations

from nigari.hcl.body import Attribute, Block
from nigari.hcl.expressions import Expression
from nigari.language.document import Document
from nigari.record import record


@record
class Cursor:
    """An offset of a document and what the tree has there, the outermost first."""

    document: Document
    offset: int
    blocks: tuple[Block, ...]
    """Those whose braces are around the offset."""
    header: Block | None
    """The block in whose type or labels the offset is."""
    attribute: Attribute | None
    expressions: tuple[Expression, ...]

    @property
    def expression(self) -> Expression | None:
        """The innermost expression."""
        return self.expressions[-1] if self.expressions else None

    @property
    def is_in_name(self) -> bool:
        """Return whether the offset is in the argument's name."""
        attribute = self.attribute
        return attribute is not None and attribute.name_start <= self.offset <= attribute.name_end


def cursor_at(document: Document, offset: int) -> Cursor:
    """Find the syntax at an offset."""
    blocks: list[Block] = []
    header: Block | None = None
    attribute: Attribute | None = None
    body = document.body
    candidates = [] if body is None else body.blocks
    attributes = {} if body is None else body.attributes
    while True:
        inner = next((each for each in candidates if each.start <= offset <= each.end), None)
        if inner is not None and offset > inner.open_start and not _is_after(inner, offset):
            blocks.append(inner)
            candidates, attributes = inner.blocks, inner.attributes
            continue
        if inner is not None and offset <= inner.open_start:
            header = inner
        break
    if header is None:
        touching = [each for each in attributes.values() if each.start <= offset <= each.end]
        attribute = touching[0] if touching else None
    expressions = () if attribute is None else _expressions(attribute.expr, offset)
    return Cursor(document, offset, tuple(blocks), header, attribute, expressions)


def _is_after(block: Block, offset: int) -> bool:
    """Return whether an offset is after the brace that closes a block, if any."""
    return offset == block.end and block.source.text.endswith("}", 0, block.end)


def _expressions(expr: Expression, offset: int) -> tuple[Expression, ...]:
    if not expr.start <= offset <= expr.end:
        return ()
    found = [expr]
    while True:
        touching = [each for each in expr.children() if each.start <= offset <= each.end]
        if not touching:
            return tuple(found)
        # Between two that touch, the offset belongs to the one that begins there.
        expr = touching[-1]
        found.append(expr)

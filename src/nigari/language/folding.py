"""Parts of a document that can be folded away, and the steps by which a selection grows."""

from __future__ import annotations

from collections.abc import Iterator

from nigari.hcl.body import Block
from nigari.hcl.collections import ObjectConstructor, TupleConstructor
from nigari.hcl.expressions import Expression
from nigari.hcl.scanner import scan_lossless
from nigari.hcl.templates import StringLiteral, Template
from nigari.hcl.tokens import COMMENT
from nigari.language.cursor import cursor_at
from nigari.language.document import Document
from nigari.record import record

_LONG = (ObjectConstructor, TupleConstructor, Template, StringLiteral)


@record
class Fold:
    """A part of a document, from the end of its first line to the end of its last."""

    start: int
    end: int
    is_comment: bool = False


def folds(document: Document) -> list[Fold]:
    """Folding ranges: blocks, collections and heredocs of several lines, and runs of comments."""
    if document.body is None:
        return []
    text = document.text
    found = [*_of_blocks(document.body.blocks), *_comments(text)]
    for attribute in document.body.attributes.values():
        found += _of_expression(attribute.expr)
    several = [each for each in found if "\n" in text[each.start : each.end]]
    return sorted(several, key=_order)


def _order(fold: Fold) -> tuple[int, int]:
    return fold.start, -fold.end


def _of_blocks(blocks: list[Block]) -> Iterator[Fold]:
    pending = [*blocks]
    while pending:
        block = pending.pop()
        yield Fold(block.open_start, block.end)
        pending.extend(block.blocks)
        for attribute in block.attributes.values():
            yield from _of_expression(attribute.expr)


def _of_expression(expr: Expression) -> Iterator[Fold]:
    pending = [expr]
    while pending:
        current = pending.pop()
        if isinstance(current, _LONG):
            text = current.source.text
            end = current.end
            # The line end after a heredoc belongs to it, and is not folded.
            yield Fold(current.start, end - 1 if text.endswith("\n", 0, end) else end)
        pending.extend(current.children())


def _comments(text: str) -> Iterator[Fold]:
    """Comments that follow each other on lines of their own."""
    tokens = scan_lossless(text)
    start, end = -1, -1
    for kind, at, part in zip(tokens.kinds, tokens.starts, tokens.texts, strict=True):
        if kind != COMMENT or text[text.rfind("\n", 0, at) + 1 : at].strip():
            continue
        if start >= 0 and not text[end:at].strip() and text.count("\n", end, at) <= _gap(text, end):
            end = at + len(part)
            continue
        if start >= 0:
            yield Fold(start, _without_line_end(text, end), True)
        start, end = at, at + len(part)
    if start >= 0:
        yield Fold(start, _without_line_end(text, end), True)


def _gap(text: str, end: int) -> int:
    """The line ends between comments on lines that follow each other."""
    return 0 if text.endswith("\n", 0, end) else 1


def _without_line_end(text: str, end: int) -> int:
    return end - 1 if text.endswith("\n", 0, end) else end


def selections(document: Document, offset: int) -> list[tuple[int, int]]:
    """The parts of a document around an offset, the smallest first."""
    cursor = cursor_at(document, offset)
    found = [(each.start, each.end) for each in reversed(cursor.expressions)]
    if cursor.attribute is not None:
        if cursor.is_in_name:
            found.append((cursor.attribute.name_start, cursor.attribute.name_end))
        found.append((cursor.attribute.start, cursor.attribute.end))
    header = cursor.header
    if header is not None:
        found += [each for each in header.label_spans if each[0] <= offset <= each[1]]
        found += [(header.def_start, header.def_end), (header.start, header.end)]
    for block in reversed(cursor.blocks):
        found += [(block.open_start + 1, _inner_end(block)), (block.start, block.end)]
    found.append((0, len(document.text)))
    grown: list[tuple[int, int]] = []
    for start, end in found:
        if start <= offset <= end and (not grown or _is_larger((start, end), grown[-1])):
            grown.append((start, end))
    return grown


def _inner_end(block: Block) -> int:
    return block.end - 1 if block.source.text.endswith("}", 0, block.end) else block.end


def _is_larger(outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and outer[1] >= inner[1] and outer != inner

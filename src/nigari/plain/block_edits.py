"""Edits of whole blocks and of their lines."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.hcl.body import Attribute, Block
from nigari.hcl.edits import Edit
from nigari.hcl.quoting import quoted
from nigari.plain.spots import spot_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

REPETITION: Final = ("count", "for_each")


def label_edit(block: Block, index: int, name: str) -> Edit:
    start, end = block.label_spans[index]
    return Edit(start, end, quoted(name))


def repetition_of(block: Block) -> list[Attribute]:
    return [each for name, each in block.attributes.items() if name in REPETITION]


def is_first(block: Block, declared: Block) -> bool:
    """Check whether this is the block that declares something, rather than one that overrides it."""
    own = spot_at(block.source, block.start, block.end)
    return own == spot_at(declared.source, declared.start, declared.end)


def replaced(block: Block, copies: Sequence[str], moves: Sequence[tuple[str, str]]) -> Edit:
    """A block, replaced by others and by the moves to them."""
    texts = [*copies, *(f"moved {{\n  from = {old}\n  to   = {new}\n}}" for old, new in moves)]
    text = "\n\n".join(texts)
    line_end = "\r\n" if "\r\n" in block.source.text else "\n"
    return Edit(block.start, block.end, text.replace("\n", line_end))


def comment_start(block: Block) -> int:
    """Where the comment above a block begins, or the line of the block if there is none."""
    text = block.source.text
    start = text.rfind("\n", 0, block.start) + 1
    while start:
        above = text.rfind("\n", 0, start - 1) + 1
        if not text[above:start].lstrip().startswith(("#", "//")):
            break
        start = above
    return start


def lines_removed(block: Block) -> Edit:
    """The removal of a block with the comment above it, and with an empty line below it."""
    text = block.source.text
    end = text.find("\n", block.end) + 1 or len(text)
    after = text.find("\n", end) + 1
    end = after if after and not text[end:after].strip() else end
    return Edit(comment_start(block), end, "")


def line_removed(attribute: Attribute) -> Edit:
    """The removal of an argument, with its line if it is alone there."""
    text = attribute.source.text
    start, end = attribute.start, attribute.end
    line = text.rfind("\n", 0, start) + 1
    after = text.find("\n", end)
    if not text[line:start].strip() and after >= 0 and "}" not in text[end:after].split("#")[0]:
        return Edit(line, after + 1, "")
    return Edit(start, end, "")

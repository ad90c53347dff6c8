"""The standard layout of a document, as edits of single lines, so that the rest of a text stays."""

from __future__ import annotations

from difflib import SequenceMatcher

from nigari.hcl.edits import Edit
from nigari.hcl.formatter import format
from nigari.language.document import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MOST_COMPARED: Final = 4_000
"""Lines up to which a difference is worked out line by line."""


def layout_edits(document: Document, start: int = 0, end: int | None = None) -> list[Edit]:
    """The edits that bring a document, or the lines between two offsets, into standard layout.

    A text with syntax errors is left alone: there is no telling what belongs together.
    """
    if document.body is None or document.problems:
        return []
    text = document.text
    wanted = format(text)
    if wanted == text:
        return []
    limit = len(text) if end is None else end
    return [each for each in line_edits(text, wanted) if each.end >= start and each.start <= limit]


def line_edits(text: str, wanted: str) -> list[Edit]:
    """The edits of whole lines that make one text of another."""
    old, new = _lines(text), _lines(wanted)
    if len(old) == len(new):
        pairs = [(i, i + 1, i, i + 1) for i in range(len(old)) if old[i] != new[i]]
    elif max(len(old), len(new)) > _MOST_COMPARED:
        pairs = [(0, len(old), 0, len(new))]
    else:
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        pairs = [each[1:] for each in matcher.get_opcodes() if each[0] != "equal"]
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    return [Edit(starts[a], starts[b], "".join(new[c:d])) for a, b, c, d in pairs]


def _lines(text: str) -> list[str]:
    """The lines with their ends; no other character than the line feed ends one."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]

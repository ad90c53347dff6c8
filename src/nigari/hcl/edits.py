"""Edits of a text: parts of it, and what takes their places."""

from __future__ import annotations

from collections.abc import Iterable

from nigari.record import record


@record
class Edit:
    """A part of a text, and what takes its place."""

    start: int
    end: int
    text: str


def applied(text: str, edits: Iterable[Edit]) -> str:
    """A text after edits that do not overlap."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits, key=_start):
        pieces += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join([*pieces, text[at:]])


def _start(edit: Edit) -> int:
    return edit.start

"""Edits of source texts: a part of a text, and what replaces it."""

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
    for edit in sorted(edits, key=_start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _start(edit: Edit) -> int:
    return edit.start

"""Chains as text: what a value comes from, a line for each step, short enough for many values in a row.

`nigari explain` shows a single value, and takes more room for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.lang.render import value_glimpse
from nigari.workspace.explain.explanation import Explanation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_GIVERS: Final = {"default": "its default", "argument": "the call"}


def chain_lines(part: Explanation, indent: str) -> Iterator[str]:
    """The origins of a value, the nearest first."""
    yield f"{indent}<- {part.name} = {value_glimpse(part.value)}{_remarks(part)}"
    if part.is_cut:
        yield f"{indent}   …"
    for inner in part.parts:
        yield from chain_lines(inner, f"{indent}   ")


def _remarks(part: Explanation) -> str:
    remarks = []
    if part.giver == "none":
        remarks.append("no value is given")
    elif part.giver and part.giver != "argument":
        line = "" if part.given_at is None else f" line {part.given_at.start.line}"
        remarks.append(f"from {_GIVERS.get(part.giver, part.giver)}{line}")
    if part.fate not in ("", "no-op"):
        remarks.append(fate_text(part))
    if part.is_changed and part.earlier is not None:
        remarks.append(f"was {value_glimpse(part.earlier)}")
    place = "" if part.range is None else f"{part.range.filename} line {part.range.start.line}"
    return f"  ({'; '.join([*remarks, place] if place else remarks)})" if remarks or place else ""


def fate_text(part: Explanation) -> str:
    """The planned action on the object that a value is a part of."""
    return {
        "create": "will be created",
        "update": "will be updated",
        "replace": "will be replaced",
        "delete": "will be destroyed",
        "read": "will be read during apply",
        "forget": "will be forgotten",
    }.get(part.fate, "will change")

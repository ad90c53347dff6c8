"""Marks inside a value, and where they are.

A mark says something about a value that the algebra carries along and never reads. These functions
take marks off with the paths they were at, and put them back.
"""

from nigari.cty.errors import Step
from nigari.cty.paths import Path, child_steps, replace_parts
from nigari.cty.values import HAS_MARKS, NO_MARKS, Mark, Value

MarksAt = tuple[Path, frozenset[Mark]]
"""Marks, and the path to the value that has them."""


def unmark_deep_with_paths(value: Value) -> tuple[Value, list[MarksAt]]:
    """The value without any marks, and where each was; outer values come before inner ones."""
    if not value.flags & HAS_MARKS:
        return value, []
    found: list[MarksAt] = []
    pending: list[tuple[Path, Value]] = [((), value)]
    while pending:
        path, current = pending.pop()
        if current.marks:
            found.append((path, current.marks))
        for step, part in reversed(child_steps(current)):
            if part.flags & HAS_MARKS:
                pending.append(((*path, step), part))
    unmarked, _ = value.unmark_deep()
    return unmarked, found


def mark_with_paths(value: Value, marks: list[MarksAt]) -> Value:
    """The value with marks put at these paths. A path that leads nowhere is passed over."""
    own: frozenset[Mark] = NO_MARKS
    below: dict[Step, list[MarksAt]] = {}
    for path, found in marks:
        if path:
            below.setdefault(path[0], []).append((path[1:], found))
        else:
            own |= found
    if below:
        parts = child_steps(value)
        if any(step in below for step, _ in parts):
            value = replace_parts(
                value, [mark_with_paths(part, below.get(step, [])) for step, part in parts]
            )
    return value.with_marks(own)

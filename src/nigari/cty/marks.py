"""Marks within a value: removal with their paths, and restoration.

A mark is information about a value that the algebra propagates and never interprets.
"""

from nigari.cty.errors import Step
from nigari.cty.paths import Path, child_steps, replace_parts
from nigari.cty.values import HAS_MARKS, NO_MARKS, Mark, Value

MarksAt = tuple[Path, frozenset[Mark]]
"""Marks, and the path to the value that carries them."""


def unmark_deep_with_paths(value: Value) -> tuple[Value, list[MarksAt]]:
    """Remove all marks and list where each was; outer values come before inner ones."""
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
    """Restore marks at these paths. Paths that lead nowhere are skipped."""
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

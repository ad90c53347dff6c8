"""Finds the name that someone probably meant.

Knows only names: how near two spellings are, not what they stand for.
"""

from __future__ import annotations

from collections.abc import Iterable

_NEAR = 3
"""Spellings fewer edits apart than this are taken for slips of each other."""


def suggest(given: str, names: Iterable[str]) -> str | None:
    """The name that differs least from the given one, if it is by a slip or two."""
    best, fewest = None, _NEAR
    for name in names:
        if abs(len(name) - len(given)) < fewest:
            edits = _edits(given, name)
            if edits < fewest:
                best, fewest = name, edits
    return best


def suggest_longer(given: str, names: Iterable[str]) -> str | None:
    """The longest name that the given one only adds to, as `md5sum` does to `md5`."""
    found = [name for name in names if len(name) > _NEAR - 1 and given.startswith(name)]
    return max(found, key=len, default=None)


def suggest_shortened(given: str, names: Iterable[str]) -> str | None:
    """The one name that the given one is a part of, as `number` is of `network_numbers`."""
    found = [name for name in names if len(given) > _NEAR and given in name]
    return found[0] if len(found) == 1 else None


def did_you_mean(given: str, names: Iterable[str]) -> str:
    """A sentence to append to a detail, with a space before it, or nothing."""
    choices = list(names)
    name = (
        suggest(given, choices)
        or suggest_longer(given, choices)
        or suggest_shortened(given, choices)
    )
    return "" if name is None else f' Did you mean "{name}"?'


def _edits(first: str, second: str) -> int:
    """How many insertions, deletions and replacements lead from one spelling to the other."""
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, 1):
        diagonal = row[0]
        row[0] = i
        for j, right in enumerate(second, 1):
            replaced = diagonal + (left != right)
            diagonal = row[j]
            row[j] = min(diagonal + 1, row[j - 1] + 1, replaced)
    return row[-1]

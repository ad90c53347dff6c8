"""Spelling suggestions for mistyped names.

Only compares names; their meaning is unknown here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_NEAR = 3
"""Spellings with fewer edits than this between them may be typos of each other."""


def suggest(given: str, names: Iterable[str]) -> str | None:
    """Find the most similar name, within one or two typos.

    At least half of the longer spelling must match: `x` is not a typo of `y`.
    """
    best, fewest = None, _NEAR
    typed = given.casefold()
    for name in names:
        if abs(len(name) - len(given)) < fewest:
            edits = _edits(typed, name.casefold())
            if edits < fewest and 2 * edits <= max(len(given), len(name)):
                best, fewest = name, edits
    return best


def suggest_longer(given: str, names: Iterable[str]) -> str | None:
    """Find the longest name of which the misspelling is an extension, as `md5sum` is of `md5`."""
    found = [name for name in names if len(name) > _NEAR - 1 and given.startswith(name)]
    return max(found, key=len, default=None)


def suggest_shortened(given: str, names: Iterable[str]) -> str | None:
    """Find the only name that contains the misspelling, as `network_numbers` contains `number`."""
    found = [name for name in names if len(given) > _NEAR and given in name]
    return found[0] if len(found) == 1 else None


def did_you_mean_name(given: str, names: Iterable[str]) -> str | None:
    """Find the probably intended name, which may be the given one."""
    choices = list(names)
    return (
        suggest(given, choices)
        or suggest_longer(given, choices)
        or suggest_shortened(given, choices)
    )


def did_you_mean(given: str, names: Iterable[str]) -> str:
    """Build the sentence to append to a detail, with a leading space; empty without a suggestion."""
    name = did_you_mean_name(given, names)
    return "" if name is None else f' Did you mean "{name}"?'


_MOST_LISTED = 8


def listed(names: Sequence[str]) -> str:
    """Join names for a sentence: `a, b and c`. A long list is cut, with the number of omitted
    names.
    """
    if len(names) <= 1:
        return "".join(names)
    if len(names) <= _MOST_LISTED:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{', '.join(names[:_MOST_LISTED])} and {len(names) - _MOST_LISTED} more"


def _edits(first: str, second: str) -> int:
    """Count the typos between two spellings.

    A typo inserts, drops or replaces a character, or swaps two adjacent ones.
    """
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, 1):
        last, before, row = before, row, [i]
        for j, right in enumerate(second, 1):
            edits = min(before[j] + 1, row[-1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == second[j - 2] and right == first[i - 2]:
                edits = min(edits, last[j - 2] + 1)
            row.append(edits)
    return row[-1]

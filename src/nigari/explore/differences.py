"""Differences as data for the page: trees of lists, each equal part of two changes written once.

The first element of a list says what it is:

    ["s", fate, forces, before, after]          a value without parts
    ["t", fate, forces, [[fate, line], ...]]    a text of several lines
    ["j", fate, forces, part, is_whitespace]    JSON in a string
    ["m", fate, forces, is_map, {name: part}]   an object or a map
    ["l", fate, forces, is_set, [part, ...]]    a list or a set
    ["x", fate, forces, was_secret, is_secret]  something that is not shown
    ["p", fate, forces, part or null]           known after apply; what it is until then
    ["e", fate, forces, part, part]             a value that becomes one of another kind
    ["w", fate, forces]                         write-only
    ["b", fate, forces, [entry, ...]]           the content of a block

An entry is a name, a part, and 1 for a block. A number is ["#", text].
"""

from __future__ import annotations

import json
from itertools import groupby

from nigari.cty.types import DYNAMIC
from nigari.plan.differences.datum import Datum, Numeral, json_datum
from nigari.plan.differences.difference import (
    BlockDifference,
    BlockGroup,
    Difference,
    ElementDifferences,
    Exchange,
    Fate,
    Members,
    Pending,
    Secret,
    Simple,
    WriteOnly,
)
from nigari.plan.differences.pairing import pairs
from nigari.plan.differences.value_comparison import compare

Part = list[object]


class PartTable:
    """The entries of all changes: equal ones have the same number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def entries(self, difference: Difference) -> list[int]:
        """The numbers of the entries of an object."""
        found = part(difference)
        entries = found[3] if found[0] == "b" else [["", found]]
        assert isinstance(entries, list)
        return [self.number(each) for each in entries]

    def entry(self, name: str, difference: Difference) -> int:
        """The number of one value with a name."""
        return self.number([name, part(difference)])

    def number(self, entry: object) -> int:
        """The number of an entry."""
        text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
        return self._numbers.setdefault(text, len(self._numbers))

    def texts(self) -> list[str]:
        """Every entry as the text of its JSON."""
        return list(self._numbers)


def part(difference: Difference) -> Part:
    """One part of a difference, and those in it."""
    head = [difference.fate.value, int(difference.forces)]
    if isinstance(difference, Simple):
        return _simple(difference, head)
    if isinstance(difference, Secret):
        return ["x", *head, int(difference.was_secret), int(difference.is_secret)]
    if isinstance(difference, Members):
        inner = {name: part(each) for name, each in sorted(difference.parts.items())}
        return ["m", *head, int(difference.is_map), inner]
    if isinstance(difference, ElementDifferences):
        parts = difference.parts if difference.is_set else _paired(difference.parts)
        return ["l", *head, int(difference.is_set), [part(each) for each in parts]]
    if isinstance(difference, BlockDifference):
        return ["b", *head, _entries(difference)]
    if isinstance(difference, Pending):
        before = difference.before
        return ["p", *head, None if before is None else part(before)]
    if isinstance(difference, Exchange):
        return ["e", *head, part(difference.before), part(difference.after)]
    assert isinstance(difference, WriteOnly)
    return ["w", *head]


def _paired(parts: list[Difference]) -> list[Difference]:
    """The elements of a list, where as many new ones follow some that are gone as changes of those."""
    found: list[Difference] = []
    for fate, run in groupby(parts, lambda each: each.fate):
        after = list(run)
        before = found[-len(after) :]
        # A longer run of gone elements has no element for each new one.
        is_longer = len(found) > len(after) and found[-len(after) - 1].fate is Fate.GONE
        is_gone = len(before) == len(after) and all(each.fate is Fate.GONE for each in before)
        if fate is Fate.NEW and is_gone and not is_longer:
            found[-len(after) :] = map(_changed, before, after)
        else:
            found += after
    return found


def _changed(before: Difference, after: Difference) -> Difference:
    forces = before.forces or after.forces
    if isinstance(after, Pending):
        return Pending(Fate.CHANGED, forces, before)
    if isinstance(before, Simple) and isinstance(after, Simple):
        return Simple(Fate.CHANGED, forces, before.before, after.after)
    return Exchange(forces, before, after)


def _entries(body: BlockDifference) -> list[object]:
    found: list[object] = [[name, part(each)] for name, each in sorted(body.attributes.items())]
    for name, group in sorted(body.groups.items()):
        found += [[f"{name}{label}", _block(each, group), 1] for label, each in group.blocks]
    return found


def _block(block: Difference, group: BlockGroup) -> Part:
    """A block, hidden if all blocks of its type are sensitive."""
    hides_new = group.is_secret and block.fate is not Fate.GONE
    if hides_new or (group.was_secret and block.fate is not Fate.NEW):
        fate = block.fate
        if fate is Fate.SAME and group.was_secret is not group.is_secret:
            fate = Fate.CHANGED
        return ["x", fate.value, int(block.forces), int(group.was_secret), int(group.is_secret)]
    return part(block)


def _simple(difference: Simple, head: list[str | int]) -> Part:
    before, after = _text(difference.before), _text(difference.after)
    texts = [each for each in (before, after) if each is not None]
    if texts and all(each[:1] in ("{", "[") for each in texts):
        found = _json(difference, before, after)
        if found is not None:
            return ["j", *head, *found]
    if any("\n" in each for each in texts):
        return ["t", *head, _lines(difference.fate, before, after)]
    return ["s", *head, _plain(difference.before), _plain(difference.after)]


def _text(datum: Datum | None) -> str | None:
    return datum.plain if datum is not None and isinstance(datum.plain, str) else None


def _json(difference: Simple, before: str | None, after: str | None) -> list[object] | None:
    """Compare the JSON data of a string; None if it contains none."""
    old = None if before is None else json_datum(before)
    new = None if after is None else json_datum(after)
    if (before is not None and old is None) or (after is not None and new is None):
        return None
    inner = compare(old, new, DYNAMIC)
    is_whitespace = inner.fate is Fate.SAME and difference.fate is Fate.CHANGED
    return [part(inner), int(is_whitespace)]


def _lines(fate: Fate, before: str | None, after: str | None) -> list[list[str]]:
    old = [] if before is None else before.strip("\n").split("\n")
    new = [] if after is None else after.strip("\n").split("\n")
    if fate is not Fate.CHANGED:
        return [[fate.value, line] for line in new or old]
    found: list[list[str]] = []
    for one, other in pairs(old, new):
        if one is None:
            assert other is not None
            found.append([Fate.NEW.value, new[other]])
        else:
            found.append([Fate.SAME.value if other is not None else Fate.GONE.value, old[one]])
    return found


def _plain(datum: Datum | None) -> object:
    plain = None if datum is None else datum.plain
    if plain is None or isinstance(plain, bool | str):
        return plain
    return ["#", plain.text] if isinstance(plain, Numeral) else str(plain)

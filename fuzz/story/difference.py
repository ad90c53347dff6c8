"""A difference between the programs, and how the data of both is compared.

Texts lose what chance has put into them: identifiers, and keys of deposed objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.real.alike import Tree

_UUID: Final = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_DEPOSED: Final = re.compile(r'("deposed(?:_key)?": ?)"[0-9a-f]{8}"')
_NAMED: Final = ("resource_changes", "resource_drift", "resources", "outputs", "output_changes")
_DEEP: Final = 5
ABSENT: Final = "<absent>"
"""Stands for what only the other side has."""


@dataclass(frozen=True)
class Difference:
    """A difference: its class, and the details."""

    kind: str
    text: str
    has_plan: bool = False
    """Whether the real program had finished a plan by then, where that is known."""

    @property
    def is_report(self) -> bool:
        """Whether the programs did the same and only reported it in another way."""
        return self.kind.startswith(("events", "diagnostics", "reads"))

    def parts(self) -> list[Difference]:
        """The same for each of the objects that data of both programs differs in."""
        if not self.kind.startswith(("state: resources", "plan: resource_changes")):
            return []
        texts = re.split(r"\n(?=\S)", self.text)
        return [Difference(self.kind, each, self.has_plan) for each in texts]


def plain(tree: Tree) -> str:
    """Data as text, without what is left to chance."""
    return _without_chance(json.dumps(tree, sort_keys=True))


def _without_chance(text: str) -> str:
    return _DEPOSED.sub(r'\1"<deposed>"', _UUID.sub("<uuid>", text))


def trees(what: str, theirs: Tree, ours: Tree) -> Iterator[Difference]:
    """What is different between data of both, one difference for each class."""
    kinds: dict[str, list[str]] = {}
    for path, left, right in _differing(theirs, ours, ()):
        text = f"{' '.join(path)}\n  theirs {json.dumps(left)}\n  ours   {json.dumps(right)}"
        kinds.setdefault(_abstract(path), []).append(text)
    for kind, texts in kinds.items():
        yield Difference(f"{what}: {kind}", "\n".join(texts))


def _abstract(path: tuple[str, ...]) -> str:
    """A path without the names that only this configuration has."""
    words = list(path)
    for position in range(1, len(words)):
        if words[position - 1] in _NAMED:
            words[position] = "*"
    return ".".join(words[:_DEEP])


def paths(theirs: Tree, ours: Tree) -> Iterator[str]:
    """Where data of both is different."""
    for path, _, _ in _differing(theirs, ours, ()):
        yield _abstract(path)


def _differing(
    theirs: Tree, ours: Tree, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Tree, Tree]]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name in sorted({*theirs, *ours}):
            left, right = theirs.get(name, ABSENT), ours.get(name, ABSENT)
            yield from _differing(left, right, (*path, name))
    elif theirs != ours:
        yield path, theirs, ours


def listed(missing: list[str], more: list[str]) -> str:
    """What is missing and what is too much, one in each line."""
    return "\n".join([*(f"missing {each}" for each in missing), *(f"more {each}" for each in more)])

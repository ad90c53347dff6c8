"""A generated expression as a tree: text with holes, so that it can be made smaller."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tree:
    """Pieces of text with the children between them: one piece more than there are children."""

    pieces: tuple[str, ...]
    children: tuple[Tree, ...] = ()

    def __str__(self) -> str:
        parts = [self.pieces[0]]
        for child, piece in zip(self.children, self.pieces[1:], strict=True):
            parts += [str(child), piece]
        return "".join(parts)

    @property
    def size(self) -> int:
        return sum(map(len, self.pieces)) + sum(child.size for child in self.children)

    def smaller(self) -> Iterator[Tree]:
        """Trees with a part of this one left out, the boldest cuts first."""
        yield from self.children
        if self.children or len(self.pieces[0]) > 1:
            for literal in ("null", "1", '"a"', "[]", "{}"):
                if literal != self.pieces[0]:
                    yield leaf(literal)
        if not self.children:
            text = self.pieces[0]
            yield from (leaf(text[:at] + text[at + 1 :]) for at in range(len(text)))
        for position in range(len(self.children)):
            fewer = self._without(position)
            if fewer is not None:
                yield fewer
        for position, child in enumerate(self.children):
            for replacement in child.smaller():
                children = list(self.children)
                children[position] = replacement
                yield Tree(self.pieces, tuple(children))

    def _without(self, position: int) -> Tree | None:
        """The tree without one of the children of a comma-separated list."""
        before, after = self.pieces[position], self.pieces[position + 1]
        if before == ", ":
            pieces = (*self.pieces[:position], *self.pieces[position + 1 :])
        elif after == ", ":
            pieces = (*self.pieces[: position + 1], *self.pieces[position + 2 :])
        else:
            return None
        return Tree(pieces, (*self.children[:position], *self.children[position + 1 :]))


def leaf(text: str) -> Tree:
    """A tree without children."""
    return Tree((text,))


def node(template: str, *children: Tree) -> Tree:
    """A tree from a text in which `@` marks the place of each child."""
    return Tree(tuple(template.split("@")), children)


def listed(opening: str, children: list[Tree], closing: str) -> Tree:
    """Children with commas between them."""
    if not children:
        return leaf(opening + closing)
    return Tree((opening, *[", "] * (len(children) - 1), closing), tuple(children))

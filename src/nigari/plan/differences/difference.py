"""The difference of two values, part by part, as a tree.

It says of every part whether it is new, goes, changes or stays, and whether that forces another
object. How that is found out, and how it looks on the screen, is unknown here.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from nigari.cty.paths import GetAttr, Index, Path
from nigari.plan.differences.datum import Datum
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Fate(Enum):
    """The fate of a part."""

    SAME = " "
    NEW = "+"
    GONE = "-"
    CHANGED = "~"


class Difference:
    """The difference of a value. Its kind is a class of its own."""

    __slots__ = ("fate", "forces")

    def __init__(self, fate: Fate, forces: bool = False) -> None:
        self.fate: Fate = fate
        self.forces: bool = forces
        """True if the change forces replacement."""


class Simple(Difference):
    """A value without parts."""

    __slots__ = ("after", "before")

    def __init__(self, fate: Fate, forces: bool, before: Datum | None, after: Datum | None) -> None:
        super().__init__(fate, forces)
        self.before: Datum | None = before
        self.after: Datum | None = after


class Members(Difference):
    """Parts with names: an object or a map."""

    __slots__ = ("is_map", "is_nested", "parts")

    def __init__(
        self,
        fate: Fate,
        forces: bool,
        parts: dict[str, Difference],
        is_map: bool,
        is_nested: bool = False,
    ) -> None:
        super().__init__(fate, forces)
        self.parts: dict[str, Difference] = parts
        self.is_map: bool = is_map
        self.is_nested: bool = is_nested
        """True if the schema describes the parts as attributes."""


class ElementDifferences(Difference):
    """Parts in a row: a list or a set."""

    __slots__ = ("is_nested", "is_set", "parts")

    def __init__(
        self,
        fate: Fate,
        forces: bool,
        parts: list[Difference],
        is_set: bool,
        is_nested: bool = False,
    ) -> None:
        super().__init__(fate, forces)
        self.parts: list[Difference] = parts
        self.is_set: bool = is_set
        self.is_nested: bool = is_nested


class Secret(Difference):
    """Something that must not be shown, before or after."""

    __slots__ = ("inner", "is_secret", "was_secret")

    def __init__(self, fate: Fate, forces: bool, inner: Difference, was: bool, is_: bool) -> None:
        super().__init__(fate, forces)
        self.inner: Difference = inner
        self.was_secret: bool = was
        self.is_secret: bool = is_


class Pending(Difference):
    """Something that is known only later; perhaps it takes the place of something."""

    __slots__ = ("before",)

    def __init__(self, fate: Fate, forces: bool, before: Difference | None) -> None:
        super().__init__(fate, forces)
        self.before: Difference | None = before


class Exchange(Difference):
    """A value that becomes one of another kind."""

    __slots__ = ("after", "before")

    def __init__(self, forces: bool, before: Difference, after: Difference) -> None:
        super().__init__(Fate.CHANGED, forces)
        self.before: Difference = before
        self.after: Difference = after


class WriteOnly(Difference):
    """A write-only argument: it is not stored, so a change of it is never known."""

    __slots__ = ()


class BlockGroup(Difference):
    """The blocks of one kind, each with the label that tells it from the others."""

    __slots__ = ("blocks", "is_secret", "is_set", "was_secret")

    def __init__(
        self,
        fate: Fate,
        forces: bool,
        blocks: list[tuple[str, Difference]],
        was: bool,
        is_: bool,
        is_set: bool = False,
    ) -> None:
        super().__init__(fate, forces)
        self.blocks: list[tuple[str, Difference]] = blocks
        self.was_secret: bool = was
        self.is_secret: bool = is_
        self.is_set: bool = is_set


class BlockDifference(Difference):
    """The content of a block: its attributes and the blocks in it."""

    __slots__ = ("attributes", "groups")

    def __init__(
        self,
        fate: Fate,
        forces: bool,
        attributes: dict[str, Difference],
        groups: dict[str, BlockGroup],
    ) -> None:
        super().__init__(fate, forces)
        self.attributes: dict[str, Difference] = attributes
        self.groups: dict[str, BlockGroup] = groups


class SecretBody(Secret):
    """A block of which nothing must be shown."""

    __slots__ = ()


# -- paths ------------------------------------------------------------------------------------


@record
class Paths:
    """Places in a value, seen from one of its parts."""

    paths: tuple[tuple[object, ...], ...] = ()
    covers_below: bool = False
    """True if it covers everything below a path."""

    @property
    def has_this(self) -> bool:
        return bool(self.paths) and any(not path for path in self.paths)

    def child(self, step: object) -> Paths:
        """The same places, seen from a part."""
        if not self.paths:
            return self
        kept = [path[1:] for path in self.paths if path and path[0] == step]
        if self.covers_below and self.has_this:
            kept.append(())
        return Paths(tuple(kept), self.covers_below)


NOWHERE: Final = Paths()
EVERYWHERE: Final = Paths(((),), covers_below=True)


def paths_of(paths: Iterable[Path]) -> Paths:
    """Places as the steps that lead to them."""
    return Paths(tuple(tuple(_steps(path)) for path in paths))


def _steps(path: Path) -> list[object]:
    steps: list[object] = []
    for step in path:
        if isinstance(step, GetAttr):
            steps.append(step.name)
        elif isinstance(step, Index):
            data = step.key.unmark_deep()[0].data
            steps.append(data if isinstance(data, str | int) else str(data))
    return steps


@record
class DifferenceScope:
    """The scope of a part: which changes force a replacement, and which are of interest."""

    forced: Paths = NOWHERE
    relevant: Paths = EVERYWHERE

    def child(self, step: object) -> DifferenceScope:
        if not self.forced.paths and self.relevant is EVERYWHERE:
            return self
        relevant = self.relevant
        if relevant is not EVERYWHERE:
            relevant = relevant.child(step)
        return DifferenceScope(self.forced.child(step), relevant)

    def of_element(self, index: int) -> DifferenceScope:
        """Elements of lists and sets are of interest wherever the whole is."""
        return DifferenceScope(self.forced.child(index), EVERYWHERE) if self.forced.paths else ANY

    def after(self, before: Datum | None, after: Datum | None) -> Datum | None:
        """The planned datum, or the prior one if the change is of no interest."""
        return after if self.relevant.paths else before


ANY: Final = DifferenceScope()


def joined(fate: Fate, part: Fate) -> Fate:
    """The fate of a whole, one part of which has a fate of its own."""
    if part is Fate.SAME:
        return fate
    return part if fate is part else Fate.CHANGED

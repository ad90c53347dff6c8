"""Sets of characters: ranges, named classes of POSIX, Perl and Unicode, and letters without their case.

A class is the sorted tuple of code points at which it begins and ends in turn, so that a character
belongs to it if an odd number of them is not greater.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final, TypeAlias

    CharacterClass: TypeAlias = tuple[int, ...]

END: Final = 0x110000

ANY: Final = (0, END)
NOT_NEWLINE: Final = (0, 10, 11, END)
DIGIT: Final = (48, 58)
SPACE: Final = (9, 11, 12, 14, 32, 33)
WORD: Final = (48, 58, 65, 91, 95, 96, 97, 123)

PERL: Final[dict[str, CharacterClass]] = {"d": DIGIT, "s": SPACE, "w": WORD}
POSIX: Final[dict[str, CharacterClass]] = {
    "alnum": (48, 58, 65, 91, 97, 123),
    "alpha": (65, 91, 97, 123),
    "ascii": (0, 128),
    "blank": (9, 10, 32, 33),
    "cntrl": (0, 32, 127, 128),
    "digit": DIGIT,
    "graph": (33, 127),
    "lower": (97, 123),
    "print": (32, 127),
    "punct": (33, 48, 58, 65, 91, 97, 123, 127),
    "space": (9, 14, 32, 33),
    "upper": (65, 91),
    "word": WORD,
    "xdigit": (48, 58, 65, 71, 97, 103),
}


def union(classes: Iterable[CharacterClass]) -> CharacterClass:
    """Join classes; their ranges may overlap."""
    ranges: list[tuple[int, int]] = []
    for each in classes:
        ranges += zip(each[::2], each[1::2], strict=True)
    bounds: list[int] = []
    for low, high in sorted(ranges):
        if bounds and low <= bounds[-1]:
            bounds[-1] = max(bounds[-1], high)
        else:
            bounds += [low, high]
    return tuple(bounds)


def negated(each: CharacterClass) -> CharacterClass:
    """Give all other characters."""
    bounds = each[1:] if each[:1] == (0,) else (0, *each)
    return bounds[:-1] if bounds[-1:] == (END,) else (*bounds, END)


def folded(each: CharacterClass) -> CharacterClass:
    """Add the characters that differ from a member by their case only."""
    if each == ANY or not each:
        return each
    orbits, points = _orbits()
    added: list[CharacterClass] = []
    for low, high in zip(each[::2], each[1::2], strict=True):
        for point in points[bisect_left(points, low) : bisect_left(points, high)]:
            added += [(other, other + 1) for other in orbits[point]]
    return union([each, *added]) if added else each


@lru_cache(maxsize=1)
def _orbits() -> tuple[dict[int, tuple[int, ...]], list[int]]:
    """Give the characters that others equal except for the case, each with its group, and sorted."""
    from nigari.regexp.unicode_tables import ORBITS

    groups: dict[int, tuple[int, ...]] = {}
    first = 0
    for text in ORBITS.split(" "):
        distance, *others = [int(each, 36) for each in text.split(",")]
        first += distance
        group = (first, *[first + other for other in others])
        groups.update(dict.fromkeys(group, group))
    return groups, sorted(groups)


@lru_cache(maxsize=128)
def unicode_class(name: str) -> CharacterClass | None:
    r"""Find the class that `\p{name}` names; case, spaces, `-` and `_` do not count."""
    from nigari.regexp.unicode_tables import ALIASES, CATEGORIES, SCRIPTS

    wanted = "".join(each for each in name if each not in "_- ").capitalize()
    if wanted == "Any":
        return ANY
    if wanted == "Assigned":
        return negated(_decoded(CATEGORIES["Cn"]))
    if wanted == "Ascii":
        return POSIX["ascii"]
    if wanted in SCRIPTS:
        return _decoded(SCRIPTS[wanted])
    aliases = {alias.replace("_", "").capitalize(): each for alias, each in ALIASES.items()}
    category = aliases.get(wanted, wanted)
    if category.upper() == "LC":
        return union([_decoded(CATEGORIES[each]) for each in ("Lu", "Ll", "Lt")])
    if category in CATEGORIES:
        return _decoded(CATEGORIES[category])
    parts = [_decoded(text) for key, text in CATEGORIES.items() if key[0] == category]
    return union(parts) if parts else None


def _decoded(text: str) -> CharacterClass:
    bounds: list[int] = []
    point = 0
    for distance in text.split(" "):
        point += int(distance, 36)
        bounds.append(point)
    return tuple(bounds)

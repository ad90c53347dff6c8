"""Why both programs may point at different places: the promises of docs/differences.md, by machine.

A reason explains what is left of two sets of places after what both have in common. Whatever no
reason explains is open, and a bug until someone has looked at it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.outside.beside import Said

Places = Counter[tuple[str, str, int]]
_ERROR: Final = "error"
_NO_PLACE: Final = ("", 0)

ELSEWHERE: Final = "a module that is not in the set"
OPINION: Final = "no provider is asked about what has no instances"
_FETCHING: Final = (
    "module registry",
    "Failed to download module",
    "Could not download module",
    "Module not found",
    "Module not installed",
    "Unreadable module directory",
    "Invalid registry module source",
)


@dataclass
class Left:
    """What only one of the programs points at; a reason takes away what it explains."""

    theirs: Places
    ours: Places
    both_fail: bool

    def is_empty(self) -> bool:
        return not +self.theirs and not +self.ours


def _repeated(left: Left, theirs: Said, ours: Said) -> bool:
    """A mistake is told once here, and once for each instance there, or the other way round."""
    again = [each for each in left.theirs if ours.places[each]]
    again_here = [each for each in left.ours if theirs.places[each]]
    for each in again:
        del left.theirs[each]
    for each in again_here:
        del left.ours[each]
    return bool(again or again_here)


def _unreadable(left: Left, theirs: Said, ours: Said) -> bool:
    """A mistake in the syntax is one error here; there, what follows it is told as well."""
    readable = {each[1] for each in left.theirs} - {each[1] for each in ours.places}
    follow = [
        each
        for each in left.theirs
        if each[1] not in readable
        and any(f": {each[1]}:{each[2]}: {word}" in t for t in theirs.summaries for word in _SYNTAX)
    ]
    for each in follow:
        del left.theirs[each]
    return bool(follow)


_SYNTAX: Final = (
    "Argument or block definition required",
    "Invalid character",
    "Invalid expression",
)


def _undeclared(left: Left, _theirs: Said, _ours: Said) -> bool:
    """`init` uses variables, so it says which values are for none."""
    found = [each for each in left.ours if each[0] == "warning" and ".tfvars" in each[1]]
    for each in found:
        del left.ours[each]
    return bool(found)


def _without_place(left: Left, _theirs: Said, _ours: Said) -> bool:
    """Where OpenTofu gives no place, there is one."""
    placeless = [each for each in left.theirs if each[1:] == _NO_PLACE]
    if not placeless or not left.ours:
        return False
    for each in placeless:
        del left.theirs[each]
        for mine in [other for other in left.ours if other[0] == each[0]]:
            del left.ours[mine]
    return True


def _beside(left: Left, _theirs: Said, _ours: Said) -> bool:
    """The same mistake, told at an argument instead of its block, or the other way round."""
    moved = False
    for each in list(left.theirs):
        near = [
            other
            for other in left.ours
            if other[:2] == each[:2] and abs(other[2] - each[2]) <= _NEAR
        ]
        if near:
            del left.theirs[each]
            del left.ours[min(near, key=lambda other: abs(other[2] - each[2]))]
            moved = True
    return moved


_NEAR: Final = 3


def _declared_twice(left: Left, theirs: Said, ours: Said) -> bool:
    """Of several declarations with one name the first counts here, and the last one there, so that
    another mistake in them is told of another one.
    """
    if not all(any(": Duplicate " in text for text in each.summaries) for each in (theirs, ours)):
        return False
    pairs = [
        (each, other)
        for each in left.theirs
        for other in left.ours
        if other[0] == each[0] and other[1] != each[1]
    ]
    for each, other in pairs:
        del left.theirs[each]
        del left.ours[other]
    return bool(pairs)


def _more_in_one_run(left: Left, _theirs: Said, _ours: Said) -> bool:
    """OpenTofu stops at what failed; what depends on it, or comes later, is looked at here."""
    if not left.both_fail or left.theirs or not left.ours:
        return False
    left.ours.clear()
    return True


_REASONS: Final[tuple[tuple[str, Callable[[Left, Said, Said], bool]], ...]] = (
    ("told once", _repeated),
    ("one mistake in the syntax", _unreadable),
    ("a place where OpenTofu gives none", _without_place),
    ("values for undeclared variables", _undeclared),
    ("told at the argument", _beside),
    ("a name that is declared twice", _declared_twice),
    ("more mistakes in one run", _more_in_one_run),
)


def reason(theirs: Said, ours: Said, validated: Said | None = None) -> str:
    """The reasons that together explain why places differ; nothing if they do not.

    `validated` is what our `validate` said before.
    """
    both_fail = theirs.status == 1 and ours.status == 1
    left = Left(theirs.places - ours.places, ours.places - theirs.places, both_fail)
    known = [each for each in left.theirs if validated is not None and validated.places[each]]
    for each in known:
        del left.theirs[each]
    given = [OPINION] if known else []
    given += [name for name, explains in _REASONS if explains(left, theirs, ours)]
    return ", ".join(given) if left.is_empty() else ""


def verdict_reason(theirs: Said, ours: Said, validated: Said | None = None) -> str:
    """Why one program succeeds where the other fails; nothing if there is no good reason."""
    if ours.status == 0 and validated is not None and validated.places >= theirs.places:
        return OPINION
    if theirs.status == _CRASH:
        return "OpenTofu crashes"
    errors = [text for text in ours.summaries if text.startswith(_ERROR)]
    if theirs.status == 0 and all(_SECRET_OUTPUT in text for text in errors):
        return "try keeps the marks of what is not known"
    return ""


_CRASH: Final = 11
_SECRET_OUTPUT: Final = ": Sensitive value in an output: "


def is_from_elsewhere(said: Said) -> bool:
    """Whether an init failed because a module would have to be fetched."""
    return said.status == 1 and any(
        word in summary for summary in said.summaries for word in _FETCHING
    )

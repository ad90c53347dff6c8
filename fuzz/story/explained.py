"""Differences between the programs that are meant, each with its reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fuzz.story.comparing import Difference
from fuzz.story.telling import Step


@dataclass(frozen=True)
class Explained:
    """A kind of difference: why it is there, and how it is told from others."""

    reason: str
    explains: Callable[[Step, list[str], Difference], bool]


def explanation(step: Step, command: list[str], difference: Difference) -> str:
    """Why a difference may be there; nothing if that is not known."""
    for each in EXPLAINED:
        if each.explains(step, command, difference):
            return each.reason
    return ""


EXPLAINED: Final[tuple[Explained, ...]] = ()

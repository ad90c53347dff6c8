"""Differences between the programs that are meant, each with its reason.

The reasons are those of `docs/differences.md`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fuzz.story.comparing import Difference
from fuzz.story.telling import PLAN, Step


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


def _destroys(step: Step, command: list[str]) -> bool:
    """Whether a command is, plans or carries out a destroy."""
    return command[0] == "destroy" or any("-destroy" in each for each in step.commands)


def _like(difference: Difference, *patterns: str) -> bool:
    return any(re.match(pattern, difference.kind) for pattern in patterns)


def _forgets(step: Step, _: list[str], difference: Difference) -> bool:
    is_read = _like(difference, "events: missing refresh", "reads: missing read / - more")
    return is_read and "destroy = false" in step.files["main.tf"]


def _opens_for_destroy(step: Step, command: list[str], difference: Difference) -> bool:
    return _destroys(step, command) and _like(difference, "events: missing ephemeral_action")


def _temporary_planned(step: Step, command: list[str], difference: Difference) -> bool:
    return command[-1] == PLAN and _like(difference, "events: missing planned_change")


def _temporary_destroy_reads(step: Step, command: list[str], difference: Difference) -> bool:
    return _destroys(step, command) and _like(
        difference, "events: missing apply_.* read", "reads: missing look / - more"
    )


def _temporary_module(step: Step, command: list[str], difference: Difference) -> bool:
    return "No such module instance" in difference.kind


def _temporary_targets(step: Step, command: list[str], difference: Difference) -> bool:
    is_part = any(word.startswith(("-target", "-exclude")) for c in step.commands for word in c)
    return is_part and (
        _like(difference, ".*outputs", ".*output_changes") or "excluded by targ" in difference.kind
    )


def _temporary_json(step: Step, command: list[str], difference: Difference) -> bool:
    if _destroys(step, command) and _like(difference, ".*resource_drift"):
        return True
    return _like(difference, "plan: checks")


def _temporary_diag(step: Step, command: list[str], difference: Difference) -> bool:
    return "will be removed from the state" in difference.kind


EXPLAINED: Final = (
    Explained("forgetting asks no provider", _forgets),
    Explained(
        "only what a provider needs is opened while a destroy is planned", _opens_for_destroy
    ),
    Explained("[json] planned changes of apply -json PLAN", _temporary_planned),
    Explained("[planfix] destroy reads data", _temporary_destroy_reads),
    Explained("[evalfix] no such module instance", _temporary_module),
    Explained("[statefix] targets", _temporary_targets),
    Explained("[json] members", _temporary_json),
    Explained("[diag] forgetting warns", _temporary_diag),
)

"""Reasons of changes as data for the page: where new values come from, step by step.

A reason is {"arguments": [...], "missing": step or null, "triggers": [...]}; an argument has a path,
who decides it, and steps. A step is [depth, name, value, remark, place]. Equal reasons are written
once, as JSON texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from nigari.explore.sources import SourceTable
from nigari.lang.render import value_glimpse
from nigari.workspace.explain.explanation import Explanation
from nigari.workspace.plans.change_reasons import ArgumentReason, ChangeReasons

Data = dict[str, object]
_MOST_STEPS: Final = 60
_FATES: Final = {
    "create": "will be created",
    "update": "will be updated",
    "replace": "will be replaced",
    "delete": "will be destroyed",
    "read": "will be read during apply",
    "forget": "will be forgotten",
    "change": "will change",
}
_GIVERS: Final = {"default": "its default", "argument": "the call", "none": "nothing"}


class ReasonTable:
    """The reasons of all changes: equal ones have the same number."""

    def __init__(self, sources: SourceTable) -> None:
        self._sources = sources
        self._numbers: dict[str, int] = {}

    def number(self, reasons: ChangeReasons) -> int | None:
        """The number of the reasons of a change; None where there is nothing to tell."""
        found: Data = {}
        arguments = [
            self._argument(each)
            for each in reasons.arguments
            if each.source != "provider" or each.changed_outside
        ]
        if arguments:
            found["arguments"] = arguments
        missing = reasons.missing
        if missing is not None:
            found["missing"] = {
                "address": missing.address,
                "kind": missing.kind,
                "keys": list(missing.keys[:_MOST_STEPS]),
                "steps": [] if missing.explanation is None else self._steps(missing.explanation),
            }
        if reasons.triggers:
            found["triggers"] = [step for each in reasons.triggers for step in self._steps(each)]
        if not found:
            return None
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        return self._numbers.setdefault(text, len(self._numbers))

    def texts(self) -> list[str]:
        """Every reason as the text of its JSON."""
        return list(self._numbers)

    def _argument(self, argument: ArgumentReason) -> Data:
        found: Data = {"path": argument.path, "source": argument.source}
        if argument.forces_replacement:
            found["forces"] = True
        if argument.changed_outside:
            found["outside"] = True
        if argument.waits_for:
            found["waits"] = list(argument.waits_for)
        explanation = argument.explanation
        if explanation is not None:
            found["at"] = self._sources.place(explanation.range)
            found["steps"] = [step for each in explanation.parts for step in self._steps(each)]
        return found

    def _steps(self, explanation: Explanation) -> list[list[object]]:
        found: list[list[object]] = []
        for depth, each in _walk(explanation):
            if len(found) == _MOST_STEPS:
                break
            place = self._sources.place(each.given_at or each.range)
            found.append([depth, each.name, value_glimpse(each.value), _remark(each), place])
        return found


def _walk(explanation: Explanation) -> Iterator[tuple[int, Explanation]]:
    pending = [(0, explanation)]
    while pending:
        depth, each = pending.pop()
        yield depth, each
        pending.extend((depth + 1, part) for part in reversed(each.parts))


def _remark(step: Explanation) -> str:
    remarks: list[str] = []
    if step.giver and step.giver != "argument":
        remarks.append(f"set by {_GIVERS.get(step.giver, step.giver)}")
    if step.fate in _FATES:
        remarks.append(_FATES[step.fate])
    if step.is_changed and step.earlier is not None:
        remarks.append(f"was {value_glimpse(step.earlier)}")
    return "; ".join(remarks)

"""The reasons of a plan, for people and for programs."""

from __future__ import annotations

from nigari.cli.views.explanation import explanation_json, value_members
from nigari.cli.views.plan_text import not_shown, summary
from nigari.diagnostics.render import ContextOf, place_to_json
from nigari.diagnostics.snippet import Sources
from nigari.plan.model.changes import Plan
from nigari.plan.show.grouped_changes import Filter
from nigari.workspace.explain.explanation import Explanation
from nigari.workspace.plans.change_reasons import ArgumentReason, ChangeReasons, Missing
from nigari.workspace.plans.plan_reasons import PlanReasons

Members = dict[str, object]


def reasons_text(plan: Plan, reasons: PlanReasons, shows: Filter | None) -> str:
    """Every change with its reasons, and the numbers."""
    if plan.is_empty:
        return "\nNo changes.\n"
    parts = [str(each) for each in reasons.changes(shows)]
    if shows is not None:
        hidden = sum(change.is_visible and not shows(change) for change in plan.changes)
        parts += [not_shown(hidden)] if hidden else []
    return "\n" + "\n\n".join([*parts, summary(plan)]) + "\n"


class ReasonsJson:
    """Reasons as JSON data: sensitive values and what is not known have no value there."""

    def __init__(self, sources: Sources, context_of: ContextOf) -> None:
        self._sources = sources
        self._context_of = context_of

    def change(self, reasons: ChangeReasons) -> Members:
        """The reasons of one change."""
        found: Members = {"address": reasons.address, "action": reasons.action}
        if reasons.deposed:
            found["deposed"] = reasons.deposed
        if reasons.reason:
            found["reason"] = reasons.reason
        if reasons.why:
            found["why"] = reasons.why
        if reasons.range is not None:
            found["range"] = place_to_json(reasons.range, {}, self._context_of)["range"]
        if reasons.missing is not None:
            found["missing"] = self._missing(reasons.missing)
        if reasons.triggers:
            found["triggers"] = [self._explanation(each) for each in reasons.triggers]
        found["arguments"] = [self._argument(each) for each in reasons.arguments]
        return found

    def _argument(self, argument: ArgumentReason) -> Members:
        found: Members = {
            "path": argument.path,
            "before": value_members(argument.before),
            "after": value_members(argument.after),
            "source": argument.source,
        }
        if argument.forces_replacement:
            found["forces_replacement"] = True
        if argument.changed_outside:
            found["changed_outside"] = True
        if argument.waits_for:
            found["waits_for"] = list(argument.waits_for)
        if argument.explanation is not None:
            found["explanation"] = self._explanation(argument.explanation)
        changed = [each.name for each in argument.changed_inputs]
        if changed:
            found["changed_inputs"] = changed
        return found

    def _missing(self, missing: Missing) -> Members:
        found: Members = {"kind": missing.kind, "address": missing.address}
        if missing.keys:
            found["keys"] = list(missing.keys)
        if missing.explanation is not None:
            found["explanation"] = self._explanation(missing.explanation)
        return found

    def _explanation(self, explanation: Explanation) -> Members:
        return explanation_json(explanation, self._sources, self._context_of)

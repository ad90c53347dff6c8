"""Saved plans to be looked at: nothing need be as it was when they were made."""

from __future__ import annotations

from nigari.diagnostics import Diagnostics, Severity
from nigari.events import SILENCE
from nigari.plan.engine import PlanOutcome
from nigari.plan.model.plan_file import SavedPlan
from nigari.record import record
from nigari.workspace.plans.plan_context import PlanContext
from nigari.workspace.plans.saved_plan import plan_workspace, reopened, restored
from nigari.workspace.session.session import Session


@record
class OpenedPlan:
    """A saved plan with the configuration that it was made from."""

    saved: SavedPlan
    context: PlanContext
    """To be closed by the caller."""
    outcome: PlanOutcome


async def open_plan(session: Session, path: str) -> OpenedPlan | None:
    """The plan in a file; None after reporting why it cannot be shown."""
    saved = session.read_plan(path)
    if saved is None:
        return None
    # Whoever made the plan has been warned already.
    told, found = Diagnostics(), None
    session.shown = plan_workspace(saved, session.where)
    taken = reopened(saved, session.shown, told)
    if taken is not None:
        found = await restored(taken, SILENCE, told)
    session.diags.extend(each for each in told if each.severity is Severity.ERROR)
    return None if found is None else OpenedPlan(saved, *found)

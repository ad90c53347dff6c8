"""The reasons of a plan that was made or read in a session."""

from __future__ import annotations

from nigari.diagnostics import Diagnostics
from nigari.plan.engine import PlanOutcome
from nigari.workspace.context.remembered_variables import load_remembered
from nigari.workspace.plans.plan_reasons import PlanReasons
from nigari.workspace.session.apply_journal import applied_inputs, journal_path
from nigari.workspace.session.session import Session


def plan_reasons(session: Session, outcome: PlanOutcome) -> PlanReasons:
    """Find the reasons of a plan, by the inputs of the last apply as far as they are known."""
    data, workspace = session.where.data_directory, outcome.inputs.run_settings.workspace
    earlier = applied_inputs(journal_path(str(data), workspace))
    if not earlier:
        earlier = load_remembered(data, workspace, Diagnostics())
    return PlanReasons(outcome, session.sources, earlier)

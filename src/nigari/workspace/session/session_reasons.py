"""The reasons of a plan that was made or read in a session."""

from __future__ import annotations

from nigari.diagnostics import Diagnostics
from nigari.plan.model.changes import Plan
from nigari.workspace.context.remembered_variables import load_remembered
from nigari.workspace.plans.plan_reasons import PlanReasons
from nigari.workspace.plans.planning import Planning
from nigari.workspace.session.apply_journal import applied_inputs, journal_path
from nigari.workspace.session.session import Session


def plan_reasons(session: Session, planning: Planning, plan: Plan) -> PlanReasons:
    """Why a plan does what it does, with the inputs of the last apply, as far as they are known."""
    data, workspace = session.where.data_directory, planning.workspace
    earlier = applied_inputs(journal_path(str(data), workspace))
    if not earlier:
        earlier = load_remembered(data, workspace, Diagnostics())
    return PlanReasons(planning, plan, session.sources, earlier)

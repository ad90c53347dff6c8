"""Saved plans as rules see them: to be looked at, whether or not they could still be applied."""

from __future__ import annotations

from nigari.workspace.session.made_plan import MadePlan
from nigari.workspace.session.opened_plan import open_plan
from nigari.workspace.session.plan_result import Plan
from nigari.workspace.session.session import Session


async def saved_plan(session: Session, path: str) -> Plan | None:
    """The plan in a file, to be looked at; None after reporting why it cannot be."""
    opened = await open_plan(session, path)
    if opened is None:
        return None
    await opened.context.close()
    saved = opened.saved
    made = MadePlan(
        session=session,
        context=opened.context,
        outcome=opened.outcome,
        snapshot=(saved.lineage, saved.serial),
        lock=saved.lock,
        read=saved.files,
        file=saved,
    )
    return Plan(made, ())

"""Saved plans as rules see them, whether or not they could still be applied."""

from __future__ import annotations

from nigari.workspace.session.made_plan import open_plan
from nigari.workspace.session.plan_result import Plan
from nigari.workspace.session.session import Session


async def saved_plan(session: Session, path: str) -> Plan | None:
    """Read the plan in a file; None after reporting why that is not possible."""
    made = await open_plan(session, path)
    if made is None:
        return None
    await made.context.close()
    return Plan(made, ())

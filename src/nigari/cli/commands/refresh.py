"""`nigari refresh`: bring the state up to date with what exists."""

from __future__ import annotations

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.plan_flags import REFRESH_FLAGS
from nigari.cli.plan_start import begin_planning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.workspace.session.locked_session import LockedSession


def run(invocation: Invocation) -> int:
    """Read everything and save what it is now, without asking."""
    begun = begin_planning(invocation)
    if begun is None:
        return 1
    from nigari.addrs.resource import MANAGED
    from nigari.cli.planning_command import PlanningCommand
    from nigari.plan.model.changes import PlanMode

    command = PlanningCommand(invocation, PlanMode.NORMAL, begun=begun)
    command.is_refresh = True

    async def work(locked: LockedSession) -> int:
        if not any(each.item.mode is MANAGED for each in locked.state.resources):
            command.diags.warning(
                "State is empty",
                "The state contains no objects, so there is nothing to refresh. Add objects with "
                '"nigari apply" or "nigari import".',
            )
        made = await command.plan(locked)
        if made is None or made.plan.is_incomplete:
            return 1
        return await command.store_found(locked, made)

    return command.run("OperationTypeRefresh", work)


COMMAND = Command(
    "refresh",
    "Reads every managed object and updates the state. Only the state is changed, without asking "
    "for approval; apply -refresh-only does the same but asks first.",
    run,
    flags=REFRESH_FLAGS,
    examples=(Example("nigari refresh", "updates the state"),),
)

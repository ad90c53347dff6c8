"""`nigari why`: why a plan changes something, and where the new values come from."""

from __future__ import annotations

import asyncio

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.plan_flags import PLAN_FLAGS, SHOWING_FLAGS
from nigari.cli.planning_command import PlanningCommand
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import SAYING_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG
from nigari.cli.views.plan_reasons import ReasonsJson
from nigari.plan.model.changes import Plan
from nigari.workspace.session.locked_session import LockedSession
from nigari.workspace.session.made_plan import MadePlan, open_plan


def run(invocation: Invocation) -> int:
    """Explain what is planned for an address."""
    if not invocation.arguments:
        raise UsageError("The command needs an address, such as aws_vpc.main or output.name.")
    if invocation.text("plan"):
        return run_command(invocation, _of_saved, tells_events=False)
    command = PlanningCommand(invocation, tells_events=False)

    async def work(locked: LockedSession) -> int:
        if not locked.has_configuration(command.mode):
            return 1
        made = await command.plan(locked)
        if made is None or made.plan.is_incomplete:
            return 1
        return 0 if _answer(command.presenter, made) else 1

    return command.run("OperationTypePlan", work)


async def _of_saved(presenter: Presenter) -> bool:
    # From here on there must be an event loop; who runs this makes one now.
    await asyncio.sleep(0)
    opened = await open_plan(presenter.session, presenter.invocation.text("plan"))
    if opened is None:
        return False
    try:
        return _answer(presenter, opened)
    finally:
        await opened.context.close()


def _answer(presenter: Presenter, made: MadePlan) -> bool:
    """Show the reasons; False after reporting that there is nothing to explain."""
    address = presenter.invocation.arguments[0]
    session, out = presenter.session, presenter.terminal.out
    found = made.reasons().about(address)
    if not found and not _is_there(made.plan, address):
        presenter.diags.error(
            "Nothing at this address",
            f"The plan has nothing named {address}. Name a resource, one of its instances, a "
            "module, an output as output.name, or an argument of one of them.",
        )
        return False
    if presenter.invocation.switch("json"):
        import json

        shown = ReasonsJson(session.sources, session.context_of)
        changes = [shown.change(each) for each in found]
        out(json.dumps({"address": address, "changes": changes}, indent=2, ensure_ascii=False))
    elif found:
        out("\n\n".join(str(each) for each in found))
    else:
        out(f"No change is planned for {address}.")
    return True


def _is_there(plan: Plan, address: str) -> bool:
    """Return whether a plan has considered the address without planning a change."""
    if address.startswith("output."):
        return address.removeprefix("output.") in plan.outputs
    return any(
        f"{each.address}.".startswith((f"{address}.", f"{address}["))
        or address.startswith(f"{each.address}.")
        for each in plan.changes
    )


_JSON = Flag("json", FLAG_SWITCH, "Print JSON")
_OTHERS = tuple(flag for flag in PLAN_FLAGS if flag not in (*SHOWING_FLAGS, *SAYING_FLAGS))

COMMAND = Command(
    "why",
    "Shows why a change is planned: where the new value of each argument comes from, down to "
    "variables, resources and data sources; what forces a replacement; why an object is "
    "destroyed; and what a value that is not known yet waits for. Without -plan, a plan is made "
    "first, as by the command plan. Nothing is changed.",
    run,
    flags=(
        Flag("plan", FLAG_TEXT, "Explain a saved plan", "FILE"),
        _JSON,
        NO_COLOR_FLAG,
        COMPACT_WARNINGS_FLAG,
        *_OTHERS,
    ),
    arguments="ADDRESS",
    most_arguments=1,
    examples=(
        Example("nigari why aws_instance.web", "why an object changes"),
        Example("nigari why -plan=plan.out aws_instance.web.ami", "one argument, in a saved plan"),
    ),
)

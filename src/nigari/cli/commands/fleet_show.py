"""`nigari fleet show`: a saved plan of a fleet, or the plan of one unit in it."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.fleet_details import show_unit_bytes
from nigari.cli.fleet_flags import CHOICE_FLAGS, FleetCommand
from nigari.cli.views.fleet_reports import plan_markdown
from nigari.cli.views.fleet_text import plan_summary
from nigari.cli.views.style import style_of
from nigari.diagnostics import Diagnostics
from nigari.fleet.runs.plan_file import read_fleet_plan, unit_plan


def run(invocation: Invocation) -> int:
    """Print the summary, or the details of the units that are chosen."""
    if not invocation.arguments:
        raise UsageError("The command needs the file of a saved plan.")
    path = invocation.arguments[0]
    command = FleetCommand(invocation)
    diags = Diagnostics()
    saved = read_fleet_plan(path, diags)
    if saved is None:
        command.show(diags)
        return 1
    plan = saved.plan
    if invocation.switch("markdown"):
        command.terminal.out(plan_markdown(plan))
        return 0
    choice = command.choice()
    if not choice.only and not choice.except_:
        command.terminal.out(plan_summary(plan, style_of(command.terminal)))
        return 0

    async def work(names: list[str]) -> int:
        is_shown = True
        for name in names:
            data = unit_plan(saved, name, path, diags)
            if data is not None:
                unit = command.found.units[name]
                is_shown = await show_unit_bytes(invocation, unit, data) and is_shown
        command.show(diags)
        return 0 if is_shown and not diags.has_errors else 1

    return command.run(work)


COMMAND = Command(
    "fleet show",
    "Shows a summary of a saved plan of a fleet, or, with -only, the plans of some units.",
    run,
    flags=(
        Flag("markdown", FLAG_SWITCH, "Print a summary in Markdown, for a pull request"),
        *CHOICE_FLAGS,
    ),
    arguments="PLAN",
    most_arguments=1,
    examples=(
        Example("nigari fleet show fleet.plan", ""),
        Example("nigari fleet show -only=app fleet.plan", "the plan of one unit"),
    ),
)

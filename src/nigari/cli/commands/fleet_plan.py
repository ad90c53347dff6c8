"""`nigari fleet plan`: what apply would do, in all units."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.fleet_details import show_unit_plan
from nigari.cli.fleet_flags import MARKDOWN_FLAG, ORPHANS_FLAG, STATE_FLAGS, FleetCommand
from nigari.cli.views.fleet_text import plan_summary
from nigari.cli.views.style import style_of
from nigari.fleet.runs.orphans import orphan_data, orphan_warning
from nigari.fleet.runs.plan_fleet import FleetPlan
from nigari.fleet.work.tasks import TaskOptions
from nigari.plan.model.changes import PlanMode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.cli.views.fleet_progress import FleetView

_CHANGES = 2


def run(invocation: Invocation) -> int:
    """Plan the fleet and show what it comes to."""
    command = FleetCommand(invocation)
    mode = PlanMode.DESTROY if invocation.switch("destroy") else PlanMode.NORMAL
    if command.is_about_orphans and mode is not PlanMode.DESTROY:
        raise UsageError("The option -orphans can be used only with -destroy.")

    async def work(names: list[str]) -> int:
        target, shows_all = invocation.text("out"), invocation.switch("details")
        plan = await make_plan(command, names, command.options(mode), bool(target) or shows_all)
        if target:
            command.fleet.save(plan, target)
            if not invocation.switch("json"):
                text = f'\nTo apply this plan, run: nigari fleet apply "{target}"'
                command.terminal.out(command.terminal.with_options(text))
        if shows_all or target:
            command.fleet.discard(plan)
        if plan.has_failed:
            return 1
        return _CHANGES if plan.changed and invocation.switch("detailed-exitcode") else 0

    return command.run(work)


async def make_plan(
    command: FleetCommand, names: list[str], options: TaskOptions, keep: bool
) -> FleetPlan:
    """Make a plan and show it, in all the ways that the command line asks for."""
    invocation = command.invocation
    view = command.view(len(names))
    plan = await command.fleet.plan(names, options, keep=keep, listen=view)
    view.end()
    command.warn(names)
    results = [each.result for each in plan.units.values()]
    command.report(results, "plan")
    if invocation.text("markdown"):
        from nigari.cli.views.fleet_reports import plan_markdown

        command.write(invocation.text("markdown"), plan_markdown(plan).encode())
    command.show_failures(results)
    if view.events is not None:
        add, change, destroy = plan.totals
        members = {"add": add, "change": change, "remove": destroy, "units": len(plan.changed)}
        view.events.event("Plan of the fleet", {"type": "fleet_plan", "changes": members})
        await _mention_orphans(command, options, view)
        return plan
    if invocation.switch("details"):
        for name in plan.changed:
            await show_unit_plan(invocation, command.found.units[name], plan.units[name].path)
    command.terminal.out("\n" + plan_summary(plan, style_of(command.terminal)))
    await _mention_orphans(command, options, view)
    return plan


async def _mention_orphans(command: FleetCommand, options: TaskOptions, view: FleetView) -> None:
    """Say which units are not declared any more and still have objects."""
    if command.is_about_orphans:
        return
    found = await command.fleet.orphans(options)
    if found and view.events is not None:
        units = [orphan_data(each) for each in found]
        text = "Units that are no longer declared"
        view.events.event(text, {"type": "fleet_orphans", "units": units})
    elif found:
        command.show([orphan_warning(found, command.fleet.known_file)])


DETAILS_FLAG = Flag("details", FLAG_SWITCH, "Show the plan of each unit, too")
REFRESH_FLAG = Flag(
    "refresh", FLAG_SWITCH, "Do not read the real objects: trust the states", default="true"
)

COMMAND = Command(
    "fleet plan",
    "Plans all units, each with the planned outputs of its dependencies. Outputs that are not known "
    "yet are known after apply. Nothing is changed.",
    run,
    flags=(
        Flag("out", FLAG_TEXT, "Save the plan to a file, for fleet apply", "FILE"),
        Flag("destroy", FLAG_SWITCH, "Plan to destroy everything that is managed in the units"),
        ORPHANS_FLAG,
        DETAILS_FLAG,
        MARKDOWN_FLAG,
        REFRESH_FLAG,
        Flag(
            "detailed-exitcode",
            FLAG_SWITCH,
            "Exit with 0 if there is nothing to change, 2 if there is, and 1 after an error",
        ),
        *STATE_FLAGS,
    ),
    examples=(
        Example("nigari fleet plan", "what would be done in all units"),
        Example("nigari fleet plan -only=+app -details", "one unit and its dependencies"),
        Example(
            "nigari fleet plan -changed-since=origin/main -out=fleet.plan", "for a pull request"
        ),
    ),
)

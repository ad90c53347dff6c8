"""`nigari fleet drift`: whether the real objects still are what the states say."""

from __future__ import annotations

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.fleet_flags import MARKDOWN_FLAG, STATE_FLAGS, FleetCommand
from nigari.cli.views.fleet_text import drift_text
from nigari.plan.model.changes import PlanMode

_DRIFTED = 2


def run(invocation: Invocation) -> int:
    """Look at all objects and report those that have changed."""
    command = FleetCommand(invocation)

    async def work(names: list[str]) -> int:
        view = command.view(len(names))
        options = command.options(PlanMode.REFRESH_ONLY)
        plan = await command.fleet.plan(names, options, keep=False, listen=view)
        view.end()
        results = [each.result for each in plan.units.values()]
        command.report(results, "drift")
        path = invocation.text("markdown")
        if path:
            from nigari.cli.views.fleet_reports import drift_markdown

            command.write(path, drift_markdown(plan).encode())
        command.show_failures(results)
        if view.events is not None:
            members = {"type": "fleet_drift", "units": plan.drifted}
            view.events.event("Drift of the fleet", members)
        else:
            command.terminal.out(drift_text(plan))
        if plan.has_failed:
            return 1
        return _DRIFTED if plan.drifted else 0

    return command.run(work)


COMMAND = Command(
    "fleet drift",
    "Reads all real objects and reports those that are not what the states say. Nothing is changed. "
    "The exit status is 2 if anything has drifted.",
    run,
    flags=(*STATE_FLAGS, MARKDOWN_FLAG),
    examples=(
        Example("nigari fleet drift", ""),
        Example("nigari fleet drift -markdown=drift.md", "for an issue or a message"),
        Example("nigari fleet drift -json -only=label:prod", "for a job that runs every night"),
    ),
)

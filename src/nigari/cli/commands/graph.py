"""`nigari graph`: the operations of a plan and their order."""

from __future__ import annotations

import json

from nigari.backends.snapshots import Snapshots
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.planned import PLAN_FLAGS, PlanningCommand
from nigari.cli.stored_state import JSON_FLAG


def run(invocation: Invocation) -> int:
    """Make a plan and print what it does, in which order."""
    command = PlanningCommand(invocation)

    async def work(snapshots: Snapshots) -> int:
        plan = await command.plan(snapshots)
        if plan is None or command.planning is None:
            return 1
        graph = command.planning.graph(plan)
        is_data = invocation.switch("as-json")
        text = json.dumps(graph.to_json(), indent=2) if is_data else graph.to_dot()
        invocation.terminal.out(text)
        return 0

    return command.run("OperationTypePlan", work)


COMMAND = Command(
    "graph",
    "Makes a plan and prints its operations with what must be done before each, in the language "
    "of Graphviz or as JSON.",
    run,
    flags=(
        Flag("as-json", FLAG_SWITCH, "Print the graph as a JSON document"),
        *[flag for flag in PLAN_FLAGS if flag is not JSON_FLAG],
    ),
    examples=(Example("nigari graph | dot -Tsvg > plan.svg", "as a picture"),),
)

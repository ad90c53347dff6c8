"""`nigari graph`: what needs what, among the operations of a plan or in a configuration."""

from __future__ import annotations

import json

from nigari.cli.args import UsageError
from nigari.cli.command import (
    FLAG_SWITCH,
    FLAG_TEXT,
    Command,
    Example,
    Flag,
    Invocation,
)
from nigari.cli.plan_flags import PLAN_FLAGS, SHOWING_FLAGS, whole_number
from nigari.cli.planning_command import PlanningCommand
from nigari.cli.presenter import Presenter
from nigari.cli.state_flags import JSON_FLAG
from nigari.cli.views.graph_dot import blocks_data, blocks_dot, operations_dot
from nigari.events import SILENCE
from nigari.plan.model.changes import PlanMode
from nigari.plan.model.execution_graph import ExecutionGraph
from nigari.workspace.session.locked_session import LockedSession

_OPERATIONS = "apply"
_MODES = {
    "plan": PlanMode.NORMAL,
    "plan-destroy": PlanMode.DESTROY,
    "plan-refresh-only": PlanMode.REFRESH_ONLY,
}


def run(invocation: Invocation) -> int:
    """Print a graph; whatever else there is to say goes where errors go."""
    kind = invocation.text("type")
    if kind not in (_OPERATIONS, *_MODES):
        raise UsageError(f'The option -type must be apply, {", ".join(_MODES)}, not "{kind}".')
    whole_number(invocation, "module-depth")
    path = invocation.text("plan")
    if path and kind == _OPERATIONS:
        return _print_saved(_talking_elsewhere(invocation), invocation, path)
    command = PlanningCommand(_talking_elsewhere(invocation))
    command.listener = SILENCE
    command.asks_variables = kind == _OPERATIONS

    async def work(locked: LockedSession) -> int:
        text = await _text(command, locked, kind)
        if text is None:
            return 1
        invocation.terminal.out(text)
        return 0

    return command.run("OperationTypePlan", work)


def _print_saved(quiet: Invocation, invocation: Invocation, path: str) -> int:
    """Print the operations of a plan, which needs nothing but its file."""
    presenter = Presenter(quiet)
    saved = presenter.session.read_plan(path)
    if saved is not None:
        invocation.terminal.out(_graph_text(saved.graph, invocation))
    return presenter.end(saved is not None)


def _talking_elsewhere(invocation: Invocation) -> Invocation:
    given, terminal = invocation, invocation.terminal.only_err()
    return Invocation(given.command, terminal, given.flags, given.ordered, given.arguments)


async def _text(command: PlanningCommand, locked: LockedSession, kind: str) -> str | None:
    if kind in _MODES:
        blocks = await locked.blocks()
        if blocks is None:
            return None
        is_data = command.invocation.switch("as-json")
        return json.dumps(blocks_data(blocks), indent=2) if is_data else blocks_dot(blocks)
    made = await command.plan(locked)
    if made is None or made.plan.is_incomplete:
        return None
    return _graph_text(made.outcome.graph, command.invocation)


def _graph_text(graph: ExecutionGraph, invocation: Invocation) -> str:
    is_data = invocation.switch("as-json")
    return json.dumps(graph.to_json(), indent=2) if is_data else operations_dot(graph)


COMMAND = Command(
    "graph",
    "Makes a plan and prints its operations with their dependencies, in Graphviz format or as "
    "JSON. With -type=plan it prints the dependencies between the blocks of the configuration "
    "instead.",
    run,
    flags=(
        Flag("as-json", FLAG_SWITCH, "Print the graph as a JSON document"),
        Flag("plan", FLAG_TEXT, "Print the operations of a saved plan", "FILE"),
        Flag(
            "type",
            FLAG_TEXT,
            "What to print: the operations of a plan (apply), or the blocks of the configuration "
            "(plan, plan-destroy, plan-refresh-only)",
            "TYPE",
            _OPERATIONS,
        ),
        Flag("draw-cycles", FLAG_SWITCH, "Accepted for compatibility; cycles are always errors"),
        Flag("verbose", FLAG_SWITCH, "Accepted for compatibility; the graph is always complete"),
        Flag(
            "module-depth", FLAG_TEXT, "Accepted for compatibility; has no effect", "NUMBER", "-1"
        ),
        *[flag for flag in PLAN_FLAGS if flag not in (JSON_FLAG, *SHOWING_FLAGS)],
    ),
    examples=(
        Example("nigari graph | dot -Tsvg > plan.svg", "what an apply would do, as a picture"),
        Example("nigari graph -type=plan", "the dependencies in the configuration"),
    ),
)

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
from nigari.cli.views.graph_dot import (
    blocks_data,
    blocks_dot,
    blocks_mermaid,
    operations_dot,
    operations_mermaid,
)
from nigari.events import SILENCE
from nigari.plan.model.changes import PlanMode
from nigari.plan.model.execution_graph import ExecutionGraph
from nigari.workspace.session.locked_session import LockedSession

_GRAPHVIZ, _MERMAID = "dot", "mermaid"
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
    language = invocation.text("format")
    if language not in (_GRAPHVIZ, _MERMAID):
        raise UsageError(f'The option -format must be {_GRAPHVIZ} or {_MERMAID}, not "{language}".')
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
        if command.invocation.switch("as-json"):
            return json.dumps(blocks_data(blocks), indent=2)
        return blocks_mermaid(blocks) if _is_mermaid(command.invocation) else blocks_dot(blocks)
    made = await command.plan(locked)
    if made is None or made.plan.is_incomplete:
        return None
    return _graph_text(made.outcome.graph, command.invocation)


def _graph_text(graph: ExecutionGraph, invocation: Invocation) -> str:
    if invocation.switch("as-json"):
        return json.dumps(graph.to_json(), indent=2)
    return operations_mermaid(graph) if _is_mermaid(invocation) else operations_dot(graph)


def _is_mermaid(invocation: Invocation) -> bool:
    return invocation.text("format") == _MERMAID


COMMAND = Command(
    "graph",
    "Makes a plan and prints its operations with their dependencies, for Graphviz, Mermaid "
    "or as JSON. With -type=plan it prints the dependencies between the blocks of the configuration "
    "instead.",
    run,
    flags=(
        Flag("as-json", FLAG_SWITCH, "Print the graph as a JSON document"),
        Flag(
            "format",
            FLAG_TEXT,
            "The language of the graph: dot (Graphviz) or mermaid",
            "LANGUAGE",
            _GRAPHVIZ,
        ),
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
        Example("nigari graph -format=mermaid", "for Markdown pages that draw Mermaid"),
        Example("nigari graph -type=plan", "the dependencies in the configuration"),
    ),
)

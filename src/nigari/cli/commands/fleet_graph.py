"""`nigari fleet graph`: the dependencies between units, with their reasons."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.fleet_flags import CHOICE_FLAGS, FleetCommand
from nigari.cli.views.fleet_graph import graph_dot, graph_page, graph_text
from nigari.diagnostics import Severity
from nigari.fleet.units.documents import graph_document

_FORMATS = ("text", "dot", "json", "html")


def run(invocation: Invocation) -> int:
    """Print the graph, also one that has cycles."""
    wanted = "json" if invocation.switch("json") else invocation.text("format")
    if wanted not in _FORMATS:
        raise UsageError(f'The option -format must be {", ".join(_FORMATS)}, not "{wanted}".')
    command = FleetCommand(invocation)
    found = command.found
    wrong = [each for each in command.diags if each.severity is Severity.ERROR]
    is_whole = not found.has_errors or bool(found.graph.cycles)
    names = list(found.units) if wrong else command.chosen()
    if names is None or not is_whole:
        command.show(wrong)
        return 1
    if wanted == "json":
        import json

        text = json.dumps(graph_document(found, names), indent=2, ensure_ascii=False)
    else:
        text = {"text": graph_text, "dot": graph_dot, "html": graph_page}[wanted](found, names)
    command.terminal.out(text.rstrip("\n"))
    command.show(wrong)
    command.warn(names)
    command.show(found.uninstalled(names))
    return 1 if wrong else 0


COMMAND = Command(
    "fleet graph",
    "Shows the dependencies between units. A unit depends on another if it reads its state, gets its "
    "outputs in fleet.hcl, or names it in depends_on. Cycles and states that no unit writes are "
    "reported with their locations.",
    run,
    flags=(
        Flag("format", FLAG_TEXT, "How to print it: text, dot, json or html", "FORMAT", "text"),
        Flag("json", FLAG_SWITCH, "The same as -format=json"),
        *CHOICE_FLAGS,
    ),
    examples=(
        Example("nigari fleet graph", ""),
        Example("nigari fleet graph -format=dot | dot -Tsvg > fleet.svg", "as a picture"),
        Example("nigari fleet graph -only=+app", "the dependencies of app"),
    ),
)

"""`nigari fleet list`: the units of the fleet below the working directory."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.fleet_flags import CHOICE_FLAGS, FleetCommand
from nigari.cli.views.fleet_text import columns
from nigari.fleet.runs.orphans import orphan_data, undeclared_warning
from nigari.fleet.units.documents import units_document
from nigari.workspace.session.failure import SessionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_MOST_NEEDS: Final = 3
"""The most dependencies of a unit that are listed; the others are counted."""


def run(invocation: Invocation) -> int:
    """Print the units."""
    command = FleetCommand(invocation)
    names = command.chosen()
    if names is None:
        return 1
    found = command.found
    try:
        undeclared = command.fleet.undeclared()
    except SessionError as error:
        command.show(error.diagnostics)
        return 1
    if invocation.switch("json"):
        import json

        document = units_document(found, names)
        document["orphans"] = [orphan_data(each) for each in undeclared]
        command.terminal.out(json.dumps(document, indent=2, ensure_ascii=False))
    elif invocation.switch("names"):
        for name in names:
            command.terminal.out(name)
    else:
        rows = [("UNIT", "DIRECTORY", "WORKSPACE", "LABELS", "NEEDS")]
        for name in names:
            unit, needs = found.units[name], found.graph.needs[name]
            labels = ", ".join(unit.labels)
            rows.append((name, unit.directory, unit.workspace or "", labels, _shown(needs)))
        nothing = "No unit is selected." if found.units else "There are no units here."
        command.terminal.out(columns(rows) if names else nothing)
    command.warn(names)
    if undeclared:
        command.show([undeclared_warning(undeclared)])
    command.show(found.uninstalled(names))
    problems = [each for name in names for each in found.mistakes(name)]
    command.show(problems)
    return 1 if problems else 0


def _shown(needs: Sequence[str]) -> str:
    """The names of some units, and how many more there are."""
    if len(needs) <= _MOST_NEEDS + 1:
        return ", ".join(needs)
    return f"{', '.join(needs[:_MOST_NEEDS])} and {len(needs) - _MOST_NEEDS} more"


COMMAND = Command(
    "fleet list",
    "Lists the units below the working directory: directories with configuration that no other one "
    "calls as a module, and what fleet.hcl declares. Nothing is run.",
    run,
    flags=(
        Flag("json", FLAG_SWITCH, "Print a JSON document"),
        Flag("names", FLAG_SWITCH, "Print names only"),
        *CHOICE_FLAGS,
    ),
    examples=(
        Example("nigari fleet list", ""),
        Example("nigari fleet list -changed-since=origin/main", "what a change affects"),
        Example("nigari fleet list -only=network+ -names", "the network and what depends on it"),
    ),
)

"""`nigari fleet output`: the output values of all units."""

from __future__ import annotations

import json

from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.fleet_flags import CHOICE_FLAGS, RUNNING_FLAGS, FleetCommand
from nigari.cty.json import value_to_json
from nigari.cty.type_json import type_to_json
from nigari.fleet.runs.results import FleetResult
from nigari.fleet.work.tasks import Kind, Outputs
from nigari.lang.marks import SENSITIVE
from nigari.lang.render import value_display


def run(invocation: Invocation) -> int:
    """Print the outputs, unit by unit."""
    command = FleetCommand(invocation)

    async def work(names: list[str]) -> int:
        result = await command.fleet.each(Kind.OUTPUT, names, command.options())
        command.show_failures(result.units.values())
        if invocation.switch("json"):
            command.terminal.out(json.dumps(_document(result), indent=2, ensure_ascii=False))
        else:
            command.terminal.out(_text(result) or "There are no outputs.")
        return 1 if result.has_failed else 0

    return command.run(work)


def _document(result: FleetResult) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, each in result.units.items():
        if each.is_done:
            found[name] = {
                output: {
                    "sensitive": SENSITIVE in value.marks,
                    "type": json.loads(type_to_json(value.type)),
                    "value": json.loads(value_to_json(value.unmark_deep()[0], value.type)),
                }
                for output, value in (each.outputs or {}).items()
            }
    return found


def _text(result: FleetResult) -> str:
    parts = [
        f"{name}:\n{_lines(each.outputs)}" for name, each in result.units.items() if each.outputs
    ]
    return "\n\n".join(parts)


def _lines(outputs: Outputs) -> str:
    return "\n".join(
        f"  {name} = {'<sensitive>' if SENSITIVE in value.marks else value_display(value)}"
        for name, value in outputs.items()
    )


COMMAND = Command(
    "fleet output",
    "Prints the output values in the states of all units. With -json, sensitive values are shown.",
    run,
    flags=(
        *CHOICE_FLAGS,
        *(flag for flag in RUNNING_FLAGS if flag.name == "jobs"),
        Flag("json", FLAG_SWITCH, "Print a JSON document"),
    ),
    examples=(Example("nigari fleet output -only=network -json", ""),),
)

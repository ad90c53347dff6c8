"""`nigari fleet config`: the units of a fleet as plain configurations."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import Command, Example, Invocation
from nigari.cli.fleet_flags import CHOICE_FLAGS, FleetCommand
from nigari.cli.plain_flags import PLAIN_FLAGS, plain_target
from nigari.fleet.runs.plain_copies import write_plain_units
from nigari.fleet.units.graph_loader import FleetSources


def run(invocation: Invocation) -> int:
    """Write the units."""
    out = invocation.text("out")
    if not invocation.switch("plain") or not out:
        raise UsageError("The command takes the options -plain and -out=DIR.")
    target = plain_target(invocation)
    command = FleetCommand(invocation)
    names = command.chosen()
    if names is None:
        return 1
    is_partial = invocation.switch("partial")
    done = write_plain_units(
        command.found, names, out, command.environ, target, is_partial, command.diags
    )
    is_written = bool(done) and all(each.is_written for each in done)
    for each in done:
        command.show(each.diagnostics, FleetSources(command.found.root, each.sources))
        if is_written:
            unit = command.found.units[each.name]
            workspace = f", in the workspace {unit.workspace}" if unit.workspace else ""
            command.terminal.out(f"{out}/{each.directory} has {each.name}{workspace}.")
    command.show(command.diags)
    return 0 if is_written else 1


COMMAND = Command(
    "fleet config",
    "Writes the units of the fleet as configurations that OpenTofu or Terraform runs one by one, as "
    "config -plain does with one, with the values of their variables. Nothing is written if "
    "something cannot be expressed, such as a value that comes from another unit.",
    run,
    flags=(*PLAIN_FLAGS, *CHOICE_FLAGS),
    examples=(Example("nigari fleet config -plain -out=../plain", "all units, for OpenTofu"),),
)

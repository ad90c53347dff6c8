"""`nigari fleet validate`: check the configurations of all units."""

from __future__ import annotations

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.commands.fleet_init import run_each
from nigari.cli.fleet_flags import RUNNING_FLAGS
from nigari.fleet.work.tasks import Kind


def run(invocation: Invocation) -> int:
    """Validate the units side by side."""
    return run_each(invocation, Kind.VALIDATE)


COMMAND = Command(
    "fleet validate",
    "Checks the configurations of all units, as validate checks one.",
    run,
    flags=RUNNING_FLAGS,
    examples=(
        Example("nigari fleet validate -changed-since=origin/main", "what a change affects"),
    ),
)

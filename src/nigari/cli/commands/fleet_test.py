"""`nigari fleet test`: run the tests of all units."""

from __future__ import annotations

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.commands.fleet_init import run_each
from nigari.cli.fleet_flags import RUNNING_FLAGS
from nigari.fleet.work.tasks import Kind


def run(invocation: Invocation) -> int:
    """Test the units side by side."""
    return run_each(invocation, Kind.TEST)


COMMAND = Command(
    "fleet test",
    "Runs the test files of all units, as test runs those of one. What they create is real "
    "unless it is mocked.",
    run,
    flags=RUNNING_FLAGS,
    examples=(Example("nigari fleet test -changed-since=origin/main", "what a change affects"),),
)

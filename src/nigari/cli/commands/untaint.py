"""`nigari untaint`: take back that an object is to be replaced."""

from __future__ import annotations

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.commands.taint import TAINT_FLAGS, change_mark
from nigari.cli.presenter import Presenter, run_command
from nigari.state.edit import untaint


async def _untaint(presenter: Presenter) -> bool:
    return await change_mark(presenter, "untaint", untaint, "successfully untainted")


def run(invocation: Invocation) -> int:
    """Take the mark away."""
    return run_command(invocation, _untaint)


COMMAND = Command(
    "untaint",
    "Removes the mark that taint, or a failed creation, has left on an object, so that the next "
    "apply does not replace it.",
    run,
    flags=TAINT_FLAGS,
    arguments="ADDRESS",
    most_arguments=1,
    examples=(Example("nigari untaint aws_instance.web", ""),),
)

"""`nigari destroy`: destroy everything that is managed here."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import Command, Example, Invocation
from nigari.cli.commands.apply import apply
from nigari.cli.plan_options import APPLY_FLAGS, plan_mode
from nigari.cli.planned import PlanningCommand
from nigari.plan.changes import PlanMode


def run(invocation: Invocation) -> int:
    """Plan the end of everything, ask, and do it."""
    if plan_mode(invocation) is not PlanMode.NORMAL:
        raise UsageError(
            "This command destroys: the options for other kinds of plan are not for it."
        )
    return apply(PlanningCommand(invocation, PlanMode.DESTROY))


COMMAND = Command(
    "destroy",
    "Destroys everything that the state of this directory knows of, once you agree. It is the "
    "same as apply -destroy.",
    run,
    flags=APPLY_FLAGS,
    examples=(Example("nigari destroy", "asks before anything is destroyed"),),
)

"""`nigari workspace show`: the name of the selected workspace."""

from __future__ import annotations

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG


async def _show(presenter: Presenter) -> bool:
    selected = presenter.session.where.selected(presenter.diags)
    if presenter.diags.has_errors:
        return False
    presenter.say(selected.name)
    return True


def run(invocation: Invocation) -> int:
    """Print the name."""
    return run_command(invocation, _show)


COMMAND = Command(
    "workspace show",
    "Prints the name of the selected workspace.",
    run,
    flags=(*VARIABLE_FLAGS, NO_COLOR_FLAG, COMPACT_WARNINGS_FLAG),
    examples=(Example("nigari workspace show", ""),),
)

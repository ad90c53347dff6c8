"""`nigari state pull`: the state as it is stored, without its encryption."""

from __future__ import annotations

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG
from nigari.state.files import format_state


async def _pull(presenter: Presenter) -> bool:
    snapshots = await presenter.session.read()
    if snapshots is None:
        return False
    if snapshots.file is not None:
        text = format_state(snapshots.file, is_for_people=False).decode("utf-8", "surrogateescape")
        presenter.terminal.out(text)
    return True


def run(invocation: Invocation) -> int:
    """Print the state."""
    return run_command(invocation, _pull)


COMMAND = Command(
    "state pull",
    "Prints the current state of the selected workspace as JSON, wherever it is stored, in the "
    "current format and decrypted: secrets in it are readable. If there is no state yet, nothing "
    "is printed.",
    run,
    flags=(*VARIABLE_FLAGS, NO_COLOR_FLAG, COMPACT_WARNINGS_FLAG),
    examples=(Example("nigari state pull > copy.tfstate", "keeps a copy"),),
)

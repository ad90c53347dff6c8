"""`nigari state list`: the addresses of everything in the state."""

from __future__ import annotations

from nigari.cli.command import FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import READING_FLAGS
from nigari.state.selection import select, with_id


async def _list(presenter: Presenter) -> bool:
    snapshots = await presenter.session.read()
    targets = presenter.targets()
    if snapshots is None or presenter.diags.has_errors:
        return False
    given = presenter.invocation.text("state")
    if given and snapshots.file is None:
        presenter.diags.error("No state file", f"There is no state in {given}.")
        return False
    found = select(snapshots.state, targets, presenter.diags)
    wanted = presenter.invocation.text("id")
    if wanted:
        found = with_id(snapshots.state, found, wanted)
    if not presenter.diags.has_errors:
        for address in found:
            presenter.say(address.text, address.text, {"type": "resource_address"})
    return True


def run(invocation: Invocation) -> int:
    """Print the addresses."""
    return run_command(invocation, _list)


COMMAND = Command(
    "state list",
    "Prints the addresses of the resource instances in the state, one per line: all of them, or "
    "those that match the given addresses. The address of a module matches everything in it, and "
    "that of a resource all of its instances. If there is no state yet, nothing is printed.",
    run,
    flags=(Flag("id", FLAG_TEXT, "Only instances with this ID", "ID"), *READING_FLAGS),
    arguments="[ADDRESS...]",
    most_arguments=-1,
    examples=(
        Example("nigari state list", "everything"),
        Example("nigari state list module.net", "everything in a module"),
    ),
)

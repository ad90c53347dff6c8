"""`nigari state list`: the addresses of everything in the state."""

from __future__ import annotations

from nigari.cli.command import FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.stored_state import READING_FLAGS, OpenState, run_command
from nigari.state.edit import select, with_id


async def _list(state: OpenState) -> bool:
    snapshots = await state.read()
    targets = state.targets()
    if snapshots is None or state.diags.has_errors:
        return False
    given = state.invocation.text("state")
    if given and snapshots.file is None:
        state.diags.error("No state file", f"There is no state in {given}.")
        return False
    found = select(snapshots.state, targets, state.diags)
    wanted = state.invocation.text("id")
    if wanted:
        found = with_id(snapshots.state, found, wanted)
    if not state.diags.has_errors:
        for address in found:
            state.say(address.text, address.text, {"type": "resource_address"})
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

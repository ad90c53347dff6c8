"""`nigari import`: take over an object that exists."""

from __future__ import annotations

from nigari.addrs.parse import parse_resource_instance
from nigari.addrs.resource import MANAGED
from nigari.backends.snapshots import Snapshots
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.plan_options import PARALLELISM_FLAG
from nigari.cli.planned import PlanningCommand
from nigari.cli.prompt import INPUT_FLAG
from nigari.cli.stored_state import (
    BACKUP_FLAG,
    LOCK_FLAGS,
    REMOTE_VERSION_FLAG,
    SAYING_FLAGS,
    STATE_FLAG,
    STATE_OUT_FLAG,
)
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.plan.changes import PlanMode
from nigari.plan.imports import ImportTarget
from nigari.plan.look_up import LookUp
from nigari.state.draft import StateDraft


def run(invocation: Invocation) -> int:
    """Find an object and make it part of the state."""
    command = PlanningCommand(invocation, PlanMode.NORMAL)
    if len(invocation.arguments) != 2:
        raise UsageError("The command needs an address and an ID.")
    text, id_ = invocation.arguments
    command.state.directory = invocation.text("config")
    address = command.state.address(parse_resource_instance, text)
    if address is None:
        return command.state.end(False)
    if address.item.resource.mode is not MANAGED:
        raise UsageError(f"Only managed resources can be imported, and {address} is not one.")
    target = ImportTarget(address, id_)

    async def work(snapshots: Snapshots) -> int:
        stored = snapshots.state.instance(address)
        if stored is not None and stored.current is not None:
            command.diags.error(
                "Address already in use",
                f"There is already an object at {address}. To import another object to this "
                "address, first remove the existing one from the state or move it to another "
                "address.",
            )
            return 1
        found = await command.look_up(target, snapshots)
        if not found:
            return 1
        return await _store(command, found[0], snapshots)

    return command.run("import", work)


async def _store(command: PlanningCommand, found: LookUp, snapshots: Snapshots) -> int:
    if found.found is None or found.provider is None:
        return 1
    draft = StateDraft(command.state.as_shown(snapshots.state))
    draft.set_current(found.target.address, found.found.stored, found.provider.address)
    if not await snapshots.write(draft.finish(), command.diags):
        return 1
    text = f"Import successful! {found.target.address} is now in the state and managed here."
    command.state.say(f"\n{command.state.prose(text)}", text.removesuffix("."))
    return 0


COMMAND = Command(
    "import",
    "Looks up an existing object by the ID that its provider uses, and adds it to the state at "
    "an address of the configuration. Only the state is changed.",
    run,
    flags=(
        Flag("config", FLAG_TEXT, "The directory with the configuration", "DIR", "."),
        PARALLELISM_FLAG,
        INPUT_FLAG,
        *LOCK_FLAGS,
        STATE_FLAG,
        STATE_OUT_FLAG,
        BACKUP_FLAG,
        REMOTE_VERSION_FLAG,
        *VARIABLE_FLAGS,
        *SAYING_FLAGS,
    ),
    arguments="ADDRESS ID",
    most_arguments=2,
    examples=(Example("nigari import aws_instance.web i-abcd1234", "imports a machine"),),
)

"""`nigari import`: take over an object that exists."""

from __future__ import annotations

from nigari.addrs.parse import parse_resource_instance
from nigari.addrs.resource import MANAGED
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.plan_flags import PARALLELISM_FLAG
from nigari.cli.planning_command import PlanningCommand
from nigari.cli.prompt import INPUT_FLAG
from nigari.cli.state_flags import (
    BACKUP_FLAG,
    LOCK_FLAGS,
    REMOTE_VERSION_FLAG,
    SAYING_FLAGS,
    STATE_FLAG,
    STATE_OUT_FLAG,
)
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.plan.model.changes import PlanMode
from nigari.plan.nodes.imports import ImportTarget
from nigari.workspace.session.locked_session import LockedSession


def run(invocation: Invocation) -> int:
    """Find an object and make it part of the state."""
    command = PlanningCommand(invocation, PlanMode.NORMAL, invocation.text("config"))
    presenter = command.presenter
    if len(invocation.arguments) != 2:
        raise UsageError("The command needs an address and an ID.")
    text, id_ = invocation.arguments
    address = presenter.address(parse_resource_instance, text)
    if address is None:
        return presenter.end(False)
    if address.item.resource.mode is not MANAGED:
        raise UsageError(f"Only managed resources can be imported, and {address} is not one.")
    target = ImportTarget(address, id_)

    async def work(locked: LockedSession) -> int:
        if not await command.import_object(target, locked):
            return 1
        text = f"Import successful! {address} is now in the state and managed here."
        presenter.say(f"\n{presenter.prose(text)}", text.removesuffix("."))
        return 0

    return command.run("import", work)


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

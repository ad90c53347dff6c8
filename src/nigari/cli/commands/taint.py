"""`nigari taint` and `nigari untaint`: whether an object is to be replaced."""

from __future__ import annotations

from collections.abc import Callable

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.resource import MANAGED
from nigari.backends.snapshots import Snapshots
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.stored_state import EDITING_FLAGS, SAYING_FLAGS, OpenState, run_command
from nigari.diagnostics import Diagnostics
from nigari.state.edit import taint
from nigari.state.model import State

TAINT_FLAGS = (
    Flag("allow-missing", FLAG_SWITCH, "Succeed even if there is no such instance"),
    Flag("state-out", FLAG_TEXT, "Write the state to this file instead", "FILE"),
    *EDITING_FLAGS,
    *SAYING_FLAGS,
)


async def change_mark(
    state: OpenState,
    operation: str,
    mark: Callable[[State, AbsResourceInstance, Diagnostics], State | None],
    done: str,
) -> bool:
    """Change the mark of the object that the command line names."""
    address = state.only_instance()
    if address is None:
        return False
    marked = address
    if marked.item.resource.mode is not MANAGED:
        _report_not_managed(marked, operation, state.diags)
        return False

    async def change(snapshots: Snapshots) -> bool:
        known = snapshots.state.instance(marked)
        if known is None and state.invocation.switch("allow-missing"):
            _warn_of_missing(marked, state.diags)
            return True
        changed = mark(snapshots.state, marked, state.diags)
        if changed is None or not await snapshots.write(changed, state.diags):
            return False
        text = f"Resource instance {marked} has been {done}."
        state.say(text, text)
        return True

    snapshots = state.working.snapshots(state.encryption, state.diags, state.files)
    return await state.edit(snapshots, operation, change)


def _report_not_managed(address: AbsResourceInstance, operation: str, diags: Diagnostics) -> None:
    diags.error(
        "Not a managed resource",
        f"{address} is not a managed resource, so it cannot be used with {operation}.",
        address=address.text,
    )


def _warn_of_missing(address: AbsResourceInstance, diags: Diagnostics) -> None:
    diags.warning(
        "No such resource instance",
        f"{address} is not in the state; because of -allow-missing, this is not an error.",
    )


async def _taint(state: OpenState) -> bool:
    return await change_mark(state, "taint", taint, "marked as tainted")


def run(invocation: Invocation) -> int:
    """Mark the object."""
    return run_command(invocation, _taint)


COMMAND = Command(
    "taint",
    "Marks the object of a resource instance as damaged, so that the next apply replaces it. The "
    "real object is not changed now. To see and approve the replacement in one step, use plan or "
    "apply with -replace instead.",
    run,
    flags=TAINT_FLAGS,
    arguments="ADDRESS",
    most_arguments=1,
    examples=(Example("nigari taint 'aws_instance.web[0]'", "one of several instances"),),
)

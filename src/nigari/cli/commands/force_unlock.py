"""`nigari force-unlock`: remove a lock that a dead process left behind."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import SAYING_FLAGS
from nigari.cli.variables import VARIABLE_FLAGS


async def _unlock(presenter: Presenter) -> bool:
    if len(presenter.invocation.arguments) != 1:
        raise UsageError(
            "The command needs the ID of the lock, which the command that failed printed."
        )
    states = presenter.session.states
    backend, selected = states.backend(presenter.diags), states.selected(presenter.diags)
    if backend is None or presenter.diags.has_errors:
        return False
    if not presenter.invocation.switch("force"):
        question = f"Remove the lock on the state of the workspace {selected.name}?"
        answer = presenter.ask(question, "force")
        if answer is None:
            return False
        if answer != "yes":
            presenter.say("force-unlock cancelled.")
            return False
    lock_id = presenter.invocation.arguments[0]
    if not await presenter.session.force_unlock(lock_id):
        return False
    presenter.say("The lock was removed. The state can be locked again.")
    return True


def run(invocation: Invocation) -> int:
    """Remove the lock."""
    return run_command(invocation, _unlock)


COMMAND = Command(
    "force-unlock",
    "Removes a lock on the state whose holder no longer runs. A lock on a local file ends with "
    "the process that took it, so only the information it left behind is removed; a lock whose "
    "holder is still running is never removed.",
    run,
    flags=(
        Flag("force", FLAG_SWITCH, "Do not ask for confirmation"),
        *VARIABLE_FLAGS,
        *SAYING_FLAGS,
    ),
    arguments="LOCK_ID",
    most_arguments=1,
    examples=(Example("nigari force-unlock 4c9a5e5c-3a07-0d4b-93ae-3d6cfcf0b0a5", ""),),
)

"""`nigari query`: search for existing objects, as the query files of the directory describe."""

from __future__ import annotations

from nigari.cli.command import FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.plan_flags import GENERATE_FLAG, PARALLELISM_FLAG
from nigari.cli.planning_command import PlanningCommand
from nigari.cli.prompt import INPUT_FLAG
from nigari.cli.state_flags import LOCK_FLAGS, SAYING_FLAGS, STATE_FLAG
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.plan.model.changes import PlanMode
from nigari.workspace.plans.generated_blocks import (
    generated_text,
    is_new,
    listed_blocks,
    write_new,
)
from nigari.workspace.session.locked_session import LockedSession


def run(invocation: Invocation) -> int:
    """Show the objects that all queries find, and generate blocks for them on request."""
    command = PlanningCommand(invocation, PlanMode.NORMAL)
    presenter, session = command.presenter, command.session
    session.use_queries()
    path = invocation.text(GENERATE_FLAG)

    async def work(locked: LockedSession) -> int:
        if path and not is_new(path, session.where, session.diags):
            return 1
        found = await command.query(locked, lists_whole=bool(path))
        if found is None:
            return 1
        empty = [str(each.address) for each in found if not each.found]
        if empty:
            presenter.text(f"Nothing was found by {', '.join(empty)}.")
        text = generated_text(listed_blocks(found)) if path else ""
        if text and write_new(path, text, session.where, session.diags):
            presenter.text(f"\nGenerated blocks were written to {path}: review and keep them.")
        return 0

    return command.run("OperationTypePlan", work)


COMMAND = Command(
    "query",
    "Searches for existing objects that the list blocks in the query files of the directory "
    "(*.tfquery.hcl) describe. Each object is printed when it is found. Nothing is changed.",
    run,
    flags=(
        Flag(
            GENERATE_FLAG,
            FLAG_TEXT,
            "Write resource and import blocks for the objects to a new file; with -json, the "
            "events have them, too",
            "FILE",
        ),
        PARALLELISM_FLAG,
        INPUT_FLAG,
        *LOCK_FLAGS,
        STATE_FLAG,
        *VARIABLE_FLAGS,
        *SAYING_FLAGS,
    ),
    examples=(
        Example("nigari query", "lists what the query files describe"),
        Example("nigari query -generate-config-out=found.tf", "to import it"),
    ),
)

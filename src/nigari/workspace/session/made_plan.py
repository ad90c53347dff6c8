"""Made plans: a plan with everything that is needed to save it, or to apply it later.

A session makes them under the lock of the state, or reads them from files. Whether one can still
be applied, `LockedSession` checks.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property

from nigari.config.blocks.variable import Variable
from nigari.diagnostics import Diagnostics, Severity
from nigari.eval.core.inputs import Inputs, check_undeclared
from nigari.events import SILENCE, Listener
from nigari.plan.engine import PlanOutcome, restore_plan
from nigari.plan.model.changes import Plan
from nigari.plan.model.plan_file import SavedPlan, write_plan_file
from nigari.record import record
from nigari.system_calls import NOT_INHERITED
from nigari.workspace.plans.plan_context import PlanContext
from nigari.workspace.plans.plan_files import UnchangedFiles
from nigari.workspace.plans.saved_plan import (
    Reopened,
    plan_workspace,
    reopened,
    saved_plan,
)
from nigari.workspace.session.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.workspace.plans.plan_reasons import PlanReasons


@record
class MadePlan:
    """A plan that a session has made or read, with everything needed to save or apply it later."""

    __slots__ = ("__dict__",)

    session: Session
    context: PlanContext
    outcome: PlanOutcome
    snapshot: tuple[str, int]
    """Lineage and serial of the state that it was made from."""
    lock: str
    """Checksum of the dependency lock file at that time."""
    read: Mapping[str, str]
    """Checksums of the files that expressions have read."""
    file: SavedPlan | None = None
    """The content of the plan's file, if it was read from one."""

    @property
    def plan(self) -> Plan:
        """The plan as data."""
        return self.outcome.plan

    @cached_property
    def saved(self) -> SavedPlan:
        """Everything that applying the plan later needs."""
        if self.file is not None:
            return self.file
        session = self.session
        backend = session.states.remembered_backend(session.diags)
        return saved_plan(self.outcome, session.workspace, self.read, backend, self.snapshot)

    def reasons(self) -> PlanReasons:
        """Find the reasons of the changes, by the inputs of the last apply as far as known."""
        from nigari.workspace.context.remembered_variables import load_remembered
        from nigari.workspace.plans.plan_reasons import PlanReasons
        from nigari.workspace.session.apply_journal import applied_inputs, journal_path

        data, workspace = self.session.where.data_directory, self.context.workspace
        earlier = applied_inputs(journal_path(str(data), workspace))
        if not earlier:
            earlier = load_remembered(data, workspace, Diagnostics())
        return PlanReasons(self.outcome, self.session.sources, earlier)

    def save(self, path: str) -> bool:
        """Write the plan to a file, encrypted as configured; False after an error.

        Others may read it where the process allows that, and never change it.
        """
        session = self.session
        data = session.encryptions.plan.encrypt(write_plan_file(self.saved), session.diags)
        if data is None:
            return False
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NOT_INHERITED
        try:
            with os.fdopen(os.open(session.where.at(path), flags, 0o644), "wb") as file:
                file.write(data)
        except OSError as error:
            session.diags.error("Cannot save the plan", f"{path}: {error.strerror}.")
            return False
        return True


def reopen_plan(session: Session, path: str) -> Reopened | None:
    """Read a plan file, and use its variables, environment and state in the session; None after an
    error.
    """
    saved = session.read_plan(path)
    if saved is None or not session.use_environment(saved):
        return None

    def give_again(variables: Mapping[str, Variable]) -> Inputs:
        """Return the values that are set again: a plan has all but those of ephemeral variables."""
        inputs = session.complete(each for each in variables.values() if each.ephemeral)
        check_undeclared(inputs, variables, session.diags)
        return inputs

    session.shown = plan_workspace(saved, session.where)
    found = reopened(saved, session.shown, session.diags, give_again)
    return found if found is not None and session.use_plan(found) else None


async def load_plan(session: Session, path: str) -> MadePlan | None:
    """Read a plan from a file; None after an error."""
    taken = reopen_plan(session, path)
    made = None if taken is None else await restored(session, taken, session.diags)
    if made is not None:
        await made.context.close()
    return made


async def open_plan(session: Session, path: str) -> MadePlan | None:
    """Read a plan from a file to show it, whatever has changed since; None after an error.

    The caller closes its context.
    """
    saved = session.read_plan(path)
    if saved is None:
        return None
    # Warnings were reported when the plan was made.
    found, made = Diagnostics(), None
    session.shown = plan_workspace(saved, session.where)
    taken = reopened(saved, session.shown, found)
    if taken is not None:
        made = await restored(session, taken, found)
    session.diags.extend(each for each in found if each.severity is Severity.ERROR)
    return made


async def restored(
    session: Session, found: Reopened, diags: Diagnostics, listener: Listener = SILENCE
) -> MadePlan | None:
    """Load what a saved plan needs; None after an error. The caller closes its context."""
    saved, where = found.saved, found.workspace.where
    context = PlanContext(
        found.static,
        found.inputs,
        UnchangedFiles(where.files, saved.files),
        where,
        saved.workspace,
        timestamp=saved.plan.timestamp,
    )
    reported = Diagnostics()
    inputs = context.plan_inputs(saved.plan.previous_state, listener)
    outcome = await restore_plan(inputs, saved, reported)
    if not context.report(reported, diags) or outcome is None:
        await context.close()
        return None
    return MadePlan(
        session=session,
        context=context,
        outcome=outcome,
        snapshot=(saved.lineage, saved.serial),
        lock=saved.lock,
        read=saved.files,
        file=saved,
    )

"""The locked session: planning, applying and storing while the lock of the state is held.

The state is stored while a plan is applied and once more at the end. One that cannot be stored is
put where it can be found. Who sees a plan and agrees to it is the affair of whoever holds this.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from nigari.addrs.absolute import AbsResourceInstance
from nigari.apply.listener import ApplyListener
from nigari.backends.disk import write_unused
from nigari.backends.snapshots import Snapshots
from nigari.config.blocks.variable import Variable
from nigari.cty.paths import unknown_as_null
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.diagnostics.advice import advice
from nigari.diagnostics.unexpected import unexpected
from nigari.eval.core.deprecation import warn_of_inputs
from nigari.eval.core.inputs import Inputs, check_complete, check_undeclared
from nigari.eval.nodes.output import OutputNode
from nigari.events import SILENCE, Listener
from nigari.plan.inspection.state_inspection import StateInspection
from nigari.plan.model.changes import Plan, PlanMode
from nigari.plan.model.plan_file import SavedPlan, write_plan_file
from nigari.plan.nodes.import_lookup import ImportLookup
from nigari.plan.nodes.imports import ImportTarget
from nigari.plan.nodes.plan_run import PlanOptions
from nigari.plan.order.block_graph import BlockGraph
from nigari.record import record, replace
from nigari.running.round_cache import RoundCache
from nigari.state.draft import StateDraft
from nigari.state.files import format_state
from nigari.state.model import OutputState, State, StateFile
from nigari.system_calls import NOT_INHERITED
from nigari.workspace.plans.generated_blocks import (
    WithGenerated,
    generated_blocks,
    generated_text,
    is_new,
    write_new,
)
from nigari.workspace.plans.plan_files import ReadFiles
from nigari.workspace.plans.planning import Planning, plan_timestamp
from nigari.workspace.plans.saved_plan import (
    Reopened,
    lock_checksum,
    plan_workspace,
    reopened,
    restored,
    saved_plan,
)
from nigari.workspace.session.session import Session

TYPE_CHECKING = False
# Most plans are only looked at.
if TYPE_CHECKING:
    from typing import Final

    from nigari.workspace.session.apply_journal import ApplyJournal

_PRIVATE: Final = 0o600
"""States have secrets in them, and nobody has said who else may read this one."""
_SECOND_TRY: Final = 1.0
"""Seconds before it is tried again to store a state."""

Unsaved = Callable[[bytes], str]
"""Takes a state that can be stored nowhere; says in a sentence where it is now."""


@record
class MadePlan:
    """A plan with what it takes to apply it in another turn of the lock."""

    session: Session
    planning: Planning
    plan: Plan
    lineage: str
    serial: int
    """Which snapshot of the state it was made from."""
    lock: str
    """The checksum of the lock file then."""
    workspace: str
    to_saved: Callable[[Plan], SavedPlan]


@record
class ApplyResult:
    """Result of an apply."""

    state: State
    is_stored: bool
    found: Diagnostics
    """What was reported meanwhile."""


@asynccontextmanager
async def locked(
    session: Session, operation: str, listener: Listener = SILENCE, plan_path: str = ""
) -> AsyncIterator[LockedSession | None]:
    """A session while nobody else can change its state; None after reporting why not.

    A plan that was saved has the values of variables, and says where its state is.
    """
    taken = None
    if plan_path:
        taken = _reopened(session, plan_path)
        if taken is None:
            yield None
            return
    diags = session.diags
    snapshots = session.states.snapshots(session.encryption, diags, session.options.files)
    if snapshots is not None and not diags.has_errors:
        if not await snapshots.prepare_to_write(diags):
            snapshots = None
    async with session.exclusive(snapshots, operation) as opened:
        if opened is None:
            yield None
            return
        found = LockedSession(session, opened, listener, taken)
        try:
            yield found
        finally:
            await found.close()


def _reopened(session: Session, path: str) -> Reopened | None:
    """The plan in a file, taken up; None after reporting why that cannot be."""
    saved = session.read_plan(path)
    if saved is None or not session.use_environment(saved):
        return None

    def give_again(variables: Mapping[str, Variable]) -> Inputs:
        """The values that are given for a plan which has those of all but ephemeral variables."""
        inputs = session.complete(each for each in variables.values() if each.ephemeral)
        check_undeclared(inputs, variables, session.diags)
        return inputs

    session.shown = plan_workspace(saved, session.where)
    found = reopened(saved, session.shown, session.diags, give_again)
    return found if found is not None and session.use_plan(found) else None


async def read_plan(session: Session, path: str) -> MadePlan | None:
    """The plan in a file; None after reporting why it cannot be used."""
    taken = _reopened(session, path)
    if taken is None:
        return None
    found = await restored(taken, SILENCE, session.diags)
    if found is None:
        return None
    planning, plan = found
    await planning.close()
    saved = taken.saved
    return MadePlan(
        session=session,
        planning=planning,
        plan=plan,
        lineage=saved.lineage,
        serial=saved.serial,
        lock=saved.lock,
        workspace=saved.workspace,
        to_saved=lambda _: saved,
    )


class LockedSession:
    """A session whose state nobody else can change."""

    def __init__(
        self,
        session: Session,
        snapshots: Snapshots,
        listener: Listener,
        reopened: Reopened | None = None,
    ) -> None:
        self.session = session
        self.snapshots = snapshots
        snapshots.document = self._document
        self.planning: Planning | None = None
        self._listener = listener
        self._reopened = reopened
        self._read = ReadFiles(session.where.files)
        self._snapshot = snapshot_of(snapshots)
        """What was stored when the lock was taken, or by the plan that was applied last."""
        self._kept: RoundCache | None = None
        """What the rounds of a run have in common, where there are several."""
        self._generated: Mapping[str, str] = {}
        """The blocks that were written for what is imported, by address."""
        self._journal: ApplyJournal | None = None

    @property
    def diags(self) -> Diagnostics:
        return self.session.diags

    @property
    def state(self) -> State:
        """The stored state."""
        return self.snapshots.state

    def keep_values(self) -> None:
        """Keep from now on what data sources and functions say, for all plans that are made."""
        self._kept = RoundCache(plan_timestamp())

    # -- planning -------------------------------------------------------------------------------

    def has_configuration(self, mode: PlanMode) -> bool:
        """Whether something says what there should be; it is reported where nothing does.

        Without any files everything would be destroyed, which a wrong directory must not do.
        """
        if mode is PlanMode.DESTROY or self.session.has_configuration:
            return True
        self.diags.append(_nothing_is_described())
        return False

    async def plan(self, options: PlanOptions) -> Plan | None:
        """The plan; None after reporting why there is none."""
        planning = self._open(needs_all=True)
        if planning is None:
            return None
        plan = await planning.plan(options)
        self.diags.adopt(planning.diags)
        if plan is not None and self._generated:
            plan = replace(plan, generated=self._generated)
        return plan

    @property
    def incomplete(self) -> Plan | None:
        """As much of a plan as could be made, where there is none."""
        planner = None if self.planning is None else self.planning.planner
        return None if planner is None else planner.incomplete

    async def look_up(
        self, target: ImportTarget | None, parallelism: int = 10
    ) -> list[ImportLookup] | None:
        """An object that exists, or all that lack a block."""
        planning = self._open(needs_all=True)
        if planning is None:
            return None
        found = await planning.look_up(target, parallelism)
        self.diags.adopt(planning.diags)
        return found

    def is_free(self, address: AbsResourceInstance) -> bool:
        """Whether nothing has an address yet; reported where something has."""
        stored = self.state.instance(address)
        if stored is None or stored.current is None:
            return True
        self.diags.error(
            "Address already in use",
            f"There is already an object at {address}. To import another object to this address, "
            "first remove the existing one from the state or move it to another address.",
        )
        return False

    async def take_over(self, found: ImportLookup) -> bool:
        """Store an object that was looked up; False after reporting why that cannot be done."""
        if found.found is None or found.provider is None:
            return False
        draft = StateDraft(self.session.as_shown(self.state))
        draft.set_current(found.target.address, found.found.stored, found.provider.address)
        draft.set_outputs(self._outputs_with(draft.finish()))
        return await self.snapshots.write(draft.finish(), self.diags)

    def _outputs_with(self, state: State) -> dict[str, OutputState]:
        """The root outputs that follow from a state. As OpenTofu stores them, what is not known is
        null, and an output that is null is left out.
        """
        session, planning = self.session, self.planning
        assert planning is not None
        run = StateInspection(
            planning.static.root.instance.compiled,
            session.workspace.static_settings(session.inputs, session.selected),
            state,
            {each: schema for each in state.providers() if (schema := planning.pool.of(each))},
        )
        nodes = {
            name: node
            for name, node in run.root.outputs.items()
            if isinstance(node, OutputNode) and not node.output.ephemeral
        }
        run.evaluate(tuple(nodes.values()))
        return {
            name: OutputState(
                unknown_as_null(node.value.unmark_deep()[0]),
                node.output.sensitive,
                node.output.deprecated,
            )
            for name, node in nodes.items()
            if not (node.value.is_known and node.value.unmark()[0].is_null)
        }

    async def generate(self, path: str, parallelism: int) -> bool:
        """Write blocks for what is imported without any to a new file, and go on as if they had
        been there; whether any were written.
        """
        where = self.session.where
        if not is_new(path, where, self.diags):
            return False
        found = await self.look_up(None, parallelism)
        await self.close()
        blocks = [] if found is None else generated_blocks(found)
        self._generated = {each.address: each.text.rstrip("\n") for each in blocks}
        text = generated_text(blocks)
        if not text or not write_new(path, text, where, self.diags):
            return False
        self.session.use_files(WithGenerated(where.files, where.name, path, text))
        return True

    async def blocks(self) -> BlockGraph | None:
        """Which blocks of the configuration need which others."""
        planning = self._open(needs_all=False)
        if planning is None:
            return None
        found = await planning.blocks()
        self.diags.adopt(planning.diags)
        return found

    def _open(self, needs_all: bool) -> Planning | None:
        """The configuration with its variables and the state; None after reporting why not.

        `needs_all` says that every variable must have a value.
        """
        session, diags = self.session, self.diags
        static = session.static()
        if static is None or self._has_failed():
            return None
        variables = static.root.module.variables
        check_undeclared(session.inputs, variables, diags)
        warn_of_inputs(session.inputs, variables, diags)
        if needs_all:
            check_complete(session.inputs, variables, diags)
        if self._has_failed():
            return None
        self.planning = Planning(
            static,
            session.inputs,
            self._read,
            session.as_shown(self.state),
            session.where,
            session.selected,
            listener=self._listener,
            installed=session.installed,
            planned=session.options.planned,
            kept=self._kept,
        )
        return self.planning

    def _has_failed(self) -> bool:
        return self.diags.has_errors

    async def close(self) -> None:
        """End the providers that still run."""
        if self._journal is not None:
            self._journal.close()
        if self.planning is not None:
            await self.planning.close()

    # -- saved plans ----------------------------------------------------------------------------

    def saved(self, plan: Plan) -> SavedPlan:
        """Everything that applying a plan later needs."""
        assert self.planning is not None
        session = self.session
        return saved_plan(
            self.planning,
            plan,
            session.workspace,
            self._read.checksums,
            session.states.remembered_backend(self.diags),
            self._snapshot,
        )

    def save(self, plan: Plan, path: str) -> bool:
        """Write a plan to a file; False after reporting why that cannot be done."""
        return write_saved(self.session, self.saved(plan), path)

    def made(self, plan: Plan) -> MadePlan:
        """A plan that was made here, to be applied later in the same process."""
        assert self.planning is not None
        session = self.session
        lock = lock_checksum(session.where)
        lineage, serial = self._snapshot
        return MadePlan(
            session=session,
            planning=self.planning,
            plan=plan,
            lineage=lineage,
            serial=serial,
            lock=lock,
            workspace=session.selected,
            to_saved=self.saved,
        )

    async def restore(self) -> Plan | None:
        """The plan that was saved, if it can still be applied; None after reporting why not."""
        reopened = self._reopened
        assert reopened is not None
        saved = reopened.saved
        was = (saved.lineage, saved.serial, saved.lock, saved.workspace)
        if not self._is_current(*was, is_incomplete=saved.plan.is_incomplete):
            return None
        found = await restored(reopened, self._listener, self.diags)
        if found is None:
            return None
        self.planning, plan = found
        return plan

    def resume(self, made: MadePlan) -> bool:
        """Take up a plan that was made in another turn; False after reporting why that cannot be."""
        was = (made.lineage, made.serial, made.lock, made.workspace)
        self.planning = made.planning
        return self._is_current(*was, is_incomplete=made.plan.is_incomplete)

    def _is_current(
        self, lineage: str, serial: int, lock: str, workspace: str, is_incomplete: bool
    ) -> bool:
        """Whether everything still is as it was when a plan was made; reported where it is not."""
        reason, advice = "", "Make a new plan."
        if is_incomplete:
            reason = "it is incomplete, because planning failed"
            advice = "Correct the errors that were reported then, and make a new plan."
        elif self._snapshot != (lineage, serial):
            reason = "the state has changed since the plan was made"
        elif lock_checksum(self.session.where) != lock:
            reason = "the dependency lock file has changed since the plan was made"
        elif self.session.selected != workspace:
            reason = f"it was made for the workspace {workspace}"
            advice = "Select that workspace, or make a new plan for this one."
        if reason:
            detail = f"The plan cannot be applied: {reason}. {advice}"
            self.diags.error("Cannot apply the plan", detail)
        return not reason

    # -- applying -------------------------------------------------------------------------------

    async def apply(
        self, plan: Plan, view: ApplyListener, parallelism: int, unsaved: Unsaved
    ) -> ApplyResult:
        """Carry out a plan that was made or restored here, and store the state."""
        from nigari.apply.listeners import ApplyListeners
        from nigari.workspace.session.apply_journal import ApplyJournal

        planning, snapshots = self.planning, self.snapshots
        assert planning is not None

        async def keep(current: State, lasting: bool) -> bool:
            # Where it fails it is tried again, at the latest when all is done.
            return await snapshots.write_between(current, lasting, Diagnostics())

        found = Diagnostics()
        is_stored = False

        async def save(result: State) -> None:
            nonlocal is_stored
            is_stored = await self._store(result, found)
            if not is_stored:
                self._rescue(result, unsaved, found)

        if self._journal is None:
            self._journal = ApplyJournal(self.session.where.data())
        journal = self._journal
        journal.begin(planning, plan, planning.graph(plan))
        views = ApplyListeners((view, journal.events))
        result = await planning.apply(plan, views, keep, save, parallelism, snapshots.pause_between)
        told = Diagnostics(planning.diags.take())
        told.adopt(found)
        journal.done(told, is_stored)
        self.diags.extend(told)
        if is_stored:
            self._note_apply(plan)
        self._snapshot = snapshot_of(snapshots)
        return ApplyResult(result, is_stored, told)

    def _note_apply(self, plan: Plan) -> None:
        """Leave word of an apply, for whoever lists the environments."""
        where, file = self.session.where, self.snapshots.file
        if where.environment is None:
            return
        from nigari.workspace.context.last_apply import save_last_apply

        serial = 0 if file is None else file.serial
        save_last_apply(where.data_directory, plan.mode.value, serial, not self.diags.has_errors)

    async def store_found(self, plan: Plan, unsaved: Unsaved) -> ApplyResult:
        """Store nothing but the state that a plan found."""
        assert self.planning is not None
        result, found = self.planning.found_state(plan), Diagnostics()
        is_stored = await self._store(result, found)
        if not is_stored:
            self._rescue(result, unsaved, found)
        self.diags.extend(found)
        return ApplyResult(result, is_stored, found)

    async def _document(self, file: StateFile) -> str | None:
        """What `show -json` prints of a snapshot, by the schemas that are known here."""
        from nigari.state.show.show_json import state_to_json

        assert self.planning is not None
        return state_to_json(file, self.planning.stored_schema, Diagnostics())

    async def _store(self, result: State, found: Diagnostics) -> bool:
        """Store the state after everything was done, with a second try: much depends on it."""
        try:
            if await self.snapshots.write(result, Diagnostics()):
                return True
            await asyncio.sleep(_SECOND_TRY)
            return await self.snapshots.write(result, found)
        except Exception as error:  # noqa: BLE001 - the state is put elsewhere then
            found.append(unexpected("Storing the state", error))
            return False

    def _rescue(self, result: State, unsaved: Unsaved, found: Diagnostics) -> None:
        """Put a state that cannot be stored where a person can find it."""
        known = self.snapshots.file
        file = StateFile(result, self.snapshots.lineage, 1 if known is None else known.serial + 1)
        text = format_state(file, is_for_people=True)
        data = self.session.encryption.encrypt(text, file.serial, file.lineage, found)
        if data is None:
            return
        where, path = self._written(data)
        name = path or self.session.options.rescued[0]
        next_step = f"Once the backend works again, {advice().store_state(name)}."
        if self.snapshots.is_outdated:
            next_step = _merging(name)
        if path:
            found.error("State written to a file instead", f"{where} {next_step}")
        else:
            found.error("State not kept in any file", f"{where} {unsaved(data)} {next_step}")

    def _written(self, data: bytes) -> tuple[str, str]:
        """What there is to say of the file that a state was written to, and its path; no path where
        none can be written.
        """
        reasons, where = list[str](), self.session.where
        for path in self.session.options.rescued:
            wanted = where.at(where.name, path)
            try:
                written = write_unused(wanted, data, _PRIVATE)
            except OSError as error:
                reasons.append(f"{path} cannot be written either: {error.strerror}.")
                continue
            name = written if os.path.isabs(path) else os.path.basename(written)
            here = "" if os.path.isabs(path) else " in this directory"
            text = f"The new state was written to the file {name}{here}."
            if written != wanted:
                text += f" The state of an earlier run in {path} was left as it is."
            return text, name
        return " ".join(reasons), ""


def _merging(name: str) -> str:
    """How a state that was not stored gets into the one that somebody else has stored."""
    return (
        "It lacks what somebody else has stored meanwhile, so do not push it as it is. Save the "
        'stored state with "nigari state pull > stored.tfstate", move what only this one has into '
        f'it with "nigari state mv -state={name} -state-out=stored.tfstate ADDRESS ADDRESS", and '
        'store that with "nigari state push stored.tfstate".'
    )


def write_saved(session: Session, saved: SavedPlan, path: str) -> bool:
    """Write a plan, encrypted as the configuration says; False after reporting why that fails.

    Others may read it where the process allows that, and never change it.
    """
    data = session.encryptions.plan.encrypt(write_plan_file(saved), session.diags)
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


def snapshot_of(snapshots: Snapshots) -> tuple[str, int]:
    """What the newest snapshot is known by."""
    known = snapshots.file
    return ("", 0) if known is None else (known.lineage, known.serial)


def _nothing_is_described() -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "No configuration files",
        "There are no .tf or .tofu files in this directory, and a plan without any would destroy "
        "everything in the state. Change to the directory of the configuration, or name it with "
        '-chdir=DIR before the command. To destroy everything, use "nigari destroy".',
    )

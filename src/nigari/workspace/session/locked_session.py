"""The locked session: planning, applying and storing while the lock of the state is held.

The state is stored while a plan is applied and once more at the end. One that cannot be stored is
put where it can be found. Who sees a plan and agrees to it is the affair of whoever holds this.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cached_property, partial

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
from nigari.plan.engine import PlanInputs, PlanOutcome, make_plan
from nigari.plan.found_state import found_state
from nigari.plan.inspection.state_inspection import StateInspection
from nigari.plan.model.changes import Plan, PlanMode
from nigari.plan.model.plan_file import SavedPlan, write_plan_file
from nigari.plan.nodes.import_lookup import ImportLookup
from nigari.plan.nodes.imports import ImportTarget
from nigari.plan.nodes.plan_run import PlanOptions
from nigari.plan.object_search import find_objects
from nigari.plan.order.block_graph import BlockGraph
from nigari.record import record, replace
from nigari.running.provider_pool import ProviderPool
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
from nigari.workspace.plans.plan_context import PlanContext, plan_timestamp
from nigari.workspace.plans.plan_files import ReadFiles
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


@record
class ApplyResult:
    """What has come of a plan."""

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
    made = await _restored(session, taken, SILENCE)
    if made is not None:
        await made.context.close()
    return made


async def _restored(session: Session, found: Reopened, listener: Listener) -> MadePlan | None:
    """Restore a saved plan; None after reporting why that is not possible."""
    result = await restored(found, listener, session.diags)
    if result is None:
        return None
    saved, (context, outcome) = found.saved, result
    snapshot = saved.lineage, saved.serial
    return MadePlan(session, context, outcome, snapshot, saved.lock, saved.files, saved)


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
        self._listener = listener
        self._reopened = reopened
        self._read = ReadFiles(session.where.files)
        self._snapshot = snapshot_of(snapshots)
        """What was stored when the lock was taken, or by the plan that was applied last."""
        self._kept: RoundCache | None = None
        """What the rounds of a run have in common, where there are several."""
        self._contexts: list[PlanContext] = []
        """The contexts of all plans so far, whose providers may still run."""
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

    async def plan(self, options: PlanOptions) -> MadePlan | None:
        """Make a plan, which is incomplete if errors were reported; None if there is not even that."""
        context, found = self._open(needs_all=True), Diagnostics()
        if context is None:
            return None
        outcome = await make_plan(self._inputs(context), options, found)
        is_sound = context.report(found, self.diags)
        if outcome is None or not (is_sound or outcome.plan.is_incomplete):
            return None
        if is_sound and self._generated:
            outcome = replace(outcome, plan=replace(outcome.plan, generated=self._generated))
        lock = lock_checksum(self.session.where)
        return MadePlan(self.session, context, outcome, self._snapshot, lock, self._read.checksums)

    async def import_object(self, target: ImportTarget, parallelism: int = 10) -> bool:
        """Look up an existing object and store it; False after an error."""
        result = None
        if self._is_free(target.address):
            result = await self._look_up(target, parallelism)
        if result is None:
            return False
        inputs, (lookup,) = result
        if lookup.found is None or lookup.provider is None:
            return False
        draft = StateDraft(inputs.state)
        draft.set_current(target.address, lookup.found.stored, lookup.provider.address)
        draft.set_outputs(self._outputs_with(draft.finish(), inputs))
        self.snapshots.document = partial(_document, inputs.pool)
        return await self.snapshots.write(draft.finish(), self.diags)

    async def _look_up(
        self, target: ImportTarget | None, parallelism: int
    ) -> tuple[PlanInputs, list[ImportLookup]] | None:
        """Look up an existing object, or all that lack a block; None after an error."""
        context, reported = self._open(needs_all=True), Diagnostics()
        if context is None:
            return None
        inputs = self._inputs(context)
        found = await find_objects(inputs, target, parallelism, reported)
        return (inputs, found or []) if context.report(reported, self.diags) else None

    def _is_free(self, address: AbsResourceInstance) -> bool:
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

    def _outputs_with(self, state: State, inputs: PlanInputs) -> dict[str, OutputState]:
        """Return the root outputs that follow from a state, as OpenTofu stores them: unknown values
        are null, and outputs that are null are left out.
        """
        session = self.session
        run = StateInspection(
            inputs.static.root.instance.compiled,
            session.workspace.static_settings(session.inputs, session.selected),
            state,
            {each: schema for each in state.providers() if (schema := inputs.pool.of(each))},
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
        result = await self._look_up(None, parallelism)
        await self.close()
        blocks = [] if result is None else generated_blocks(result[1])
        self._generated = {each.address: each.text.rstrip("\n") for each in blocks}
        text = generated_text(blocks)
        if not text or not write_new(path, text, where, self.diags):
            return False
        self.session.use_files(WithGenerated(where.files, where.name, path, text))
        return True

    async def blocks(self) -> BlockGraph | None:
        """Which blocks of the configuration need which others."""
        context, reported = self._open(needs_all=False), Diagnostics()
        if context is None:
            return None
        inputs = self._inputs(context)
        await inputs.load_schemas(reported)
        return inputs.block_graph() if context.report(reported, self.diags) else None

    def _inputs(self, context: PlanContext) -> PlanInputs:
        return context.plan_inputs(self.session.as_shown(self.state), self._listener)

    def _open(self, needs_all: bool) -> PlanContext | None:
        """The configuration with its variables; None after reporting why it cannot be planned.

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
        context = PlanContext(
            static,
            session.inputs,
            self._read,
            session.where,
            session.selected,
            installed=session.installed,
            planned=session.options.planned,
            round_cache=self._kept,
        )
        if not context.providers_fit(diags):
            return None
        self._contexts.append(context)
        return context

    def _has_failed(self) -> bool:
        return self.diags.has_errors

    async def close(self) -> None:
        """End the providers that still run."""
        if self._journal is not None:
            self._journal.close()
        for context in self._contexts:
            await context.close()
        self._contexts.clear()

    # -- saved plans ----------------------------------------------------------------------------

    async def restore(self) -> MadePlan | None:
        """The plan that was saved, if it can still be applied; None after reporting why not."""
        reopened = self._reopened
        assert reopened is not None
        saved = reopened.saved
        snapshot = saved.lineage, saved.serial
        if not self._is_current(saved.plan, snapshot, saved.lock, saved.workspace):
            return None
        made = await _restored(self.session, reopened, self._listener)
        if made is not None:
            self._contexts.append(made.context)
        return made

    def can_apply(self, made: MadePlan) -> bool:
        """Whether a plan that was made under an earlier lock can be applied; reported if not."""
        workspace = made.context.workspace
        return self._is_current(made.plan, made.snapshot, made.lock, workspace)

    def _is_current(self, plan: Plan, snapshot: tuple[str, int], lock: str, workspace: str) -> bool:
        """Whether everything is as it was when a plan was made; reported if not."""
        reason, advice = "", "Make a new plan."
        if plan.is_incomplete:
            reason = "it is incomplete, because planning failed"
            advice = "Correct the errors that were reported then, and make a new plan."
        elif self._snapshot != snapshot:
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
        self, made: MadePlan, view: ApplyListener, parallelism: int, unsaved: Unsaved
    ) -> ApplyResult:
        """Apply a plan and store the state."""
        from nigari.apply.listeners import ApplyListeners
        from nigari.workspace.session.apply_journal import ApplyJournal

        snapshots, outcome, told = self.snapshots, made.outcome, Diagnostics()
        snapshots.document = partial(_document, outcome.inputs.pool)
        self._contexts.append(made.context)

        async def keep(current: State, lasting: bool) -> bool:
            # Where it fails it is tried again, at the latest when all is done.
            return await snapshots.write_between(current, lasting, Diagnostics())

        if self._journal is None:
            self._journal = ApplyJournal(self.session.where.data())
        journal = self._journal
        journal.begin(outcome)
        views, pause = ApplyListeners((view, journal.events)), snapshots.pause_between
        applying = made.context.applied(outcome, views, keep, told, parallelism, pause)
        async with applying as (result, _):
            is_stored = await self._store(result, told)
            if not is_stored:
                self._rescue(result, unsaved, told)
        journal.done(told, is_stored)
        self.diags.extend(told)
        if is_stored:
            self._note_apply(made.plan)
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

    async def store_found(self, made: MadePlan, unsaved: Unsaved) -> ApplyResult:
        """Store nothing but the state that a plan found."""
        self.snapshots.document = partial(_document, made.outcome.inputs.pool)
        result, found = found_state(made.outcome), Diagnostics()
        is_stored = await self._store(result, found)
        if not is_stored:
            self._rescue(result, unsaved, found)
        self.diags.extend(found)
        return ApplyResult(result, is_stored, found)

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


async def _document(pool: ProviderPool, file: StateFile) -> str | None:
    """Print a snapshot as `show -json` does, by the schemas that planning has loaded."""
    from nigari.state.show.show_json import state_to_json

    return state_to_json(file, pool.schema_of, Diagnostics())


def _merging(name: str) -> str:
    """How a state that was not stored gets into the one that somebody else has stored."""
    return (
        "It lacks what somebody else has stored meanwhile, so do not push it as it is. Save the "
        'stored state with "nigari state pull > stored.tfstate", move what only this one has into '
        f'it with "nigari state mv -state={name} -state-out=stored.tfstate ADDRESS ADDRESS", and '
        'store that with "nigari state push stored.tfstate".'
    )


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

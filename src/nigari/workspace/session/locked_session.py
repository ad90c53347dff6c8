"""The locked session: makes plans, applies them and stores the state while its lock is held.

A plan is a value (`MadePlan`), and so is the result of applying it. How plans are shown and
approved is left to the caller.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial

from nigari.addrs.absolute import AbsResourceInstance
from nigari.apply.listener import ApplyListener
from nigari.backends.snapshots import Snapshots
from nigari.cty.paths import unknown_as_null
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.eval.core.deprecation import warn_of_inputs
from nigari.eval.core.inputs import check_complete, check_undeclared
from nigari.eval.nodes.output import OutputNode
from nigari.events import SILENCE, Listener
from nigari.plan.engine import PlanInputs, make_plan
from nigari.plan.inspection.state_inspection import StateInspection
from nigari.plan.model.change_operations import MAKING
from nigari.plan.model.changes import Plan, PlanMode
from nigari.plan.model.plan_options import PlanOptions
from nigari.plan.nodes.imports import ImportTarget
from nigari.plan.order.block_graph import BlockGraph
from nigari.record import replace
from nigari.state.draft import StateDraft
from nigari.state.model import OutputState, State
from nigari.workspace.context.read_times import FILE_NAME, ReadTimes
from nigari.workspace.plans.plan_context import PlanContext
from nigari.workspace.plans.plan_files import ReadFiles
from nigari.workspace.plans.saved_plan import Reopened, lock_checksum
from nigari.workspace.session.apply_result import Saved, Unsaved, state_document, store_result
from nigari.workspace.session.made_plan import MadePlan, restored
from nigari.workspace.session.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.config.module import Module
    from nigari.plan.engine import PlanOutcome
    from nigari.plan.nodes.import_lookup import ImportLookup
    from nigari.plan.nodes.lists import ListInstance
    from nigari.running.round_cache import RoundCache


@asynccontextmanager
async def locked(
    session: Session, operation: str, listener: Listener = SILENCE
) -> AsyncIterator[LockedSession | None]:
    """Lock the state of a session; None after reporting why that is not possible."""
    diags = session.diags
    snapshots = session.states.snapshots(session.encryption, diags, session.options.files)
    if snapshots is not None and not diags.has_errors:
        if not await snapshots.prepare_to_write(diags):
            snapshots = None
    async with session.exclusive(snapshots, operation) as opened:
        if opened is None:
            yield None
            return
        found = LockedSession(session, opened, listener)
        try:
            yield found
        finally:
            await found.close()


class LockedSession:
    """A session whose state no other process can change."""

    def __init__(self, session: Session, snapshots: Snapshots, listener: Listener) -> None:
        self.session = session
        self.snapshots = snapshots
        self._listener = listener
        self._read = ReadFiles(session.where.files)
        self._snapshot = _snapshot_of(snapshots)
        """The state when the lock was taken, or after the last applied plan."""
        self._contexts: list[PlanContext] = []
        """The contexts of all plans so far, whose providers may still run."""
        self._generated: Mapping[str, str] = {}
        """The blocks that were written for what is imported, by address."""

    @property
    def diags(self) -> Diagnostics:
        return self.session.diags

    @property
    def state(self) -> State:
        """The stored state."""
        return self.snapshots.state

    # -- planning -------------------------------------------------------------------------------

    def has_configuration(self, mode: PlanMode) -> bool:
        """Return whether the directory has configuration files, and report it otherwise.

        Without any, everything would be destroyed, and a wrong directory must not cause that.
        """
        if mode is PlanMode.DESTROY or self.session.has_configuration:
            return True
        self.diags.append(_nothing_is_described())
        return False

    async def plan(
        self, options: PlanOptions, round_cache: RoundCache | None = None
    ) -> MadePlan | None:
        """Make a plan, which is incomplete if errors were reported; None if there is not even that.

        The rounds of a run share a cache.
        """
        context, found = self._open(needs_all=True, round_cache=round_cache), Diagnostics()
        if context is None:
            return None
        times = ReadTimes(self.session.where.data(FILE_NAME), self._snapshot[0])
        options = _with_fresh(options, times, self.state)
        outcome = await make_plan(self._inputs(context), options, found)
        if outcome is not None and times.is_kept:
            times.note(*_noted_reads(outcome))
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
        self.snapshots.document = partial(state_document, inputs.pool)
        return await self.snapshots.write(draft.finish(), self.diags)

    async def _look_up(
        self, target: ImportTarget | None, parallelism: int
    ) -> tuple[PlanInputs, list[ImportLookup]] | None:
        """Look up an existing object, or all that lack a block; None after an error."""
        from nigari.plan.object_search import find_objects

        context, reported = self._open(needs_all=True), Diagnostics()
        if context is None:
            return None
        inputs = self._inputs(context)
        found = await find_objects(inputs, target, parallelism, reported)
        return (inputs, found or []) if context.report(reported, self.diags) else None

    def _is_free(self, address: AbsResourceInstance) -> bool:
        """Return whether an address is unused, and report it otherwise."""
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
        from nigari.workspace.plans.generated_blocks import (
            WithGenerated,
            generated_blocks,
            generated_text,
            is_new,
            write_new,
        )

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
        files = self.session.workspace.files
        self.session.use_files(WithGenerated(files, where.name, path, text))
        return True

    async def query(
        self, lists_whole: bool = False, parallelism: int = 10
    ) -> list[ListInstance] | None:
        """Run the queries of the directory's query files; None after an error."""
        from nigari.plan.queries import find_listed

        context, reported = self._open(needs_all=True), Diagnostics()
        if context is None:
            return None
        found = await find_listed(self._inputs(context), lists_whole, parallelism, reported)
        return found if context.report(reported, self.diags) else None

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

    def _open(self, needs_all: bool, round_cache: RoundCache | None = None) -> PlanContext | None:
        """The configuration with its variables; None after reporting why it cannot be planned.

        `needs_all` says that every variable must have a value.
        """
        session, diags = self.session, self.diags
        static = session.static()
        if static is not None and self._use_removed_variables(static.root.module):
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
            round_cache=round_cache,
        )
        if not context.providers_fit(diags):
            return None
        self._contexts.append(context)
        return context

    def _use_removed_variables(self, module: Module) -> bool:
        """Have variables count as declared that removed provider blocks still need; whether there
        are any with a value.
        """
        if not any(each.sources for each in self.state.remembered.values()):
            return False
        from nigari.workspace.session.removed_variables import given_removed, with_declarations

        session = self.session
        text, inputs = given_removed(module, self.state, session.inputs, session.prompter)
        if text:
            files = session.workspace.files
            session.use_files(with_declarations(files, session.where.name, text))
            session.inputs = inputs
        return bool(text)

    def _has_failed(self) -> bool:
        return self.diags.has_errors

    async def close(self) -> None:
        """End the providers that still run."""
        for context in self._contexts:
            await context.close()
        self._contexts.clear()

    # -- saved plans ----------------------------------------------------------------------------

    async def restore(self, reopened: Reopened) -> MadePlan | None:
        """Restore a saved plan, if it can still be applied; None after reporting why not."""
        saved = reopened.saved
        snapshot = saved.lineage, saved.serial
        if not self._is_current(saved.plan, snapshot, saved.lock, saved.workspace):
            return None
        made = await restored(self.session, reopened, self.diags, self._listener)
        if made is not None:
            self._contexts.append(made.context)
        return made

    def can_apply(self, made: MadePlan) -> bool:
        """Return whether a plan from an earlier lock can be applied, and report it otherwise."""
        workspace = made.context.workspace
        return self._is_current(made.plan, made.snapshot, made.lock, workspace)

    def _is_current(self, plan: Plan, snapshot: tuple[str, int], lock: str, workspace: str) -> bool:
        """Return whether nothing has changed since a plan was made, and report it otherwise."""
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

    async def apply(self, made: MadePlan, view: ApplyListener, parallelism: int) -> Saved | Unsaved:
        """Apply a plan and store the state."""
        from nigari.apply.listener import ApplyListeners
        from nigari.workspace.session.apply_journal import ApplyJournal

        snapshots, outcome, problems = self.snapshots, made.outcome, Diagnostics()
        snapshots.document = partial(state_document, outcome.inputs.pool)
        self._contexts.append(made.context)
        keep, pause = partial(_keep, snapshots), snapshots.pause_between
        with ApplyJournal(self.session.where.data(), outcome) as journal:
            views = ApplyListeners((view, journal.events))
            applying = made.context.applied(outcome, views, keep, problems, parallelism, pause)
            async with applying as (state, _):
                saved = await store_result(self.session, snapshots, state, problems)
            journal.done(problems, isinstance(saved, Saved))
        self.diags.extend(problems)
        if isinstance(saved, Saved):
            self._note_apply(made.plan)
            if not problems.has_errors:
                self._note_made(made.plan)
        self._snapshot = _snapshot_of(snapshots)
        return saved

    def _note_made(self, plan: Plan) -> None:
        """Record that created and updated objects need not be read for a while."""
        times = ReadTimes(self.session.where.data(FILE_NAME), _snapshot_of(self.snapshots)[0])
        if times.is_kept:
            times.note([str(each.address) for each in plan.changes if each.action in MAKING])

    def _note_apply(self, plan: Plan) -> None:
        """Record an apply for the list of environments."""
        where, file = self.session.where, self.snapshots.file
        if where.environment is None:
            return
        from nigari.workspace.context.last_apply import save_last_apply

        serial = 0 if file is None else file.serial
        save_last_apply(where.data_directory, plan.mode.value, serial, not self.diags.has_errors)

    async def store_found(self, made: MadePlan) -> Saved | Unsaved:
        """Store nothing but the state that a plan found."""
        from nigari.plan.found_state import found_state

        self.snapshots.document = partial(state_document, made.outcome.inputs.pool)
        found = Diagnostics()
        saved = await store_result(self.session, self.snapshots, found_state(made.outcome), found)
        self.diags.extend(found)
        return saved


def _with_fresh(options: PlanOptions, times: ReadTimes, state: State) -> PlanOptions:
    """Exclude recently read objects from the refresh."""
    reads = options.only_reads
    if reads is None or not reads.age:
        return options
    times.begin()
    known = times.fresh(reads.age)
    fresh = frozenset(address for address, _ in state.instances() if str(address) in known)
    return replace(options, only_reads=replace(reads, fresh=fresh))


def _noted_reads(outcome: PlanOutcome) -> tuple[list[str], list[str]]:
    """Return the addresses of objects that were read: unchanged ones, and others."""
    reads = outcome.object_reads
    return (
        [str(each) for each, is_unchanged in reads.items() if is_unchanged],
        [str(each) for each, is_unchanged in reads.items() if not is_unchanged],
    )


async def _keep(snapshots: Snapshots, state: State, lasting: bool) -> bool:
    # A failure is not reported: the next attempt follows, at the latest at the end.
    return await snapshots.write_between(state, lasting, Diagnostics())


def _snapshot_of(snapshots: Snapshots) -> tuple[str, int]:
    """Return lineage and serial of the newest snapshot."""
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

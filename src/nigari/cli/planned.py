"""What the commands share that plan: their flags, the lock around the state, and the plan itself."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final

from nigari.backends.disk import write_beside
from nigari.backends.snapshots import Snapshots, new_lineage
from nigari.cli.command import Invocation
from nigari.cli.plan_options import (
    GENERATE_FLAG,
    SUPPRESS_FLAG,
    parallelism,
    plan_mode,
    plan_options,
)
from nigari.cli.prompt import Person
from nigari.cli.stored_state import OpenState
from nigari.cli.views.apply_progress import ticking
from nigari.cli.views.telling import Telling
from nigari.config.variable import Variable
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.diagnostics.unexpected import unexpected
from nigari.eval.deprecation import warn_of_inputs
from nigari.eval.inputs import Inputs, check_complete, check_undeclared
from nigari.events import Listener
from nigari.lang.files import DiskFiles
from nigari.plan.block_graph import BlockGraph
from nigari.plan.changes import Plan, PlanMode
from nigari.plan.imports import ImportTarget
from nigari.plan.look_up import LookUp
from nigari.plan.plan_file import SavedPlan, write_plan_file
from nigari.record import replace
from nigari.state.files import format_state
from nigari.state.model import State, StateFile
from nigari.workspace.generated import (
    WithGenerated,
    generated_blocks,
    generated_text,
    is_new,
    write_new,
)
from nigari.workspace.plan_files import ReadFiles
from nigari.workspace.planning import Planning
from nigari.workspace.saved_plan import Reopened, lock_checksum, reopened, restored, saved_plan
from nigari.workspace.waiting import run_to_end, run_until_it_waits

_RESCUED: Final = "errored.tfstate"

_PRIVATE: Final = 0o600
"""States have secrets in them, and nobody has said who else may read this one."""

_SECOND_TRY: Final = 1.0
"""Seconds before it is tried again to store a state."""


class PlanningCommand:
    """A command that makes a plan, and perhaps does something with it."""

    def __init__(self, invocation: Invocation, mode: PlanMode | None = None) -> None:
        self.invocation = invocation
        self.state = OpenState(invocation)
        self.telling = Telling(self.state)
        self.listener: Listener = self.telling.view
        """Who hears what happens while the plan is made."""
        self.mode = mode or plan_mode(invocation)
        self.planning: Planning | None = None
        self.is_refresh = False
        """Whether nothing but the state is brought up to date, so that no numbers are told."""
        self.parallelism = parallelism(invocation)
        self.asks_variables = True
        """Whether variables need values, where no saved plan has them."""
        self._reopened: Reopened | None = None
        """The configuration of the saved plan that is to be carried out."""
        self._read = ReadFiles(DiskFiles())
        self._generated: Mapping[str, str] = {}
        """The blocks that were written for what is imported, by address."""

    @property
    def diags(self) -> Diagnostics:
        return self.state.diags

    def run(
        self, operation: str, work: Callable[[Snapshots], Awaitable[int]], plan_path: str = ""
    ) -> int:
        """Do something with the state of the working directory while nobody else can.

        A plan that was saved has the values of variables, and says where its state is.
        """
        status = run_to_end(self._whole(operation, work, plan_path))
        shown = self.state.end()
        return shown or status

    async def _whole(
        self, operation: str, work: Callable[[Snapshots], Awaitable[int]], plan_path: str
    ) -> int:
        state = self.state
        status = 1
        if plan_path:
            if not self._reopen(plan_path):
                return 1
        elif self.asks_variables and not state.configuration.diags.has_errors:
            self._ask_variables()
        snapshots = state.working.snapshots(state.encryption, state.diags, state.files)
        if snapshots is None or state.diags.has_errors:
            return 1
        if not await snapshots.prepare_to_write(state.diags):
            return 1

        async def change(opened: Snapshots) -> bool:
            nonlocal status
            try:
                status = await work(opened)
            finally:
                if self.planning is not None:
                    await self.planning.close()
            return status != 1

        await state.edit(snapshots, operation, change)
        return status

    async def blocks(self, snapshots: Snapshots) -> BlockGraph | None:
        """Which blocks of the configuration need which others."""
        planning = self.open(snapshots)
        if planning is None:
            return None
        found = await planning.blocks()
        self._hear(planning)
        return found

    def has_configuration(self) -> bool:
        """Whether something says what there should be; it is reported where nothing does.

        Without any files everything would be destroyed, which a wrong directory must not do.
        """
        if self.mode is PlanMode.DESTROY or self.state.has_configuration:
            return True
        self.diags.append(_nothing_is_described())
        return False

    async def plan(self, snapshots: Snapshots) -> Plan | None:
        """The plan that the command line asks for."""
        options = plan_options(self.state, self.mode)
        path = self.invocation.text(GENERATE_FLAG) if self.state.has_flag(GENERATE_FLAG) else ""
        if path and not await self._generate(path, snapshots):
            return None
        planning = self.open(snapshots, needs_all=True)
        if planning is None:
            return None
        async with ticking(self.telling.view):
            plan = await planning.plan(options)
        self._hear(planning)
        if plan is not None and self._generated:
            plan = replace(plan, generated=self._generated)
        return plan

    def open(self, snapshots: Snapshots, needs_all: bool = False) -> Planning | None:
        """The configuration with its variables and the state; None after reporting why not.

        `needs_all` says that every variable must have a value.
        """
        state = self.state
        static = state.static()
        if static is None or self._has_failed():
            return None
        inputs = state.configuration.inputs
        variables = static.root.module.variables
        check_undeclared(inputs, variables, state.diags)
        warn_of_inputs(inputs, variables, state.diags)
        if needs_all:
            check_complete(inputs, variables, state.diags)
        if self._has_failed():
            return None
        self.planning = Planning(
            static,
            inputs,
            self._read,
            state.as_shown(snapshots.state),
            state.terminal.environ,
            state.working.selected(state.diags).name,
            listener=self.listener,
        )
        return self.planning

    async def look_up(
        self, target: ImportTarget | None, snapshots: Snapshots
    ) -> list[LookUp] | None:
        """An object that exists, or all that lack a block."""
        planning = self.open(snapshots, needs_all=True)
        if planning is None:
            return None
        async with ticking(self.telling.view):
            found = await planning.look_up(target, self.parallelism)
        self._hear(planning)
        return found

    def _hear(self, planning: Planning) -> None:
        self.telling.close()
        self.diags.extend(planning.diags)
        planning.diags = Diagnostics()

    async def _generate(self, path: str, snapshots: Snapshots) -> bool:
        """Write blocks for what is imported without any, and go on as if they had been there."""
        if not is_new(path, self.diags):
            return False
        found = await self.look_up(None, snapshots)
        if self.planning is not None:
            await self.planning.close()
        blocks = [] if found is None else generated_blocks(found)
        self._generated = {each.address: each.text.rstrip("\n") for each in blocks}
        text = generated_text(blocks)
        if text and write_new(path, text, self.diags):
            self.state.reopen(WithGenerated(DiskFiles(), ".", path, text))
            self.state.text(f"\nGenerated blocks were written to {path}: review and keep them.\n")
        return found is not None and not self._has_failed()

    def save(self, plan: Plan, path: str, snapshots: Snapshots) -> bool:
        """Write a plan to a file."""
        state, planning = self.state, self.planning
        assert planning is not None
        known = snapshots.file
        saved = saved_plan(
            planning,
            plan,
            state.configuration.workspace,
            self._read.checksums,
            state.working.remembered_backend(self.diags),
            ("", 0) if known is None else (known.lineage, known.serial),
        )
        data = state.encryptions.plan.encrypt(write_plan_file(saved), self.diags)
        if data is None:
            return False
        try:
            _write_plan(path, data)
        except OSError as error:
            self.diags.error("Cannot save the plan", f"{path}: {error.strerror}.")
            return False
        return True

    def _reopen(self, path: str) -> bool:
        """Take up the plan in a file; False after reporting why that cannot be."""
        saved = self.state.read_plan(path)
        if saved is None:
            return False
        terminal = self.state.terminal
        found = reopened(
            saved, terminal.environ, self.diags, self._given_again, terminal.started_in
        )
        if found is None:
            return False
        self.state.use_plan(found)
        self._reopened = found
        return True

    async def restore(self, snapshots: Snapshots) -> Plan | None:
        """The plan that was saved, if it can still be applied."""
        reopened = self._reopened
        assert reopened is not None
        if not self._is_current(reopened.saved, snapshots):
            return None
        environ, view = self.state.terminal.environ, self.telling.view
        found = await restored(reopened, environ, view, self.diags)
        if found is None:
            return None
        self.planning, plan = found
        return plan

    def _is_current(self, saved: SavedPlan, snapshots: Snapshots) -> bool:
        known = snapshots.file
        current = ("", 0) if known is None else (known.lineage, known.serial)
        reason = ""
        if saved.is_incomplete:
            reason = "it is incomplete, because planning failed"
        elif current != (saved.lineage, saved.serial):
            reason = "the state has changed since the plan was made"
        elif lock_checksum() != saved.lock:
            reason = "the dependency lock file has changed since the plan was made"
        elif self.state.working.selected(self.diags).name != saved.workspace:
            reason = f"it was made for the workspace {saved.workspace}"
        if reason:
            self.diags.error("Cannot apply the plan", f"The plan cannot be applied: {reason}.")
        return not reason

    def show(self, plan: Plan, goes_on: bool = False) -> None:
        """Show a plan, and what was found while it was made.

        Where the command goes on to apply it, the results of checks are shown only after that.
        """
        assert self.planning is not None
        self.telling.plan(self.planning, plan, self.invocation.switch("show-sensitive"))
        self.state.tell_so_far(with_checks=not goes_on)

    def show_incomplete(self) -> Plan | None:
        """Show as much of a plan as could be made, where there is none."""
        planner = None if self.planning is None else self.planning.planner
        incomplete = None if planner is None else planner.incomplete
        if incomplete is not None:
            self.show(incomplete)
        return incomplete

    async def apply(self, plan: Plan, snapshots: Snapshots, is_saved: bool = False) -> int:
        """Carry out a plan and tell what came of it; nobody has been shown one that was saved."""
        planning, state = self.planning, self.state
        assert planning is not None

        async def keep(current: State, lasting: bool) -> bool:
            # Where it fails it is tried again, at the latest when all is done.
            work = snapshots.write_between(current, lasting, Diagnostics())
            if not lasting:
                return await work
            # In a thread, because it waits for the disk.
            return await asyncio.to_thread(run_until_it_waits, work)

        told = Diagnostics()
        is_stored = False

        async def save(result: State) -> None:
            nonlocal is_stored
            is_stored = await self._store(result, snapshots, told)
            if not is_stored:
                self._rescue(snapshots, result, told)

        view = self.telling.view
        self.telling.applying(plan, is_saved)
        async with ticking(view):
            result = await planning.apply(plan, view, keep, save, self.parallelism)
        self.telling.close()
        state.diags.extend(planning.diags)
        state.diags.extend(told)
        if not is_stored or self._has_failed():
            return 1
        self.state.tell_so_far()
        self._tell(plan, result)
        if plan.mode is PlanMode.DESTROY and plan.forgotten:
            self._report_forgotten(plan)
        return 0

    def _report_forgotten(self, plan: Plan) -> None:
        """Fail where not everything is gone, as whoever runs a destroy may count on that."""
        if not self.invocation.switch(SUPPRESS_FLAG):
            self.diags.error(
                "Objects are left behind",
                f"Everything was done as planned, but {plan.forgotten} objects were forgotten "
                "instead of destroyed, so they still exist and may cost something. Use -"
                f"{SUPPRESS_FLAG} if this is intended.",
            )

    async def _store(self, result: State, snapshots: Snapshots, told: Diagnostics) -> bool:
        """Store the state after everything was done, with a second try: much depends on it."""
        try:
            if await snapshots.write(result, Diagnostics()):
                return True
            await asyncio.sleep(_SECOND_TRY)
            return await snapshots.write(result, told)
        except Exception as error:  # noqa: BLE001 - the state is put elsewhere then
            told.append(unexpected("Storing the state", error))
            return False

    def _rescue(self, snapshots: Snapshots, result: State, told: Diagnostics) -> None:
        """Put a state that cannot be stored where a person can find it."""
        known = snapshots.file
        file = StateFile(
            result,
            new_lineage() if known is None else known.lineage,
            1 if known is None else known.serial + 1,
        )
        text = format_state(file, is_for_people=True)
        data = self.state.encryption.encrypt(text, file.serial, file.lineage, told)
        if data is None:
            return
        try:
            write_beside(_RESCUED, data, _PRIVATE)
        except OSError as error:
            self.telling.close()
            self.state.terminal.out(data.decode())
            told.error(
                "State not saved",
                f"{_RESCUED} cannot be written either: {error.strerror}. The state is printed "
                f"above: save it, from the first brace to the last, to a file {_RESCUED}. Once the "
                f'backend works again, store it with "nigari state push {_RESCUED}".',
            )
            return
        told.error(
            "State not saved",
            f"The new state was written to the file {_RESCUED} in this directory. Once the "
            f'backend works again, store it with "nigari state push {_RESCUED}".',
        )

    def _tell(self, plan: Plan, result: State) -> None:
        if self.is_refresh:
            self.telling.refreshed(result)
        else:
            self.telling.result(plan, result)

    # -- what the command line says -----------------------------------------------------------

    def _has_failed(self) -> bool:
        return self.state.diags.has_errors

    def _ask_variables(self) -> None:
        """Have all variables known before anything is worked out, were it only the backend."""
        configuration = self.state.configuration
        workspace = configuration.workspace
        root = workspace.modules.compiled(workspace.directory, Diagnostics())
        if root is not None:
            variables = root.module.variables
            configuration.inputs = self._complete(variables[name] for name in sorted(variables))

    def _given_again(self, variables: Mapping[str, Variable]) -> Inputs:
        """The values that are given for a plan which has those of all but ephemeral variables."""
        inputs = self._complete(each for each in variables.values() if each.ephemeral)
        check_undeclared(inputs, variables, self.diags)
        return inputs

    def _complete(self, wanted: Iterable[Variable]) -> Inputs:
        """The values that are given, with those that had to be asked for."""
        inputs = dict(self.state.configuration.inputs)
        may_ask = self.invocation.switch("input") and not self.state.is_for_programs
        person = Person(self.state.terminal, may_ask)
        for variable in wanted if person.can_be_asked else ():
            if variable.name not in inputs and variable.default is None:
                answer = person.value_of(variable)
                if answer is not None:
                    inputs[variable.name] = answer
        return inputs


def _write_plan(path: str, data: bytes) -> None:
    """Write a plan, which others may read where the process allows that, and never change."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o644), "wb") as file:
        file.write(data)


def _nothing_is_described() -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "No configuration files",
        "There are no .tf or .tofu files in this directory, and a plan without any would destroy "
        "everything in the state. Change to the directory of the configuration, or name it with "
        '-chdir=DIR before the command. To destroy everything, use "nigari destroy".',
    )

"""What the commands share that plan: their flags, the lock around the state, and the plan itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from nigari.addrs.parse import parse_resource_instance, parse_target
from nigari.addrs.targets import Target
from nigari.apply.operations import ApplyView
from nigari.backends.snapshots import Snapshots, new_lineage
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_LIST, FLAG_SWITCH, FLAG_TEXT, Flag, Invocation
from nigari.cli.prompt import INPUT_FLAG, Person
from nigari.cli.stored_state import BACKUP_FLAG, LOCK_FLAGS, SAYING_FLAGS, STATE_FLAG, OpenState
from nigari.cli.variables import ORDER, VARIABLE_FLAGS
from nigari.cli.views.apply_progress import AllViews, ApplyProgress
from nigari.cli.views.plan_events import ApplyEvents, plan_events, result_events
from nigari.cli.views.plan_text import plan_text
from nigari.diagnostics import Diagnostics
from nigari.eval.inputs import Inputs, check_undeclared
from nigari.lang.files import DiskFiles
from nigari.lang.render import value_display
from nigari.plan.changes import Plan, PlanMode
from nigari.plan.plan_file import SavedPlan, read_plan_file, write_plan_file
from nigari.plan.plan_host import PlanOptions
from nigari.state.files import format_state
from nigari.state.model import State, StateFile
from nigari.workspace import Workspace
from nigari.workspace.planning import Planning
from nigari.workspace.saved_plan import (
    ReadFiles,
    UnchangedFiles,
    lock_checksum,
    saved_files,
    saved_inputs,
    saved_plan,
)
from nigari.workspace.waiting import run_to_end

_RESCUED: Final = "errored.tfstate"

PARALLELISM_FLAG = Flag(
    "parallelism", FLAG_TEXT, "How many operations may run at once", "NUMBER", "10"
)
PLAN_FLAGS = (
    Flag("destroy", FLAG_SWITCH, "Plan to destroy everything that is managed here"),
    Flag("refresh-only", FLAG_SWITCH, "Only bring the state up to date with what exists"),
    Flag(
        "refresh",
        FLAG_SWITCH,
        "Do not look at what exists: take the state's word for it",
        default="true",
    ),
    Flag("replace", FLAG_LIST, "Replace the object at this address; may be repeated", "ADDRESS"),
    Flag("target", FLAG_LIST, "Look only at this and what it needs; may be repeated", "ADDRESS"),
    Flag("exclude", FLAG_LIST, "Leave out this and what needs it; may be repeated", "ADDRESS"),
    PARALLELISM_FLAG,
    INPUT_FLAG,
    *LOCK_FLAGS,
    STATE_FLAG,
    *VARIABLE_FLAGS,
    *SAYING_FLAGS,
)
APPLY_FLAGS = (
    Flag("auto-approve", FLAG_SWITCH, "Do not ask before anything is done"),
    Flag("state-out", FLAG_TEXT, "Where the new state goes, for the local backend only", "FILE"),
    BACKUP_FLAG,
    *PLAN_FLAGS,
)


class PlanningCommand:
    """A command that makes a plan, and perhaps does something with it."""

    def __init__(self, invocation: Invocation, mode: PlanMode | None = None) -> None:
        self.invocation = invocation
        self.state = OpenState(invocation)
        self.mode = mode or self._mode()
        self.planning: Planning | None = None
        self.parallelism = self._parallelism()
        self._read = ReadFiles(DiskFiles())

    @property
    def diags(self) -> Diagnostics:
        return self.state.diags

    def run(self, operation: str, work: Callable[[Snapshots], Awaitable[int]]) -> int:
        """Do something with the state of the working directory while nobody else can."""
        status = run_to_end(self._whole(operation, work))
        shown = self.state.end()
        return shown or status

    async def _whole(self, operation: str, work: Callable[[Snapshots], Awaitable[int]]) -> int:
        state = self.state
        status = 1
        snapshots = state.working.snapshots(state.encryption, state.diags, state.files)
        if snapshots is None or state.diags.has_errors:
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

    async def plan(self, snapshots: Snapshots) -> Plan | None:
        """The plan that the command line asks for."""
        state = self.state
        static = state.static()
        options = self._options()
        if static is None or options is None or self._has_failed():
            return None
        inputs = self._inputs()
        check_undeclared(inputs, static.root.module.variables, state.diags)
        if self._has_failed():
            return None
        planning = self.planning = Planning(
            static,
            inputs,
            self._read,
            snapshots.state,
            state.terminal.environ,
            state.working.selected(state.diags).name,
        )
        plan = await planning.plan(options)
        state.diags.extend(planning.diags)
        planning.diags = Diagnostics()
        return plan

    def save(self, plan: Plan, path: str, snapshots: Snapshots) -> bool:
        """Write a plan to a file."""
        state, planning = self.state, self.planning
        assert planning is not None
        known = snapshots.file
        saved = saved_plan(
            planning,
            plan,
            state.configuration.workspace.sources,
            self._read.checksums,
            state.working.data_directory,
            ("", 0) if known is None else (known.lineage, known.serial),
        )
        try:
            Path(path).write_bytes(write_plan_file(saved))
        except OSError as error:
            self.diags.error("Plan cannot be saved", f"{path}: {error.strerror}.")
            return False
        state.text(f'\nThe plan is in the file {path}. To carry it out: nigari apply "{path}"')
        return True

    async def restore(self, path: str, snapshots: Snapshots) -> Plan | None:
        """The plan in a file, if it can still be applied."""
        diags = self.diags
        saved = self._saved(path)
        if saved is None or not self._is_current(saved, snapshots):
            return None
        files = saved_files(saved)
        workspace = Workspace(files=files)
        inputs = saved_inputs(saved)
        static, told = workspace.static(inputs, saved.workspace)
        diags.extend(told)
        if static is None or self._has_failed():
            return None
        planning = self.planning = Planning(
            static,
            inputs,
            UnchangedFiles(DiskFiles(), saved.files),
            saved.previous,
            self.state.terminal.environ,
            saved.workspace,
        )
        plan = await planning.restore(saved)
        diags.extend(planning.diags)
        planning.diags = Diagnostics()
        return plan

    def _saved(self, path: str) -> SavedPlan | None:
        try:
            return read_plan_file(Path(path).read_bytes(), self.diags)
        except OSError as error:
            self.diags.error("Plan cannot be read", f"{path}: {error.strerror}.")
            return None

    def _is_current(self, saved: SavedPlan, snapshots: Snapshots) -> bool:
        known = snapshots.file
        current = ("", 0) if known is None else (known.lineage, known.serial)
        reason = ""
        if current != (saved.lineage, saved.serial):
            reason = "the state has changed since the plan was made"
        elif lock_checksum() != saved.lock:
            reason = "the lock file of the providers has changed since the plan was made"
        elif self.state.working.selected(self.diags).name != saved.workspace:
            reason = f"it was made for the workspace {saved.workspace}"
        elif self.invocation.ordered.get(ORDER):
            reason = "it has the values of its variables, which cannot be given again"
        if reason:
            self.diags.error("Plan cannot be applied", f"The plan is refused: {reason}.")
        return not reason

    def show(self, plan: Plan) -> None:
        """Show a plan."""
        state = self.state
        if not state.is_for_programs:
            state.text(plan_text(plan))
        if state.events is not None:
            plan_events(plan, state.events)

    async def apply(self, plan: Plan, snapshots: Snapshots) -> int:
        """Carry out a plan and tell what came of it."""
        planning, state = self.planning, self.state
        assert planning is not None
        if not await snapshots.prepare_to_write(state.diags):
            return 1
        progress = ApplyProgress(None if state.is_for_programs else state.terminal)
        views: list[ApplyView] = [progress]
        if state.events is not None:
            views.append(ApplyEvents(state.events))

        async def keep(current: State) -> bool:
            return await snapshots.write(current, state.diags)

        result = await planning.apply(plan, AllViews(views), keep, self.parallelism)
        state.diags.extend(planning.diags)
        if not await snapshots.write(result, state.diags):
            self._rescue(snapshots, result)
            return 1
        if self._has_failed():
            return 1
        self._tell(plan, progress, result)
        return 0

    def _rescue(self, snapshots: Snapshots, result: State) -> None:
        """Put a state that cannot be stored where a person can find it."""
        known = snapshots.file
        file = StateFile(
            result,
            new_lineage() if known is None else known.lineage,
            1 if known is None else known.serial + 1,
        )
        try:
            Path(_RESCUED).write_bytes(format_state(file, is_for_people=True))
        except OSError as error:
            self.diags.error("State is lost", f"{_RESCUED} cannot be written: {error.strerror}.")
            return
        self.diags.error(
            "State is not stored",
            f"What was done is in the file {_RESCUED} of this directory. Once the backend works "
            f'again, store it with "nigari state push {_RESCUED}".',
        )

    def _tell(self, plan: Plan, progress: ApplyProgress, result: State) -> None:
        say, done = self.state.text, progress
        if self.state.events is not None:
            result_events(plan, done.added, done.changed, done.destroyed, result, self.state.events)
        if plan.mode is PlanMode.DESTROY:
            say(f"\nDestroy complete! Resources: {progress.destroyed} destroyed.")
            return
        counts = (
            f"{progress.added} added, {progress.changed} changed, {progress.destroyed} destroyed"
        )
        if progress.forgotten:
            counts += f", {progress.forgotten} forgotten"
        say(f"\nApply complete! Resources: {counts}.")
        if result.outputs:
            say("\nOutputs:\n")
            for name, output in sorted(result.outputs.items()):
                text = "<sensitive>" if output.sensitive else value_display(output.value)
                say(f"{name} = {text}")

    # -- what the command line says -----------------------------------------------------------

    def _has_failed(self) -> bool:
        return self.state.diags.has_errors

    def _mode(self) -> PlanMode:
        invocation = self.invocation
        if invocation.switch("destroy") and invocation.switch("refresh-only"):
            raise UsageError("The options -destroy and -refresh-only exclude each other.")
        if invocation.switch("destroy"):
            return PlanMode.DESTROY
        return PlanMode.REFRESH_ONLY if invocation.switch("refresh-only") else PlanMode.NORMAL

    def _parallelism(self) -> int:
        text = self.invocation.text("parallelism")
        if not text.isdigit() or int(text) < 1:
            raise UsageError(f'The option -parallelism is a number from 1 on, not "{text}".')
        return int(text)

    def _options(self) -> PlanOptions | None:
        invocation, diags = self.invocation, self.diags
        replaced = [parse_resource_instance(each, diags) for each in invocation.texts("replace")]
        return PlanOptions(
            self.mode,
            invocation.switch("refresh"),
            tuple(each for each in replaced if each is not None),
            self._targets("target"),
            self._targets("exclude"),
            self.parallelism,
        )

    def _targets(self, flag: str) -> tuple[Target, ...]:
        found = [parse_target(each, self.diags) for each in self.invocation.texts(flag)]
        return tuple(each for each in found if each is not None)

    def _inputs(self) -> Inputs:
        """The values of variables, with those that had to be asked for."""
        configuration = self.state.configuration
        inputs = dict(configuration.inputs)
        static = self.state.static()
        person = Person(self.state.terminal, self.invocation.switch("input"))
        if static is not None and person.can_be_asked:
            for name, variable in static.root.module.variables.items():
                if name not in inputs and variable.default is None:
                    answer = person.value_of(variable)
                    if answer is not None:
                        inputs[name] = answer
        return inputs

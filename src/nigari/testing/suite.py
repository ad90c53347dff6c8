"""Test suite: finds, reads and executes all test files of a module, sequentially or concurrently.

A suite has the selected files, the variables for all of them and the plugins that they share.
`files` executes one file, `execution` one run; results are passed to a `TestView`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from nigari.config.test_files import TestFile
from nigari.diagnostics import Diagnostics
from nigari.eval.core.inputs import Inputs
from nigari.eval.static.run import StaticRun, run_static
from nigari.eval.tree.placement_rules import check_places
from nigari.eval.tree.provider_rules import check_providers
from nigari.hcl.suggestion import did_you_mean
from nigari.lang.functions.table import function_table
from nigari.plan.model.changes import Action
from nigari.record import record
from nigari.testing.execution import SuiteContext
from nigari.testing.files import Stopping, TestFileRunner
from nigari.testing.outcome import FileOutcome, Leftover, Status, SuiteOutcome
from nigari.testing.plugins import Plugins
from nigari.testing.values import ValueSource
from nigari.workspace.configuration.directory import Workspace
from nigari.workspace.context.interruptions import Interruptions, on_interrupt
from nigari.workspace.context.options import GivenVariables
from nigari.workspace.context.variable_values import read_variables
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.plugins.providers import InstalledProviders

if TYPE_CHECKING:
    from nigari.testing.coverage import CoverageRecorder

_CUT_OFF: Final = 2
"""Number of interruptions after which there is no clean-up."""
_PATIENCE: Final = 5.0
"""Seconds after that until nothing is waited for."""


@record
class TestOptions:
    """Options of a test suite."""

    __test__ = False

    directory: str = "tests"
    """Directory of test files, in addition to those of the module itself."""
    only: tuple[str, ...] = ()
    """The files to run; empty for all."""
    shows: bool = False
    """True to show plans and states."""
    parallelism: int = 1
    """Number of files that run concurrently."""
    covers: bool = False
    """True to record coverage."""


class TestView:
    """Receives the progress of tests and ignores it; subclasses handle it."""

    __test__ = False

    def found(self, files: Sequence[TestFile]) -> None:
        """These files are about to run."""

    def finished(self, file: FileOutcome) -> None:
        """The runs of a file are finished; their objects still exist."""

    def cleaned_up(self, file: FileOutcome) -> None:
        """The objects of a file are destroyed, as far as possible."""

    def interrupted(self) -> None:
        """The tests are about to end early, after cleaning up."""

    def cut_off(self, files: Sequence[Abandoned]) -> None:
        """The tests end immediately and leave these objects behind."""


@record
class Abandoned:
    """Objects that an aborted file leaves behind."""

    file: str
    run: str
    """The active runs; empty if there were none."""
    main: tuple[Leftover, ...]
    """Objects of the module in the working directory."""
    states: tuple[tuple[str, tuple[Leftover, ...]], ...]
    """Objects of each other state, by the run that created it."""
    planned: tuple[str, ...]
    """Objects that were being created."""


class Suite:
    """The tests of one working directory."""

    def __init__(
        self, where: WorkingDirectory, given: GivenVariables, options: TestOptions, selected: str
    ) -> None:
        self.workspace: Workspace = Workspace(where)
        self.diags: Diagnostics = Diagnostics()
        self.files: list[TestFile] = []
        self._given = given
        self._options = options
        self._selected = selected
        self._stopping = Stopping()
        self._active: dict[TestFileRunner, Interruptions] = {}
        self._told = Diagnostics()
        """Diagnostics of the configuration that are independent of the tests."""

    def load(self) -> bool:
        """Read the configuration and all test files; return whether both are valid."""
        workspace, diags = self.workspace, self.diags
        workspace.modules.compiled(workspace.directory, diags)
        files = workspace.loader.tests(workspace.directory, self._options.directory, diags)
        self._check_providers(files)
        wanted = self._options.only
        names = [each.name for each in files]
        for name in wanted:
            if name not in names and not diags.has_errors:
                diags.error(
                    "Test file not found",
                    f'There is no test file "{name}" for the option -filter. The name is the path '
                    f"from the working directory, as in the results.{did_you_mean(name, names)}",
                )
        self.files = [each for each in files if not wanted or each.name in wanted]
        return not diags.has_errors

    def _check_providers(self, files: Sequence[TestFile]) -> None:
        """Report contradictions between test files and the modules of their runs."""
        from nigari.workspace.configuration.test_modules import check_types, load_tested

        root = self.workspace.modules.compiled(self.workspace.directory, Diagnostics())
        if root is None or self.diags.has_errors:
            return
        used = {}
        for file in files:
            for run in file.runs:
                module = load_tested(self.workspace, file, run, self.diags)
                if module is not None:
                    used[run.block] = module.module
        check_types(files, root.module, used, self.diags)

    async def run(self, view: TestView) -> SuiteOutcome:
        """Execute the files; their results are reported in order."""
        outcome = SuiteOutcome()
        context = self._context()
        if context is None:
            return outcome
        view.found(self.files)
        outcome.status = Status.PASS
        try:
            with on_interrupt(lambda: self._interrupt(view)):
                await self._run_all(context, view, outcome)
        finally:
            await context.plugins.close()
        self.diags.extend(context.plugins.warnings)
        if context.coverage is not None:
            outcome.coverage = context.coverage.result()
        for file in outcome.files:
            outcome.status = max(outcome.status, file.status)
            if any(each.has_failed for each in file.cleanups):
                outcome.status = Status.ERROR
        if self._stopping.is_cut_off:
            outcome.status = Status.ERROR
        return outcome

    async def _run_all(self, context: SuiteContext, view: TestView, outcome: SuiteOutcome) -> None:
        runners = [TestFileRunner(context, file, self._stopping) for file in self.files]
        limit = asyncio.Semaphore(max(self._options.parallelism, 1))

        async def one(runner: TestFileRunner) -> None:
            async with limit:
                await self._run_one(runner)

        tasks = [asyncio.create_task(one(each)) for each in runners]
        for runner, task in zip(runners, tasks, strict=True):
            await task
            outcome.files.append(runner.outcome)
            if not self._stopping.is_cut_off:
                view.finished(runner.outcome)
                view.cleaned_up(runner.outcome)

    async def _run_one(self, runner: TestFileRunner) -> None:
        """Execute one file, which handles interruptions itself."""
        if self._stopping.is_stopped:
            if not self._stopping.is_cut_off:
                runner.skip()
            return
        interruptions = self._active[runner] = Interruptions()

        async def whole() -> None:
            task = asyncio.current_task()
            with interruptions.reacting(lambda: self._end(task)):
                await runner.run()
                await runner.clean_up()

        try:
            await interruptions.run(whole())
        except asyncio.CancelledError:
            if not self._stopping.is_cut_off:
                raise
        finally:
            del self._active[runner]

    def _end(self, task: asyncio.Task[object] | None) -> None:
        """Let active work finish, unless the tests are aborted."""
        if self._stopping.is_cut_off and task is not None:
            task.cancel()

    def _interrupt(self, view: TestView) -> None:
        stopping = self._stopping
        stopping.times += 1
        if not stopping.is_cut_off:
            # Active work finishes on its own.
            view.interrupted()
            return
        if stopping.times == _CUT_OFF:
            view.cut_off([_abandoned(each) for each in self._active])
            asyncio.get_running_loop().call_later(_PATIENCE, self._pass_on)
        self._pass_on()

    def _pass_on(self) -> None:
        """Stop active work: gracefully the first time, immediately the second."""
        for each in list(self._active.values()):
            each.interrupt()

    def _context(self) -> SuiteContext | None:
        workspace, options = self.workspace, self._options
        where = workspace.where
        reader = read_variables(where, self._selected, self._given, self.diags, options.directory)
        workspace.sources.update(reader.sources)
        if self.diags.has_errors:
            return None
        functions = function_table(
            workspace.files,
            ".",
            root=where.absolute_root,
            home_directory=workspace.home_directory,
        )
        static = self._check_configuration(reader.inputs)
        if self.diags.error_count:
            return None
        return SuiteContext(
            workspace=workspace,
            selected=self._selected,
            plugins=Plugins(InstalledProviders(where)),
            values=ValueSource(reader.inputs, functions),
            shows=options.shows,
            reported=frozenset(self._told),
            coverage=self._recorder(static) if options.covers else None,
        )

    def _recorder(self, static: StaticRun | None) -> CoverageRecorder:
        """Create the coverage recorder for the modules of the configuration."""
        from nigari.testing.coverage import CoverageRecorder

        frames = () if static is None else static.frames()
        return CoverageRecorder(frame.module for frame in frames)

    def _check_configuration(self, inputs: Inputs) -> StaticRun | None:
        """Report the mistakes of the configuration that are independent of the tests, once; return
        its static phase if it can be read.
        """
        workspace, found, static = self.workspace, Diagnostics(), None
        root = workspace.modules.compiled(workspace.directory, Diagnostics())
        if root is not None:
            static = run_static(root, workspace.static_settings(inputs, self._selected))
            check_places(static.root.instance, found)
            check_providers(static.root.instance, found)
        self.diags.extend(found)
        self._told = found
        return static


def _abandoned(runner: TestFileRunner) -> Abandoned:
    planned = [
        str(change.address)
        for execution in runner.current.values()
        if execution.planned is not None
        for change in execution.planned.changes
        if change.action is Action.CREATE
    ]
    main, others = runner.left
    states = tuple((name, tuple(left)) for name, left in others.items())
    under_way = ", ".join(runner.current)
    return Abandoned(runner.outcome.name, under_way, tuple(main), states, tuple(planned))

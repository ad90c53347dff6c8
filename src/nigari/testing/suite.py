"""All test files of a module: found, read, executed one after the other or side by side.

A suite knows which files are selected, the variables for all of them and the plugins that they
share. What one file does is in `files`, what one run does in `execution`; results go to a
`TestView`.
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
from nigari.testing.execution import Laboratory
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
"""The interruption after which nothing is cleaned up any more."""
_PATIENCE: Final = 5.0
"""Seconds after that until nothing is waited for any more."""


@record
class TestOptions:
    """What somebody wants of tests."""

    __test__ = False

    directory: str = "tests"
    """Where test files are, beside those of the module itself."""
    only: tuple[str, ...] = ()
    """The files to run; none means all."""
    shows: bool = False
    """Whether what is planned and made is to be shown."""
    parallelism: int = 1
    """How many files run at the same time."""
    covers: bool = False
    """Whether it is noted what of the configuration runs touch."""


class TestView:
    """Hears how tests go, and does nothing about it; others do more."""

    __test__ = False

    def found(self, files: Sequence[TestFile]) -> None:
        """These files are about to run."""

    def finished(self, file: FileOutcome) -> None:
        """The runs of a file are done; what they made still exists."""

    def cleaned_up(self, file: FileOutcome) -> None:
        """What a file made is destroyed, as far as possible."""

    def interrupted(self) -> None:
        """The tests are about to end early, after cleaning up."""

    def cut_off(self, files: Sequence[Abandoned]) -> None:
        """The tests end at once; this is what they leave behind."""


@record
class Abandoned:
    """What a file leaves behind that was cut off."""

    file: str
    run: str
    """The runs under way; empty where none was."""
    main: tuple[Leftover, ...]
    """The objects of the module in the working directory."""
    states: tuple[tuple[str, tuple[Leftover, ...]], ...]
    """The objects of each other state, by the run that made it."""
    planned: tuple[str, ...]
    """The objects that were being made."""


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
        """What is wrong with the configuration, however it is tested."""

    def load(self) -> bool:
        """Read the configuration and all test files; whether everything is well."""
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
        """Report what is wrong between test files and the modules of their runs."""
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
        """Execute the files; what has come of them is told in their order."""
        outcome = SuiteOutcome()
        laboratory = self._laboratory()
        if laboratory is None:
            return outcome
        view.found(self.files)
        outcome.status = Status.PASS
        try:
            with on_interrupt(lambda: self._interrupt(view)):
                await self._run_all(laboratory, view, outcome)
        finally:
            await laboratory.plugins.close()
        self.diags.extend(laboratory.plugins.warnings)
        if laboratory.coverage is not None:
            outcome.coverage = laboratory.coverage.result()
        for file in outcome.files:
            outcome.status = max(outcome.status, file.status)
            if any(each.has_failed for each in file.cleanups):
                outcome.status = Status.ERROR
        if self._stopping.is_cut_off:
            outcome.status = Status.ERROR
        return outcome

    async def _run_all(self, laboratory: Laboratory, view: TestView, outcome: SuiteOutcome) -> None:
        runners = [TestFileRunner(laboratory, file, self._stopping) for file in self.files]
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
        """Execute one file, which hears of interruptions by itself."""
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
        """What is under way comes to its end by itself, unless nobody waits for that."""
        if self._stopping.is_cut_off and task is not None:
            task.cancel()

    def _interrupt(self, view: TestView) -> None:
        stopping = self._stopping
        stopping.times += 1
        if not stopping.is_cut_off:
            # What is under way comes to its end.
            view.interrupted()
            return
        if stopping.times == _CUT_OFF:
            view.cut_off([_abandoned(each) for each in self._active])
            asyncio.get_running_loop().call_later(_PATIENCE, self._pass_on)
        self._pass_on()

    def _pass_on(self) -> None:
        """Stop what is under way: gently the first time, at once the second."""
        for each in list(self._active.values()):
            each.interrupt()

    def _laboratory(self) -> Laboratory | None:
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
        static = self._look_at_configuration(reader.inputs)
        if self.diags.error_count:
            return None
        return Laboratory(
            workspace=workspace,
            selected=self._selected,
            plugins=Plugins(InstalledProviders(where)),
            values=ValueSource(reader.inputs, functions),
            shows=options.shows,
            told=frozenset(self._told),
            coverage=self._recorder(static) if options.covers else None,
        )

    def _recorder(self, static: StaticRun | None) -> CoverageRecorder:
        """Notes what runs touch in the modules of the configuration."""
        from nigari.testing.coverage import CoverageRecorder

        frames = () if static is None else static.frames()
        return CoverageRecorder(frame.module for frame in frames)

    def _look_at_configuration(self, inputs: Inputs) -> StaticRun | None:
        """Report what is wrong with the configuration however it is tested, once; its static
        phase, where it can be read.
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

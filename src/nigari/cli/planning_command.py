"""The commands that plan: what they ask of a session, and how the result is shown.

The base of plan, apply, refresh, import and others. Locks, states and stale plans belong to the
session.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from nigari.cli.command import Invocation
from nigari.cli.lint_option import add_lint, is_linting
from nigari.cli.plan_flags import (
    DEFER_FLAG,
    EXPLORE_FLAG,
    GENERATE_FLAG,
    SUPPRESS_FLAG,
    most_rounds,
    parallelism,
)
from nigari.cli.plan_options import plan_mode, plan_options
from nigari.cli.plan_start import ask_variables, open_planning
from nigari.cli.presenter import Presenter
from nigari.cli.state_flags import has_flag
from nigari.cli.views.apply_progress import let_time_pass
from nigari.cli.views.plan_presenter import PlanPresenter
from nigari.diagnostics import Diagnostics
from nigari.events import Listener
from nigari.plan.model.changes import Plan, PlanMode
from nigari.plan.nodes.imports import ImportTarget
from nigari.workspace.context.asyncio_bridge import run_until_it_waits
from nigari.workspace.session.apply_result import Saved, Unsaved
from nigari.workspace.session.locked_session import LockedSession, locked
from nigari.workspace.session.made_plan import MadePlan
from nigari.workspace.session.session import Session

TYPE_CHECKING = False
# Most plans are only read, and few are shown in the page.
if TYPE_CHECKING:
    from nigari.cli.live_page import PageBeside
    from nigari.eval.static.run import StaticRun
    from nigari.plan.nodes.lists import ListInstance
    from nigari.workspace.session.apply_rounds import ApplyRounds


class PlanningCommand:
    """A command that makes a plan, and perhaps does something with it."""

    def __init__(
        self,
        invocation: Invocation,
        mode: PlanMode | None = None,
        directory: str | None = None,
        tells_events: bool = True,
        begun: Presenter | None = None,
    ) -> None:
        """`begun` is the presenter of a command that knows the values of its variables already."""
        self.invocation = invocation
        self.presenter: Presenter = begun or open_planning(invocation, directory, tells_events)
        self.session: Session = self.presenter.session
        self.plan_presenter: PlanPresenter = PlanPresenter(self.presenter)
        self.listener: Listener = self.plan_presenter.view
        """Receives events while the plan is made."""
        self.mode: PlanMode = mode or plan_mode(invocation)
        self.is_refresh = False
        """True if the plan exists only for the state that it finds."""
        self.parallelism: int = parallelism(invocation)
        self._page: PageBeside | None = self._page_beside()
        self.asks_variables: bool = begun is None
        """True to prompt for variables. A saved plan has their values."""

    def _page_beside(self) -> PageBeside | None:
        """The page for those who want to look on."""
        flag = EXPLORE_FLAG.name
        if not has_flag(self.invocation, flag) or not self.invocation.switch(flag):
            return None
        from nigari.cli.live_page import PageBeside

        found = PageBeside(self.presenter)
        self.plan_presenter.add(found.page.events)
        return found

    async def _let_time_pass(self) -> None:
        await let_time_pass(self.plan_presenter.view)

    @property
    def diags(self) -> Diagnostics:
        return self.session.diags

    @property
    def is_in_rounds(self) -> bool:
        """Return whether further plans may follow until nothing is deferred."""
        is_first = most_rounds(self.invocation) >= 0 and self.mode is PlanMode.NORMAL
        return is_first and self.invocation.switch(DEFER_FLAG.name)

    def run(self, operation: str, work: Callable[[LockedSession], Awaitable[int]]) -> int:
        """Do some work while the state of the working directory is locked."""

        async def whole() -> int:
            if self.asks_variables:
                ask_variables(self.session)
            async with locked(self.session, operation, self.listener) as held:
                return 1 if held is None else await work(held)

        try:
            status = run_until_it_waits(whole(), self._let_time_pass)
            return self.presenter.end() or status
        finally:
            if self._page is not None:
                self._page.close()

    async def plan(self, locked: LockedSession) -> MadePlan | None:
        """Make the plan that the command line asks for; None if there is not even an incomplete one."""
        options = plan_options(self.presenter, self.mode, self.is_refresh)
        self.add_lint(self.session.static)
        await self._generate_config(locked)
        if self.diags.has_errors:
            return None
        with self._progress():
            return await locked.plan(options)

    async def rounds(self, locked: LockedSession) -> ApplyRounds | None:
        """The rounds that the command line asks for; None after reporting why there are none."""
        from nigari.workspace.session.apply_rounds import ApplyRounds

        options = plan_options(self.presenter, self.mode)
        self.add_lint(self.session.static)
        await self._generate_config(locked)
        if self.diags.has_errors:
            return None
        return ApplyRounds(locked, options, most_rounds(self.invocation))

    def add_lint(self, static: Callable[[], StaticRun | None]) -> None:
        """Add what lint rules find in a configuration, if the command line asks for it."""
        if is_linting(self.invocation):
            add_lint(self.invocation, self.session, static())

    async def plan_round(self, rounds: ApplyRounds) -> MadePlan | None:
        """The plan of the next round."""
        self.plan_presenter.round(rounds.number + 1)
        with self._progress():
            return await rounds.plan()

    async def _generate_config(self, locked: LockedSession) -> None:
        """Write blocks for what is imported without any, if that is asked for."""
        has_path = has_flag(self.invocation, GENERATE_FLAG)
        path = self.invocation.text(GENERATE_FLAG) if has_path else ""
        if path:
            await self._generate(path, locked)

    async def _generate(self, path: str, locked: LockedSession) -> None:
        with self._progress():
            is_written = await locked.generate(path, self.parallelism)
        if is_written:
            text = f"\nGenerated blocks were written to {path}: review and keep them.\n"
            self.presenter.text(text)

    async def import_object(self, target: ImportTarget, locked: LockedSession) -> bool:
        """Store an existing object in the state; False after an error."""
        with self._progress():
            return await locked.import_object(target, self.parallelism)

    async def query(self, locked: LockedSession, lists_whole: bool) -> list[ListInstance] | None:
        """Run the queries of the directory; None after an error."""
        with self._progress():
            return await locked.query(lists_whole, self.parallelism)

    @contextmanager
    def _progress(self) -> Iterator[None]:
        """Remove the status line when the work is done."""
        yield
        self.plan_presenter.close()

    def show(self, made: MadePlan, goes_on: bool = False) -> None:
        """Show a plan, and the diagnostics so far.

        If the command goes on to apply it, check results are shown only after that.
        """
        self.plan_presenter.show(made, self.invocation.switch("show-sensitive"))
        self.presenter.tell_so_far(with_checks=made.plan.is_incomplete or not goes_on)

    def explore(self, made: MadePlan) -> None:
        """Show a plan on the page of `-explore`, if requested."""
        if self._page is not None:
            self._page.show(made)

    async def apply(
        self, locked: LockedSession, made: MadePlan, is_saved: bool = False, goes_on: bool = False
    ) -> int:
        """Apply a plan and show the result; a saved plan has not been shown before.

        If another round follows, the last one shows the result.
        """
        plan = made.plan
        self.plan_presenter.applying(plan, is_saved)
        with self._progress():
            result = await locked.apply(made, self.plan_presenter.view, self.parallelism)
        has_succeeded = self._is_saved(result)
        if self._page is not None:
            self._page.applied(list(result.found), has_succeeded, goes_on)
        if isinstance(result, Unsaved) or not has_succeeded:
            return 1
        self.presenter.tell_so_far()
        if goes_on:
            return 0
        self.plan_presenter.result(plan, result.state)
        if plan.mode is PlanMode.DESTROY and plan.left_behind:
            self._report_forgotten(plan)
        return 0

    async def store_found(self, locked: LockedSession, made: MadePlan) -> int:
        """Store nothing but the state that a plan found, and show the outputs."""
        result = await locked.store_found(made)
        if not self._is_saved(result) or isinstance(result, Unsaved):
            return 1
        self.presenter.tell_so_far()
        self.plan_presenter.refreshed(result.state)
        return 0

    def _is_saved(self, result: Saved | Unsaved) -> bool:
        """Return whether the state was saved. An unsaved state that is in no file is printed."""
        if isinstance(result, Unsaved) and result.data and not result.path:
            self.plan_presenter.close()
            self.presenter.terminal.out(result.data.decode())
        return isinstance(result, Saved) and not self.diags.has_errors

    def _report_forgotten(self, plan: Plan) -> None:
        """Fail if some objects still exist: a successful destroy leaves none."""
        if not self.invocation.switch(SUPPRESS_FLAG):
            self.diags.error(
                "Objects are left behind",
                "The destroy finished, but some objects were forgotten instead of destroyed: "
                f"{plan.left_behind}. They may still exist and cost money. Use -{SUPPRESS_FLAG} if this "
                "is intended.",
            )

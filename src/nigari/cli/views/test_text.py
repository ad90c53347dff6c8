"""Test results for people: a line for each file and each run, then what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.cli.command import Terminal
from nigari.cli.views.diagnostics import show_diagnostics
from nigari.cli.views.style import style_of
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.layout import Layout, wrap
from nigari.testing.outcome import CleanUp, FileOutcome, RunOutcome, Shown, Status, SuiteOutcome
from nigari.testing.suite import Abandoned, TestView
from nigari.workspace.configuration.directory import Workspace


class TestText(TestView):
    """Tells people."""

    def __init__(self, terminal: Terminal, workspace: Workspace) -> None:
        self._terminal = terminal
        self._workspace = workspace
        self._style = style_of(terminal)

    def finished(self, file: FileOutcome) -> None:
        self._terminal.out(f"{file.name}... {self._word(file.status)}")
        for run in file.runs:
            self._terminal.out(f'  run "{run.name}"... {self._word(run.status)}')
            if run.shown is not None:
                self._show(run, run.shown)
            self._diagnostics(run.diags)

    def cleaned_up(self, file: FileOutcome) -> None:
        for each in file.cleanups:
            self._cleaned_up(file, each)

    def _cleaned_up(self, file: FileOutcome, done: CleanUp) -> None:
        where = f"{file.name}/{done.run.name}"
        if done.diags.has_errors:
            self._say(f"Not everything that {where} created could be destroyed.")
        self._diagnostics(done.diags)
        if done.left:
            put = f" Their state is in the file {done.saved_at}." if done.saved_at else ""
            self._say(f"\n{where} leaves these objects behind, for you to destroy.{put}")
            for each in done.left:
                deposed = f" ({each.deposed})" if each.deposed else ""
                self._terminal.err(f"  - {each.address}{deposed}")
        if done.unsaved is not None:
            self._terminal.err(done.unsaved.decode())

    def concluded(self, outcome: SuiteOutcome) -> None:
        """Tell how many runs ended how, and what they have touched."""
        style = self._style
        if outcome.coverage is not None:
            from nigari.cli.views.test_coverage import coverage_text

            self._terminal.out(f"\n{coverage_text(outcome.coverage)}")
        is_good = outcome.status <= Status.PASS
        word = style.green("Success!") if is_good else style.red("Failure!")
        self._terminal.out(f"\n{word} {counts(outcome)}")

    def interrupted(self) -> None:
        self._say(
            "\nInterrupted. The current run will finish, and everything that the tests created will be "
            "destroyed. Interrupt again to stop at once and leave everything as it is."
        )

    def cut_off(self, files: Sequence[Abandoned]) -> None:
        self._say("\nInterrupted again: what the tests created is not destroyed.")
        for file in files:
            self._list(f"{file.file} has made:", [each.address for each in file.main])
            for run, left in file.states:
                self._list(f"{file.file}/{run} has made:", [each.address for each in left])
            self._list(f"{file.file}/{file.run} was making:", file.planned)

    def _list(self, title: str, addresses: Sequence[str]) -> None:
        if addresses:
            self._say(f"\n{title}")
            for each in addresses:
                self._terminal.err(f"  - {each}")

    def _word(self, status: Status) -> str:
        style = self._style
        if status >= Status.FAIL:
            return style.red("fail")
        return style.green("pass") if status is Status.PASS else style.grey(status.word)

    def _show(self, run: RunOutcome, shown: Shown) -> None:
        terminal = self._terminal
        if shown.state is None:
            from nigari.cli.views.plan_text import plan_text
            from nigari.cli.views.presentation import Presentation
            from nigari.workspace.plans.show_plan import ShownPlan

            plan = shown.outcome.plan
            relevant = ShownPlan(shown.outcome).relevant() if plan.drift else ()
            width = Layout.for_stream(terminal.stdout, terminal.environ).width - 1
            terminal.stdout.write(plan_text(plan, Presentation(self._style), width, relevant))
        else:
            from nigari.state.show.show_text import state_to_text

            lookup = shown.outcome.inputs.pool.schema_of
            terminal.stdout.write(state_to_text(shown.state, lookup, run.diags, False))

    def _diagnostics(self, diags: Diagnostics) -> None:
        workspace = self._workspace
        show_diagnostics(self._terminal, diags, workspace.sources, workspace.context_of)

    def _say(self, text: str) -> None:
        layout = Layout.for_stream(self._terminal.stderr, self._terminal.environ)
        self._terminal.stdout.flush()
        self._terminal.err("\n".join(wrap(text, layout.width)))


def counts(outcome: SuiteOutcome) -> str:
    """Return a sentence that counts runs by status."""
    passed, failed = outcome.count(Status.PASS), outcome.count(Status.FAIL, Status.ERROR)
    skipped = outcome.count(Status.SKIP)
    rest = f", {skipped} skipped" if skipped else ""
    return f"{passed} passed, {failed} failed{rest}."

"""`nigari test`: runs the tests of the module in the working directory."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_LIST, FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter
from nigari.cli.state_flags import SAYING_FLAGS, given_variables
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.config.test_files import TestFile
from nigari.diagnostics import Diagnostics
from nigari.testing.file_watcher import Stamps, changes, concerned, stamps
from nigari.testing.outcome import FileOutcome, Status, SuiteOutcome
from nigari.testing.suite import Abandoned, Suite, TestOptions, TestView
from nigari.workspace.context.asyncio_bridge import run_to_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.cli.views.test_events import TestEvents
    from nigari.cli.views.test_text import TestText

_PAUSE: Final = 0.3
"""Seconds between two looks at the files."""


def run(invocation: Invocation) -> int:
    """Run the tests and tell how they went."""
    wanted = tuple(invocation.texts("filter"))
    if not invocation.switch("watch"):
        return _run_once(invocation, wanted, SuiteOutcome())
    if invocation.switch("json"):
        raise UsageError("The options -watch and -json cannot be used together.")
    return _watch(invocation, wanted)


def _watch(invocation: Invocation, wanted: tuple[str, ...]) -> int:
    """Run the tests, and again whatever a change concerns, until that is interrupted."""
    files = Presenter(invocation).session.where.files
    places = {".", os.path.normpath(invocation.text("test-directory"))}
    known: dict[str, FileOutcome] = {}
    names, status = wanted, 0
    try:
        while True:
            outcome, begun = SuiteOutcome(), stamps(files, places)
            status = _run_once(invocation, names, outcome)
            known.update((each.name, each) for each in outcome.files)
            places.update(*(each.directories for each in known.values()))
            # What has changed while tests ran has changed.
            before: Stamps = {**stamps(files, places), **begun}
            invocation.terminal.out("\nWaiting for changes. Press Ctrl-C to end.\n")
            invocation.terminal.stdout.flush()
            names = ()
            while not (names or (before != begun and not known)):
                time.sleep(_PAUSE)
                now = stamps(files, places)
                changed, before = changes(before, now), now
                again = [each for each in concerned(known.values(), changed) if each in now]
                names = tuple(each for each in again if not wanted or each in wanted)
            names = names or wanted
    except KeyboardInterrupt:
        return status


def _run_once(invocation: Invocation, names: tuple[str, ...], outcomes: SuiteOutcome) -> int:
    """Run these files, or all without names; the outcome of each is put into `outcomes`."""
    presenter = Presenter(invocation)
    session = presenter.session
    options = TestOptions(
        invocation.text("test-directory"),
        names,
        invocation.switch("verbose"),
        _parallelism(invocation),
        invocation.switch("coverage"),
    )
    selected = session.selected
    suite = Suite(session.where, given_variables(invocation), options, selected)
    session.shown = suite.workspace
    views = _views(presenter, suite)
    is_sound = suite.load()
    _pass_on(suite, presenter)
    if not is_sound:
        return presenter.end(False)
    outcome = run_to_end(suite.run(_AllViews(views)))
    outcomes.files.extend(outcome.files)
    _pass_on(suite, presenter)
    if presenter.diags.has_errors:
        return presenter.end(False)
    for view in views:
        view.concluded(outcome)
    if invocation.text("junit-xml"):
        from nigari.cli.views.test_junit import junit_report

        _write(invocation.text("junit-xml"), junit_report(outcome), presenter.diags)
    if invocation.text("markdown"):
        from nigari.cli.views.test_markdown import markdown_report

        text = markdown_report(outcome, suite.workspace.sources)
        _write(invocation.text("markdown"), text.encode(), presenter.diags)
    return presenter.end(outcome.status <= Status.PASS)


def _pass_on(suite: Suite, presenter: Presenter) -> None:
    """Show what is wrong with the tests as a whole."""
    presenter.diags.adopt(suite.diags)
    presenter.tell_so_far()


def _views(presenter: Presenter, suite: Suite) -> list[TestText | TestEvents]:
    # Each imports what only it needs.
    views: list[TestText | TestEvents] = []
    if not presenter.is_for_programs:
        from nigari.cli.views.test_text import TestText

        views.append(TestText(presenter.terminal, suite.workspace))
    if presenter.events is not None:
        from nigari.cli.views.test_events import TestEvents

        views.append(TestEvents(presenter.events, suite.workspace))
    return views


class _AllViews(TestView):
    """Passes everything on to several views."""

    def __init__(self, views: Sequence[TestView]) -> None:
        self._views = views

    def found(self, files: Sequence[TestFile]) -> None:
        for view in self._views:
            view.found(files)

    def finished(self, file: FileOutcome) -> None:
        for view in self._views:
            view.finished(file)

    def cleaned_up(self, file: FileOutcome) -> None:
        for view in self._views:
            view.cleaned_up(file)

    def interrupted(self) -> None:
        for view in self._views:
            view.interrupted()

    def cut_off(self, files: Sequence[Abandoned]) -> None:
        for view in self._views:
            view.cut_off(files)


def _write(path: str, report: bytes, diags: Diagnostics) -> None:
    """Write a report for services that run tests for others, or for people who read them there."""
    try:
        with open(path, "wb") as file:
            file.write(report)
    except OSError as error:
        diags.error("Report not written", f"{path}: {error.strerror}.")


def _parallelism(invocation: Invocation) -> int:
    text = invocation.text("parallelism")
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f'The option -parallelism must be a number greater than 0, not "{text}".')
    return int(text)


COMMAND = Command(
    "test",
    "Runs the test files of the module in the working directory: those beside its configuration "
    "and those in the directory of tests. Each run plans or applies the module, and checks the "
    "result. What the tests create is real unless they mock it, and is destroyed at the end; the "
    "state of the working directory is never used.",
    run,
    flags=(
        Flag("filter", FLAG_LIST, "Run only this test file; can be repeated", "FILE"),
        Flag("test-directory", FLAG_TEXT, "The directory with test files", "DIR", "tests"),
        Flag("verbose", FLAG_SWITCH, "Show the plan or the state of each run"),
        Flag("parallelism", FLAG_TEXT, "How many files run at the same time", "N", "1"),
        Flag("watch", FLAG_SWITCH, "Run tests again whenever a file that they use changes"),
        Flag("junit-xml", FLAG_TEXT, "Also write a JUnit report to a file", "FILE"),
        Flag("markdown", FLAG_TEXT, "Also write a report as Markdown, for a pull request", "FILE"),
        Flag("coverage", FLAG_SWITCH, "Show which parts of the configuration no run has covered"),
        *SAYING_FLAGS,
        *VARIABLE_FLAGS,
    ),
    examples=(
        Example("nigari test", "runs all tests"),
        Example("nigari test -filter=tests/network.tftest.hcl", "runs the tests of one file"),
        Example("nigari test -parallelism=4", "runs up to four files at the same time"),
    ),
)

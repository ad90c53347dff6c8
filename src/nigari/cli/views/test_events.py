"""Test results for programs: the events of `-json`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from nigari.cli.views.json_lines import JsonLines
from nigari.cli.views.test_text import counts
from nigari.config.test_files import TestFile
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.diagnostics.render import to_json
from nigari.record import replace
from nigari.state.model import StateFile
from nigari.state.show.show_json import state_to_json
from nigari.testing.outcome import (
    CleanUp,
    FileOutcome,
    Leftover,
    RunOutcome,
    Shown,
    Status,
    SuiteOutcome,
)
from nigari.testing.suite import Abandoned, TestView
from nigari.version import OPENTOFU_VERSION
from nigari.workspace.configuration.directory import Workspace
from nigari.workspace.context.shown_sources import ShownSources
from nigari.workspace.plans.show_plan import ShownPlan


class TestEvents(TestView):
    """Tells programs."""

    def __init__(self, lines: JsonLines, workspace: Workspace) -> None:
        self._lines = lines
        self._workspace = workspace

    def found(self, files: Sequence[TestFile]) -> None:
        runs = sum(len(file.runs) for file in files)
        files_text = f"{len(files)} file{'' if len(files) == 1 else 's'}"
        runs_text = f"{runs} run block{'' if runs == 1 else 's'}"
        # A file without runs is null, since OpenTofu marshals a slice that nothing was added to.
        abstract = {file.name: [run.name for run in file.runs] or None for file in files}
        self._lines.event(
            f"Found {files_text} and {runs_text}",
            {"type": "test_abstract", "test_abstract": abstract},
        )

    def finished(self, file: FileOutcome) -> None:
        self._lines.event(
            f"{file.name}... {_word(file.status)}",
            {
                "type": "test_file",
                "test_file": {"path": file.name, "status": file.status.word},
                "@testfile": file.name,
            },
        )
        for run in file.runs:
            self._run(file, run)

    def _run(self, file: FileOutcome, run: RunOutcome) -> None:
        about = {"@testfile": file.name, "@testrun": run.name}
        members = {"path": file.name, "run": run.name, "status": run.status.word}
        self._lines.event(
            f'  "{run.name}"... {_word(run.status)}',
            {"type": "test_run", "test_run": members, **about},
        )
        if run.shown is not None:
            self._show(run, run.shown, about)
        self.diagnostics(run.diags, about)

    def _show(self, run: RunOutcome, shown: Shown, about: dict[str, str]) -> None:
        """The plan or the state; where that cannot be shown, a warning says why."""
        problems = Diagnostics()
        if shown.state is None:
            kind, name = "test_plan", "plan"
            plan = ShownPlan(shown.outcome)
            data: object = plan.data(shown.inputs, problems, has_prior=False)
        else:
            kind, name = "test_state", "state"
            file = StateFile(shown.state, "", 0, OPENTOFU_VERSION)
            text = state_to_json(file, shown.outcome.inputs.pool.schema_of, problems)
            data = None if text is None else json.loads(text)
        if data is None:
            run.diags.extend(replace(each, severity=Severity.WARNING) for each in problems)
            return
        message = f"-verbose flag enabled, printing {name}"
        self._lines.event(message, {"type": kind, kind: data, **about})

    def cleaned_up(self, file: FileOutcome) -> None:
        for each in file.cleanups:
            self._cleaned_up(file, each)

    def _cleaned_up(self, file: FileOutcome, done: CleanUp) -> None:
        about = {"@testfile": file.name, "@testrun": done.run.name}
        if done.left:
            left = _objects(done.left)
            self._lines.event(
                f"{file.name}/{done.run.name} leaves objects behind, for you to destroy",
                {"type": "test_cleanup", "test_cleanup": {"failed_resources": left}, **about},
                "error",
            )
        self.diagnostics(done.diags, about)

    def concluded(self, outcome: SuiteOutcome) -> None:
        """Tell how many runs ended how, and what they have touched."""
        if outcome.coverage is not None:
            from nigari.cli.views.test_coverage import coverage_json

            covered, total = outcome.coverage.count()
            self._lines.event(
                f"Coverage: {covered} of {total}",
                {"type": "test_coverage", "test_coverage": coverage_json(outcome.coverage)},
            )
        is_good = outcome.status <= Status.PASS
        summary = {
            "status": outcome.status.word,
            "passed": outcome.count(Status.PASS),
            "failed": outcome.count(Status.FAIL),
            "errored": outcome.count(Status.ERROR),
            "skipped": outcome.count(Status.SKIP),
        }
        self._lines.event(
            f"{'Success!' if is_good else 'Failure!'} {counts(outcome)}",
            {"type": "test_summary", "test_summary": summary},
        )

    def interrupted(self) -> None:
        self._lines.event("Interrupted: cleaning up", {"type": "log"})

    def cut_off(self, files: Sequence[Abandoned]) -> None:
        for file in files:
            states = {run: _objects(left) for run, left in file.states}
            data = {"state": _objects(file.main), "states": states, "planned": list(file.planned)}
            about = {"@testfile": file.file, "@testrun": file.run}
            self._lines.event(
                "Interrupted again: what the tests created is not destroyed",
                {"type": "test_interrupt", "test_interrupt": data, **about},
                "error",
            )

    def diagnostics(self, diags: Diagnostics, about: dict[str, str]) -> None:
        """Write each diagnostic with the file and the run that it belongs to."""
        for each in diags.in_order():
            self._diagnostic(each, about)

    def _diagnostic(self, each: Diagnostic, about: dict[str, str]) -> None:
        workspace = self._workspace
        is_error = each.severity is Severity.ERROR
        self._lines.event(
            f"{'Error' if is_error else 'Warning'}: {each.summary}",
            {
                "type": "diagnostic",
                "diagnostic": to_json(each, ShownSources(workspace.sources), workspace.context_of),
                **about,
            },
            "error" if is_error else "warn",
        )


def _objects(left: Sequence[Leftover]) -> list[dict[str, str]]:
    return [
        {"instance": each.address, **({"deposed_key": each.deposed} if each.deposed else {})}
        for each in left
    ]


def _word(status: Status) -> str:
    return "fail" if status >= Status.FAIL else status.word

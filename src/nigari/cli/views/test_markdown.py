"""Test results as Markdown, for a comment on a pull request.

Bounded, because services refuse long comments: what does not fit is counted.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.cli.views.diagnostics import compared
from nigari.cli.views.plan_markdown import LIMIT
from nigari.cli.views.test_coverage import coverage_counts, missing_text
from nigari.cli.views.test_text import counts
from nigari.diagnostics import Diagnostic, Severity
from nigari.diagnostics.render import to_text
from nigari.diagnostics.snippet import Sources
from nigari.testing.coverage import Coverage
from nigari.testing.outcome import FileOutcome, Status, SuiteOutcome
from nigari.workspace.context.shown_sources import ShownSources

_ROOM = 200
"""Room for the note about omitted parts."""
_SIGNS = {Status.PASS: "✅", Status.FAIL: "❌", Status.ERROR: "❌", Status.SKIP: "⏭️"}


def markdown_report(outcome: SuiteOutcome, sources: Sources) -> str:
    """The totals, a table of files, what went wrong in each run, and what is not covered."""
    word = "Success!" if outcome.status <= Status.PASS else "Failure!"
    parts = [f"**{word} {counts(outcome)}**\n"]
    length = len(parts[0])
    left_out = 0
    for part in _parts(outcome, sources):
        if length + len(part) > LIMIT - _ROOM:
            left_out += 1
        else:
            parts.append(part)
            length += len(part)
    if left_out:
        parts.append(
            f"\n{left_out} more parts of this report are left out, because it is too long.\n"
        )
    return "".join(parts)


def _parts(outcome: SuiteOutcome, sources: Sources) -> Iterator[str]:
    yield "\n| | file | runs | seconds |\n| --- | --- | --- | --- |\n" + "".join(
        _row(file) for file in outcome.files
    )
    for file in outcome.files:
        for run in file.runs:
            errors = [each for each in run.diags.in_order() if each.severity is Severity.ERROR]
            if errors:
                yield _details(f"{file.name}: {run.name}", errors, sources)
        for done in file.cleanups:
            if done.has_failed:
                left = "".join(f"- `{_plain(each.address)}`\n" for each in done.left)
                yield f"\n`{_plain(file.name)}` leaves objects behind:\n\n{left}"
    if outcome.coverage is not None:
        yield from _coverage(outcome.coverage)


def _row(file: FileOutcome) -> str:
    passed = sum(run.status is Status.PASS for run in file.runs)
    sign = "❌" if file.has_failed else _SIGNS.get(file.status, "")
    name = _plain(file.name).replace("|", "\\|")
    return f"| {sign} | `{name}` | {passed} of {len(file.runs)} passed | {file.seconds:.1f} |\n"


def _details(title: str, errors: list[Diagnostic], sources: Sources) -> str:
    text = to_text(errors, ShownSources(sources), difference_text=compared).strip("\n")
    fence = "```"
    while fence in text:
        fence += "`"
    name = _plain(title).replace("&", "&amp;").replace("<", "&lt;")
    return (
        f"\n<details><summary><code>{name}</code></summary>\n\n"
        f"{fence}text\n{text}\n{fence}\n\n</details>\n"
    )


def _coverage(coverage: Coverage) -> Iterator[str]:
    rows = [f"| {name} | {some} of {total} |\n" for name, some, total in coverage_counts(coverage)]
    yield "\n| coverage | |\n| --- | --- |\n" + "".join(rows)
    lines = [f"- {_plain(missing_text(each))}\n" for each in coverage.missing]
    if lines:
        yield ("\n<details><summary>Not covered</summary>\n\n" + "".join(lines) + "\n</details>\n")


def _plain(text: str) -> str:
    return text.replace("\n", " ").replace("`", "'")

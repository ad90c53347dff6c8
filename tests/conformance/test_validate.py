"""Whole directories, validated as the real program did it: verdict, severity, file and line."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from nigari.diagnostics import Diagnostic
from nigari.workspace import Workspace
from nigari.workspace.configuration.check_directory import validate
from nigari.workspace.context.working_directory import WorkingDirectory
from tests.conformance import CONFORMANCE, Row, needs_conformance, rows

DATA: Final = CONFORMANCE / "configurations" / "data"

ACCEPTED_HERE: Final = {
    "authored/validate/resource-lifecycle-var": "create_before_destroy takes static expressions",
}
"""Rows that OpenTofu refuses and we accept on purpose; see docs/concepts/static-evaluation.md."""

PARTLY_ACCEPTED_HERE: Final = {
    "opentofu/command/testdata/validate-invalid/interpolation": "a default takes static expressions",
}
"""Rows of which we accept one mistake and refuse the other."""

ROWS: Final = [row for row in rows("configurations/manifest.jsonl") if row["level"] == "validate"]


@needs_conformance
@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["path"]))
def test_directory(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(row["path"])
    if path in ACCEPTED_HERE:
        pytest.skip(ACCEPTED_HERE[path])
    monkeypatch.chdir(DATA / path)
    found = validate(Workspace(WorkingDirectory({})), {}, with_plugins=False).in_order()
    assert _verdict(found) == row["expect"], found
    places = {_place(each) for each in found}
    wanted = [_wanted(each) for each in _diagnostics(row)]
    if row.get("exact") and path not in PARTLY_ACCEPTED_HERE:
        assert places == set(wanted)
    elif row["line"] is not None and path not in PARTLY_ACCEPTED_HERE:
        assert wanted[0] in places


def _verdict(found: list[Diagnostic]) -> str:
    severities = {each.severity.value for each in found}
    return "error" if "error" in severities else "warning" if severities else "valid"


def _place(diagnostic: Diagnostic) -> tuple[str, str, int]:
    subject = diagnostic.subject
    if subject is None:
        return diagnostic.severity.value, "", 0
    return diagnostic.severity.value, Path(subject.filename).as_posix(), subject.start.line


def _diagnostics(row: Row) -> list[Row]:
    found = row.get("diags")
    assert isinstance(found, list)
    return [each for each in found if isinstance(each, dict)]


def _wanted(diagnostic: Row) -> tuple[str, str, int]:
    line = diagnostic.get("line")
    return (
        str(diagnostic["severity"]),
        str(diagnostic.get("file") or ""),
        line if isinstance(line, int) else 0,
    )

"""`nigari validate` beside `tofu validate` in many small directories: verdicts and places."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Final

import pytest

from nigari.workspace import Workspace
from nigari.workspace.configuration.check_directory import validate
from nigari.workspace.context.working_directory import WorkingDirectory
from tests.real import program
from tests.real.directory_cases import Directory, read_directories

pytestmark = pytest.mark.real

_NEEDS_INIT: Final = ("module", "backend", "cloud")

Verdicts = list[tuple[str, str, int]]
"""Severity, file and line of each diagnostic; a line 0 where there is no place."""


def _write(case: Directory, place: Path) -> None:
    for step in case.steps:
        assert isinstance(step, tuple)
        path = place / step[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step[1])


def _theirs(case: Directory, work: Path, settings: Path) -> Verdicts:
    """What the real program says of a directory."""
    environ = {**os.environ, "TF_CLI_CONFIG_FILE": str(settings)}

    def run(*words: str) -> str:
        command = [str(program("tofu")), *words, "-json"]
        done = subprocess.run(
            command, cwd=work, env=environ, capture_output=True, text=True, check=False
        )
        return done.stdout

    texts = [step[1] for step in case.steps if isinstance(step, tuple)]
    if any(word in text for text in texts for word in _NEEDS_INIT):
        run("init", "-backend=false")
    try:
        found = json.loads(run("validate"))["diagnostics"]
    except ValueError:
        return [("error", "", 0)]
    return [_place(each) for each in found]


def _place(diagnostic: dict[str, dict[str, dict[str, int]]]) -> tuple[str, str, int]:
    where = diagnostic.get("range") or {"filename": {}, "start": {"line": 0}}
    return str(diagnostic["severity"]), str(where["filename"] or ""), where["start"]["line"]


def _verdict(told: Verdicts) -> str:
    severities = {each[0] for each in told}
    return "error" if "error" in severities else "warning" if severities else "valid"


@pytest.mark.parametrize("case", read_directories("validate"), ids=str)
def test_directory(case: Directory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, work = tmp_path / "tofurc", tmp_path / "work"
    settings.write_text("")
    work.mkdir()
    _write(case, work)
    wanted = _theirs(case, work, settings)
    monkeypatch.chdir(work)
    found = validate(Workspace(WorkingDirectory({})), {}, with_plugins=False).in_order()
    told: Verdicts = [
        (each.severity.value, "", 0)
        if each.subject is None
        else (each.severity.value, each.subject.filename, each.subject.start.line)
        for each in found
    ]
    if case.is_refused_by_us or case.is_accepted_by_us:
        assert _verdict(told) != _verdict(wanted), "they agree: the note can go"
        return
    assert _verdict(told) == _verdict(wanted), found
    if not case.note:
        placed = {each for each in wanted if each[2]}
        assert {each for each in told if each[2]} == placed, found

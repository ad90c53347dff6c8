"""The JSON form next to what the real `tofu validate -json` says of the same ranges."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from nigari.diagnostics import Diagnostic, Pos, Range, Severity, to_json
from tests.real import program

pytestmark = pytest.mark.real


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('output "a" {\n  value = 1 + "é" + "q"\n}\n', id="one line"),
        pytest.param("locals {\n  a = [1,\n", id="end of file"),
        pytest.param("locals {\n  a = 1", id="unclosed block"),
        pytest.param("locals {\n  a =\n\n}\n", id="line end before a blank line"),
        pytest.param("locals {\n  a =\n}\n", id="line end"),
        pytest.param('output "a" {}\n', id="missing argument"),
    ],
)
def test_same_range_and_snippet(text: str, tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(text, encoding="utf-8")
    settings = tmp_path / "settings"
    settings.touch()
    done = subprocess.run(
        [program("tofu"), "validate", "-json"],
        cwd=tmp_path,
        env={**os.environ, "TF_CLI_CONFIG_FILE": str(settings)},
        capture_output=True,
        check=False,
    )
    said = json.loads(done.stdout)["diagnostics"]
    assert said
    for expected in said:
        place = expected["range"]
        subject = Range(place["filename"], Pos(**place["start"]), Pos(**place["end"]))
        severity = Severity(expected["severity"])
        ours = Diagnostic(severity, expected["summary"], expected["detail"], subject)
        got = to_json(ours, {"main.tf": text.encode()})
        snippet = got["snippet"]
        assert isinstance(snippet, dict)
        snippet["context"] = expected["snippet"]["context"]
        assert got == expected

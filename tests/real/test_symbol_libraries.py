"""Symbol libraries beside OpenTofu 1.13: values of outputs, places of errors, and modules.json."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.real import program
from tests.real.directory_cases import Directory, read_directories

pytestmark = pytest.mark.real

_ENABLED: Final = "language { experiments = [symbol_libraries] }\n"
_OURS: Final = [sys.executable, "-m", "nigari"]


class Work:
    """One program in one directory of its own."""

    def __init__(self, case: Directory, command: list[str], place: Path) -> None:
        self._command = command
        self._place = place
        for step in case.steps:
            assert isinstance(step, tuple)
            path = place / step[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step[1])
        (place / "language.tf").write_text(_ENABLED)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        settings = self._place.parent / "empty.tfrc"
        settings.write_text("")
        environ = {**os.environ, "TF_CLI_CONFIG_FILE": str(settings)}
        return subprocess.run(
            [*self._command, *words],
            cwd=self._place,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )

    def verdict(self) -> tuple[bool, set[tuple[str, int]]]:
        """Whether everything is valid, and the places of all errors."""
        self.run("init")
        found = json.loads(self.run("validate", "-json").stdout)
        if not any(each["severity"] == "error" for each in found["diagnostics"]):
            return self.run("plan").returncode == 0, set()
        errors = [each for each in found["diagnostics"] if each["severity"] == "error"]
        places = [each.get("range") for each in errors]
        return not errors, {
            (each["filename"], each["start"]["line"]) for each in places if each is not None
        }

    def outputs(self) -> object:
        """The values of all outputs after applying."""
        done = self.run("apply", "-auto-approve")
        assert done.returncode == 0, done.stdout + done.stderr
        found = json.loads(self.run("output", "-json").stdout)
        return {name: each["value"] for name, each in found.items()}

    def installed(self) -> list[object]:
        """The records of modules.json."""
        text = (self._place / ".terraform/modules/modules.json").read_text()
        found = json.loads(text)["Modules"]
        assert isinstance(found, list)
        return found


@pytest.mark.parametrize("case", read_directories("symbols"), ids=str)
def test_directory(case: Directory, tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    ours = Work(case, _OURS, tmp_path / "ours")
    theirs = Work(case, [str(program("tofu-1.13"))], tmp_path / "theirs")
    (is_valid, places), (is_theirs_valid, their_places) = ours.verdict(), theirs.verdict()
    if case.is_accepted_by_us:
        assert is_valid
        assert not is_theirs_valid
        return
    if case.is_refused_by_us:
        assert not is_valid
        assert is_theirs_valid
        return
    assert is_valid == is_theirs_valid
    if not is_valid:
        # What OpenTofu reports once more as a whole may be at the block, and ours at the argument.
        assert places
        assert not their_places or {file for file, _ in places} <= {
            file for file, _ in their_places
        }
        return
    assert ours.outputs() == theirs.outputs()
    assert ours.installed() == theirs.installed()


def test_both_go_on_with_what_the_other_has_installed(tmp_path: Path) -> None:
    (case,) = (
        each for each in read_directories("symbols") if each.name == "libraries in libraries"
    )
    tofu = [str(program("tofu-1.13"))]
    for first, second in ((tofu, _OURS), (_OURS, tofu)):
        place = tmp_path / ("theirs" if first is tofu else "ours")
        place.mkdir()
        assert Work(case, first, place).run("init").returncode == 0
        other = Work(case, second, place)
        assert other.outputs()
        assert "- symbols" not in other.run("init").stdout

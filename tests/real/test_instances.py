"""Module instances that differ, beside the real program and a call of its own for each of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases import Case
from tests.cli.instance_cases import CASES
from tests.cli.instance_steps import Story, story_of
from tests.cli.process import inside
from tests.real import program

pytestmark = pytest.mark.real


@pytest.mark.parametrize("case", CASES, ids=str)
def test_instances_are_like_calls_in_the_real_program(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tofu, settings = program("tofu"), tmp_path / "settings"
    settings.write_text("")
    environ = {"TF_CLI_CONFIG_FILE": str(settings), "PATH": os.environ["PATH"]}

    def ours(directory: Path) -> Callable[..., tuple[int, str]]:
        def command(*args: str) -> tuple[int, str]:
            monkeypatch.chdir(directory)
            done = inside(*args)
            return done.code, done.out + done.err

        return command

    def theirs(directory: Path) -> Callable[..., tuple[int, str]]:
        def command(*args: str) -> tuple[int, str]:
            done = subprocess.run(
                [tofu, *args],
                cwd=directory,
                env=environ,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            return done.returncode, done.stdout + done.stderr

        return command

    story = story_of(case)
    found = Story(tmp_path / "ours", story, is_twin=False).told(ours)
    assert found == Story(tmp_path / "theirs", story, is_twin=True).told(theirs)

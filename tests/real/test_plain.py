"""Plain configurations in the real program: with the state of the original, nothing is left to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.cases import Case, read_cases
from tests.cli.instance_cases import CASES
from tests.cli.instance_steps import Story, story_of
from tests.cli.plain_cases import CASES as WRITTEN
from tests.cli.plain_cases import write_case
from tests.cli.plain_fleet import applied_fleet, plain_units
from tests.cli.process import inside
from tests.real import program
from tests.real.plain_world import left_to_do, written_plain

pytestmark = pytest.mark.real

_ROOT: Final = Path(__file__).parents[2]
_FIRST: Final = int(os.environ.get("NIGARI_SEED", "0"))
_STATIC: Final = [
    case
    for case in read_cases(_ROOT / "tests/eval/cases")
    # The real program here has no symbol libraries.
    if "error" not in case.expected and case.path.stem != "symbol_libraries"
]

_WITH_A_SECRET: Final = "seed 000: works with a backend that exists"
"""Its backend has an access key, which is not written into a file."""


@pytest.fixture(autouse=True)
def _no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tmp_path / "settings"
    settings.write_text("")
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(settings))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_instances_have_nothing_left_to_do(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tofu, work = program("tofu"), tmp_path / "work"
    work.mkdir()
    story = Story(work, story_of(case), is_twin=False)
    for number, step in enumerate(story.steps):
        story.write(step.files)
        if "-destroy" in step.flags:
            continue
        monkeypatch.chdir(work)
        inside("init")
        settings = [flag for flag in step.flags if flag.startswith("-var")]
        inside("apply", "-auto-approve", *step.flags)
        if inside("plan", "-detailed-exitcode", *settings).code == 0:
            out = tmp_path / f"plain{number}"
            assert not written_plain(work, out, settings)
            assert not left_to_do(tofu, out, settings)


@pytest.mark.parametrize("case", [each for each in WRITTEN if each.path.stem == "calls"], ids=str)
def test_written_cases_have_nothing_left_to_do(case: Case, tmp_path: Path) -> None:
    tofu, work, out = program("tofu"), tmp_path / "work", tmp_path / "plain"
    work.mkdir()
    write_case(case, work)
    for name in ("init", "apply"):
        flags = ["-auto-approve"] if name == "apply" else []
        done = inside(f"-chdir={work}", name, *flags)
        assert done.code == 0, done.err
    assert not written_plain(work, out)
    assert not left_to_do(tofu, out)


@pytest.mark.parametrize("case", _STATIC, ids=str)
def test_static_cases_are_valid(case: Case, tmp_path: Path) -> None:
    tofu, work, out = program("tofu"), tmp_path / "work", tmp_path / "plain"
    work.mkdir()
    if any(name.startswith("..") for name in case.files):
        pytest.skip("the case has files outside of its directory")
    write_case(case, work)
    if inside(f"-chdir={work}", "validate").code:
        pytest.skip("the case has no providers, or is not valid by itself")
    problem = written_plain(work, out)
    if "No value for variable" in problem:
        pytest.skip("the case has variables without values")
    if case.title == _WITH_A_SECRET:
        assert "Secret in a position for literals" in problem
        assert not out.exists()
        return
    assert not problem
    for command in (["init", "-backend=false", "-input=false"], ["validate"]):
        done = subprocess.run(
            [tofu, *command, "-no-color"], cwd=out, capture_output=True, text=True, check=False
        )
        if "query available provider packages" in done.stderr:
            pytest.skip("the case needs a provider")
        assert done.returncode == 0, done.stdout + done.stderr


def test_random_configurations_have_nothing_left_to_do() -> None:
    program("tofu")
    words = ["--count", "4", "--seed", str(_FIRST)]
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.plain", *words],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_example_with_regions_has_nothing_left_to_do(tmp_path: Path) -> None:
    tofu, work, out = program("tofu"), tmp_path / "work", tmp_path / "plain"
    shutil.copytree(_ROOT / "examples" / "regions", work)
    settings = ["-var=owner=we"]
    assert inside(f"-chdir={work}", "init").code == 0
    assert inside(f"-chdir={work}", "apply", "-auto-approve", *settings).code == 0
    assert not written_plain(work, out, settings)
    assert not left_to_do(tofu, out, settings)


def test_a_fleet_has_nothing_left_to_do(tmp_path: Path) -> None:
    tofu, root = program("tofu"), tmp_path / "fleet"
    applied_fleet(root)
    for directory in plain_units(root, tmp_path / "plain"):
        assert left_to_do(tofu, directory) == []

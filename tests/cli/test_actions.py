"""Actions: triggered by changes, and invoked with -invoke."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.action_stories import HEAD, STORIES, VALIDATED, Step
from tests.cli.process import Done, inside
from tests.plugins import running

SERVE = f"""
import sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from tests.providers.stage import stage_provider

stage_provider(Path("log").absolute()).serve()
"""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, str], Path]]:
    path = tmp_path_factory.mktemp("p")
    with running("example.com/test/stage", SERVE, path) as environment:
        yield environment, path / "log"


@pytest.fixture(autouse=True)
def log(
    tmp_path: Path, stage: tuple[dict[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> Path:
    environment, log = stage
    monkeypatch.chdir(tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    log.write_text("")
    return log


def run(*args: str) -> Done:
    return inside(*args, "-no-color", settings=os.environ)


def done_by(log: Path) -> list[str]:
    """Take what the provider has done, without what it did while planning."""
    lines = log.read_text().splitlines()
    log.write_text("")
    return [line for line in lines if not line.startswith("plan ")]


def state_names() -> str:
    path = Path("terraform.tfstate")
    state = json.loads(path.read_text() if path.exists() else '{"resources": []}')
    return " ".join(
        sorted(
            each["name"] + ("!" if one.get("status") == "tainted" else "")
            for each in state["resources"]
            for one in each["instances"]
        )
    )


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_stories(story: tuple[Step, ...], log: Path) -> None:
    for step in story:
        Path("main.tf").write_text(HEAD + step.text)
        done = run("apply", "-auto-approve", *step.args)
        assert done.code == int(step.fails), done.out + done.err
        # Instances of one resource are changed side by side.
        assert _apart(done_by(log)) == _apart(step.log.split(",") if step.log else [])
        if step.state is not None:
            assert state_names() == step.state


def _apart(lines: list[str]) -> dict[str, list[str]]:
    """Group what was done by the object that it was about."""
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(line.rpartition(" ")[2].removeprefix("id-"), []).append(line)
    return found


@pytest.mark.parametrize(
    ("text", "errors", "warnings", "summary"), VALIDATED.values(), ids=VALIDATED
)
def test_validation(text: str, errors: int, warnings: int, summary: str) -> None:
    Path("main.tf").write_text(HEAD + text)
    found = json.loads(run("validate", "-json").out)
    assert (found["error_count"], found["warning_count"]) == (errors, warnings), found
    assert not summary or summary in [each["summary"] for each in found["diagnostics"]]

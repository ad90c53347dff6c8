"""Actions beside Terraform, which OpenTofu does not have: what is planned, told and done.

No Terraform with all of them can be built by name, so the test uses the program that the environment
variable NIGARI_TERRAFORM names, such as one that was built from a checkout of its main branch.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.action_stories import HEAD, SERVE, STORIES, VALIDATED, Step
from tests.cli.process import inside
from tests.plugins import running

pytestmark = pytest.mark.real

_TOLD = ("apply_start", "apply_complete", "apply_errored", "change_summary")
"""Types of events that are compared, besides those about actions."""
_KNOWN: dict[str, str] = {
    "a failure before": "Nigari tells that the operation has failed, Terraform does not.",
    "unknown before it is created": "The same.",
    "a failure before a replacement": "The same.",
}


@pytest.fixture(scope="module")
def terraform() -> str:
    name = os.environ.get("NIGARI_TERRAFORM", "")
    if not name:
        pytest.skip("NIGARI_TERRAFORM names no Terraform 1.16 or newer to compare with")
    return name


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, str], Path]]:
    path = tmp_path_factory.mktemp("p")
    with running("example.com/test/stage", SERVE, path) as environment:
        yield environment, path / "log"


class Side:
    """One of the two programs, in a directory of its own."""

    def __init__(self, program: str, path: Path, settings: dict[str, str], log: Path) -> None:
        self._program, self._path, self._settings, self._log = program, path, settings, log
        path.mkdir()

    def run(self, *args: str) -> tuple[int, str]:
        settings = {**os.environ, **self._settings}
        if self._program:
            done = subprocess.run(
                [self._program, *args],
                cwd=self._path,
                env=settings,
                capture_output=True,
                text=True,
                check=False,
            )
            return done.returncode, done.stdout
        with contextlib.chdir(self._path):
            found = inside(*args, settings=settings)
        return found.code, found.out

    def follow(self, step: Step) -> dict[str, Any]:
        """Plan and apply one step."""
        (self._path / "main.tf").write_text(HEAD + step.text)
        self._log.write_text("")
        plan, _ = self.run("plan", "-out=plan", *step.args)
        shown = json.loads(self.run("show", "-json", "plan")[1]) if plan == 0 else {}
        code, out = self.run("apply", "-json", "-auto-approve", *step.args)
        return {
            "codes": (plan, code),
            "invocations": sorted(map(_planned, shown.get("action_invocations", []))),
            "events": _by_object([json.loads(line) for line in out.splitlines()], step),
            "log": _by_object(self._log.read_text().splitlines(), step),
            "objects": self._objects(),
        }

    def _objects(self) -> list[Any]:
        path = self._path / "terraform.tfstate"
        if not path.exists():
            return []
        return [
            (each["name"], one.get("index_key"), one.get("status"), one.get("dependencies"))
            for each in json.loads(path.read_text())["resources"]
            for one in each["instances"]
        ]

    def validated(self, text: str) -> tuple[bool, int]:
        (self._path / "main.tf").write_text(HEAD + text)
        found = json.loads(self.run("validate", "-json")[1])
        return found["valid"], found["warning_count"]


def _planned(invocation: dict[str, Any]) -> str:
    """Describe a planned invocation. Without a config block, Terraform's configuration is null, and
    ours has null arguments, as for any other block.
    """
    values = invocation["config_values"]
    if values is None or all(each is None for each in values.values()):
        nothing = dict.fromkeys(("config_values", "config_sensitive", "config_unknown"))
        invocation = {**invocation, **nothing}
    return json.dumps(invocation, sort_keys=True)


def _by_object(found: list[Any], step: Step) -> list[Any]:
    """Sort what happened by objects, which are changed side by side; the order of each stays."""
    told = [_told(each) if isinstance(each, dict) else each for each in found]
    is_invoked = any(each.startswith("-invoke") for each in step.args)
    return sorted((each for each in told if each is not None), key=repr if is_invoked else _object)


def _object(told: object) -> str:
    if isinstance(told, str):
        return told.rpartition(" ")[2].removeprefix("id-")
    text = json.dumps(told)
    return next(
        (each for each in ("a[0]", "a[1]", '\\"p\\"', ".z", ".o", ".b") if each in text), ""
    )


def _told(event: dict[str, Any]) -> dict[str, Any] | None:
    kind = event["type"]
    if "action" not in kind and kind not in _TOLD:
        return None
    changes = event.get("changes", {})
    changes.pop("forget", None)
    for name in ("action_invocation", "action_fail"):
        changes[name] = changes.get(name, 0)
    hook = event.get("hook", {})
    hook.pop("elapsed_seconds", None)
    return {**{name: event.get(name) for name in ("type", "invocation")}, "h": hook, "c": changes}


@pytest.fixture
def sides(terraform: str, stage: tuple[dict[str, str], Path], tmp_path: Path) -> tuple[Side, Side]:
    environment, log = stage
    theirs = Side(terraform, tmp_path / "theirs", environment, log)
    return theirs, Side("", tmp_path / "ours", environment, log)


@pytest.mark.parametrize("name", STORIES)
def test_stories(name: str, sides: tuple[Side, Side]) -> None:
    for step in STORIES[name]:
        theirs, ours = (side.follow(step) for side in sides)
        if theirs["codes"] == (1, 1):
            # Nigari sums up what it has planned before an error, Terraform does not always.
            ours["events"] = theirs["events"] = []
        if name in _KNOWN:
            for found in (theirs, ours):
                found["events"] = [e for e in found["events"] if e["type"] != "apply_errored"]
        assert ours == theirs


@pytest.mark.parametrize("name", VALIDATED)
def test_validation(name: str, sides: tuple[Side, Side]) -> None:
    theirs, ours = (side.validated(VALIDATED[name][0]) for side in sides)
    assert ours == theirs

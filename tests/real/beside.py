"""Two working directories side by side, one for the real program and one for ours."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from difflib import unified_diff
from pathlib import Path

import pytest

from nigari.plan.show_json import plan_to_json
from tests.plan.command import applied, planned
from tests.real import program

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class Place:
    """A working directory."""

    def __init__(self, path: Path, settings: Path) -> None:
        self.path = path
        path.mkdir()
        self.environ = {**os.environ, "TF_CLI_CONFIG_FILE": str(settings), "NIGARI_DEBUG": "1"}

    @property
    def state(self) -> Path:
        return self.path / "terraform.tfstate"

    def write(self, text: str) -> None:
        first, *others = text.split("### ")
        (self.path / "main.tf").write_text(first + "\n")
        for other in others:
            name, _, content = other.partition("\n")
            (self.path / name).parent.mkdir(exist_ok=True)
            (self.path / name).write_text(content + "\n")

    def run(self, *command: str | Path, ok: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            [str(each) for each in command],
            cwd=self.path,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode in ok, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout if done.returncode != 1 else done.stderr


def _changes(shown: str) -> object:
    data = json.loads(shown)
    found = list(data.get("resource_changes", ()))
    for each in found:
        each.pop("type", None)
        for name in ("before_identity", "after_identity"):
            each["change"].pop(name, None)
    found.sort(key=lambda each: (each["address"], each.get("deposed", "")))
    outputs = data.get("output_changes", {})
    return {"changes": found, "outputs": outputs}


def _normal(path: Path) -> object:
    text = _MOMENT.sub("<moment>", _ID.sub("<id>", path.read_text()))
    data = json.loads(text)
    for name in ("serial", "lineage", "terraform_version"):
        data.pop(name)
    for resource in data["resources"]:
        if resource["type"] in ("random_pet", "random_password", "random_integer", "time_static"):
            for instance in resource["instances"]:
                instance["attributes"] = sorted(instance["attributes"])
    data["check_results"] = sorted(data["check_results"] or (), key=str)
    return data


def _lines(data: object) -> list[str]:
    return json.dumps(data, indent=1, sort_keys=True).splitlines()


def _words(text: str, start: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.startswith(start)]
    return [word for line in lines for word in line.removeprefix(start).split()]


def _compare(found: object, wanted: object, about: str) -> None:
    difference = list(unified_diff(_lines(wanted), _lines(found), "theirs", "ours", lineterm=""))
    assert not difference, about + "\n" + "\n".join(difference)


class Pair:
    """Both directories, with the settings that find the providers."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tofu = program("tofu")
        settings = path / "settings.tfrc"
        plugins = "\n".join(
            f'    "hashicorp/{each}" = "{program("terraform-provider-" + each).parent}"'
            for each in ("random", "local", "time")
        )
        settings.write_text(f"provider_installation {{\n  dev_overrides {{\n{plugins}\n  }}\n}}\n")
        self.theirs = Place(path / "theirs", settings)
        self.ours = Place(path / "ours", settings)
        self._monkeypatch = monkeypatch

    def step(self, name: str, text: str | None) -> None:
        """Plan and apply a configuration in both, from the same state; without one, destroy."""
        tofu, theirs, ours = self.tofu, self.theirs, self.ours
        flags = ["-destroy"] if text is None else _words(text, "# flags: ")
        for address in _words(text or "", "# taint: "):
            theirs.run(tofu, "taint", address)
        for content in _words(text or "", "# outside: "):
            (theirs.path / "out.txt").write_text(content)
        if text is not None:
            theirs.write(text)
            ours.write(text)
        for each in ("terraform.tfstate", "out.txt"):
            if (theirs.path / each).exists():
                shutil.copy(theirs.path / each, ours.path / each)
        theirs.run(tofu, "get")
        shutil.copytree(theirs.path / ".terraform", ours.path / ".terraform", dirs_exist_ok=True)
        said = theirs.run(tofu, "plan", "-out=p", *flags, ok=(0, 1))
        if "Cycle: " in said:
            pytest.skip("the real program cannot order these operations")
        wanted = _changes(theirs.run(tofu, "show", "-json", "p"))
        self._monkeypatch.chdir(ours.path)
        plan, told, _ = planned(flags, ours.environ)
        assert plan is not None, told
        found = _changes(json.dumps(plan_to_json(plan)))
        _compare(found, wanted, f"plan of {name}\n{text}")
        theirs.run(tofu, "apply", "p")
        status, said = applied(flags, ours.environ)
        assert status == 0, f"{name}\n{said}"
        _compare(_normal(ours.state), _normal(theirs.state), f"state after {name}\n{text}")
        if "-target" in str(flags) or "-replace" in str(flags):
            return
        left = ours.run(tofu, "plan", "-detailed-exitcode", *flags, ok=(0, 2))
        assert "No changes." in left, f"{name}\n{left}"

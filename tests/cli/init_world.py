"""What the tests of `init` share: a directory, a repository, and how the command is run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.process import Done, inside
from tests.packages.repositories import Repository

OUTPUT = 'output "x" {\n  value = path.module\n}\n'


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    made.commit(
        {
            "main.tf": OUTPUT,
            "sub/main.tf": OUTPUT + 'module "deep" {\n  source = "./deep"\n}\n',
            "sub/deep/main.tf": OUTPUT,
        },
        tag="v1",
    )
    return made


def init(*arguments: str, **settings: str) -> Done:
    return inside(
        "init", "-no-color", *arguments, settings={"PATH": os.environ["PATH"], **settings}
    )


def write(files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def call(name: str, source: str, more: str = "") -> str:
    return f'module "{name}" {{\n  source = "{source}"\n{more}}}\n'


def installed() -> dict[str, tuple[str, str]]:
    """The records of modules.json without the root's: key to source and directory."""
    records = json.loads(Path(".terraform/modules/modules.json").read_text())["Modules"]
    return {each["Key"]: (each["Source"], each["Dir"]) for each in records if each["Key"]}


def told(done: Done) -> str:
    return " ".join(done.err.split())

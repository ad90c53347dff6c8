"""Backends that packages bring: an installed distribution, and what can be wrong with one."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from nigari.backends.conformance import CHECKS, Subject
from nigari.backends.installed import installed_backend, installed_names
from nigari.backends.open_backend import open_backend
from nigari.backends.protocol import Around
from nigari.backends.remote import RemoteBackend
from nigari.backends.store import BackendFailure, Store
from nigari.diagnostics import Diagnostics
from tests.cli.process import ROOT, Done, inside, nigari

EXAMPLE = ROOT / "examples" / "python-backend" / "sqlite_states.py"
MAIN = """
terraform {
  backend "sqlite" {
    path = "states.db"
  }
}
resource "terraform_data" "a" {}
output "a" {
  value = terraform.workspace
}
"""


def install(site: Path, name: str, target: str) -> None:
    """A distribution with one entry point, as an installer leaves it."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[nigari.backends]\n{name} = {target}\n")
    (info / "RECORD").write_text("")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of packages with the example in it."""
    found = tmp_path / "site"
    found.mkdir()
    shutil.copy(EXAMPLE, found)
    install(found, "sqlite", "sqlite_states:SqliteStates")
    monkeypatch.syspath_prepend(str(found))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    installed_backend.cache_clear()
    yield found
    installed_backend.cache_clear()
    for name in ("sqlite_states", "wrong"):
        sys.modules.pop(name, None)


def with_packages(site: Path, *args: str) -> Done:
    """Run the program in a process that finds the packages."""
    paths = {"PYTHONPATH": os.pathsep.join((str(site), str(ROOT / "src")))}
    return nigari(*args, settings=paths)


@pytest.mark.parametrize("check", CHECKS)
def test_the_example_conforms(check: str, site: Path) -> None:
    def make() -> Store:
        backend = installed_backend("sqlite")
        assert backend is not None
        return backend.open({"path": "checked.db", "timeout": None}, {}, str(Path.cwd()))

    asyncio.run(CHECKS[check](Subject(make)))


def test_its_whole_life(site: Path) -> None:
    Path("main.tf").write_text(MAIN)
    for command in (
        ["init"],
        ["apply", "-auto-approve"],
        ["workspace", "new", "other"],
        ["apply", "-auto-approve"],
    ):
        done = with_packages(site, *command)
        assert done.code == 0, done.err
    assert with_packages(site, "output", "-raw", "a").out == "other"
    assert with_packages(site, "workspace", "list").out == "  default\n* other\n\n"
    with sqlite3.connect("states.db") as connection:
        rows = list(connection.execute("SELECT name, data FROM states ORDER BY name"))
        connection.execute("INSERT INTO locks VALUES ('other', 'x-1', 'me@here', 'test', '', '')")
    assert [name for name, _ in rows] == ["default", "other"]
    assert json.loads(rows[1][1])["outputs"]["a"]["value"] == "other"
    locked = with_packages(site, "apply", "-auto-approve")
    assert locked.code == 1
    assert "me@here" in locked.err
    assert with_packages(site, "force-unlock", "-force", "x-1").code == 0
    assert with_packages(site, "destroy", "-auto-approve").code == 0


def test_states_move_to_it_and_from_it(site: Path) -> None:
    Path("main.tf").write_text('output "a" {\n  value = 1\n}\n')
    assert inside("apply", "-auto-approve").code == 0
    Path("backend.tf").write_text('terraform {\n  backend "sqlite" {\n    path = "s.db"\n  }\n}\n')
    assert inside("init", "-force-copy").code == 0
    assert inside("output", "-raw", "a").out == "1"
    Path("backend.tf").unlink()
    assert inside("init", "-migrate-state", "-force-copy").code == 0
    assert inside("output", "-raw", "a").out == "1"


def test_other_configurations_read_it(site: Path) -> None:
    Path("main.tf").write_text(MAIN)
    assert inside("init").code == 0
    assert inside("apply", "-auto-approve").code == 0
    Path("reader").mkdir()
    Path("reader/main.tf").write_text(
        'data "terraform_remote_state" "a" {\n  backend = "sqlite"\n'
        '  config = { path = "states.db" }\n}\n'
        'output "a" {\n  value = data.terraform_remote_state.a.outputs.a\n}\n'
    )
    shutil.copy("states.db", "reader/states.db")
    done = inside("-chdir=reader", "apply", "-auto-approve")
    assert done.code == 0, done.err
    assert 'a = "default"' in done.out


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", 'requires the argument "path"'),
        ('path = "x"\n    tiemout = 1', 'Did you mean "timeout"?'),
        ('path = "x"\n    timeout = "long"', "timeout"),
    ],
)
def test_arguments_are_checked(body: str, said: str, site: Path) -> None:
    Path("main.tf").write_text(f'terraform {{\n  backend "sqlite" {{\n    {body}\n  }}\n}}\n')
    done = inside("init", "-input=false")
    assert done.code == 1
    assert said in " ".join(done.err.split())


def test_a_name_that_is_nearly_right(site: Path) -> None:
    Path("main.tf").write_text('terraform {\n  backend "sqlit" {}\n}\n')
    assert 'Did you mean "sqlite"?' in inside("init").err


def test_a_package_that_is_gone(site: Path) -> None:
    Path("main.tf").write_text(MAIN)
    assert with_packages(site, "init").code == 0
    done = nigari("state", "list")
    assert done.code == 1
    assert 'There is no backend of type "sqlite"' in done.err


def test_the_names(site: Path) -> None:
    assert "sqlite" in installed_names()
    assert installed_backend("postgresql") is None


METHODS = """
    has_workspaces = True
    def location(self, workspace): return "here"
    async def open(self): pass
    async def close(self): pass
    async def names(self): return []
    async def read(self, workspace): return None
    async def write(self, workspace, data, expected): return None
    async def delete(self, workspace): pass
    async def lock(self, workspace, info): return info
    async def unlock(self, workspace, lock): pass
    async def force_unlock(self, workspace, lock_id): pass
"""
CLASS = f"@dataclass\nclass Wrong:\n    path: str = ''\n{METHODS}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 / 0", "cannot be imported: division by zero"),
        ("Wrong = 1", "must be a class with fields"),
        ("class Wrong: pass", "must be a class with fields"),
        ("@dataclass\nclass Wrong: pass", "it has no method location"),
        ("@dataclass\nclass Wrong(Store): pass", "it has no method location"),
        (CLASS.replace("async def read", "def read"), "read must be written with async def"),
        (CLASS.replace("async def lock", "async def lick"), "it has no method lock"),
        (CLASS.replace("has_workspaces = True", "x = 1"), "has_workspaces is missing"),
    ],
)
def test_classes_that_are_no_backends(text: str, said: str, site: Path) -> None:
    start = "from dataclasses import dataclass\nfrom nigari.backends import Store\n"
    (site / "wrong.py").write_text(start + textwrap.dedent(text))
    install(site, "wrong", "wrong:Wrong")
    with pytest.raises(BackendFailure, match=said):
        installed_backend("wrong")
    Path("main.tf").write_text('terraform {\n  backend "wrong" {}\n}\n')
    done = inside("init")
    assert done.code == 1
    assert said in " ".join(done.err.split())
    assert "main.tf line 2" in done.err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "return None\n    async def write",
            'raise OSError("no disk")\n    async def write',
            "no disk",
        ),
        (
            "return None\n    async def write",
            'return b"x"\n    async def write',
            "must return a Content",
        ),
        ("return info", "return 1", "must return the LockInfo"),
        (
            "    path: str = ''",
            "    path: str = ''\n    def __post_init__(self): 1 / 0",
            "division",
        ),
    ],
)
def test_what_goes_wrong_in_them_is_said(old: str, new: str, said: str, site: Path) -> None:
    text = CLASS.replace(old, new)
    assert text != CLASS
    (site / "wrong.py").write_text(f"from dataclasses import dataclass\n{text}")
    install(site, "wrong", "wrong:Wrong")
    Path("main.tf").write_text(
        'terraform {\n  backend "wrong" {}\n}\noutput "a" {\n  value = 1\n}\n'
    )
    codes = [inside("init"), inside("apply", "-auto-approve")]
    assert codes[-1].code == 1
    assert any(said in " ".join(each.err.split()) for each in codes)


def test_ours_are_opened_without_looking_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", None)
    diags = Diagnostics()
    backend = open_backend("inmem", {}, Around(".", {}), diags)
    assert isinstance(backend, RemoteBackend)

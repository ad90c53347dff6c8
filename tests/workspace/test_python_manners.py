"""Manners of the Python API: names that are found, plain data, comparisons, files, tracebacks."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import nigari
from nigari import cty, hcl

_TEXT = 'a = 1 # one\n\nb "x" {\n}\n'
_PLANNED = """
resource "terraform_data" "it" {
  input = { name = "x", secret = sensitive("s") }
}
output "list" {
  value = [1, terraform_data.it.id]
}
"""


def test_functions_by_one_import(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("content")
    functions = nigari.functions(tmp_path)
    assert hcl.evaluate('upper(file("x.txt"))', functions=functions) == "CONTENT"
    assert hcl.evaluate("cidrhost(net, 1)", {"net": "10.0.0.0/8"}, nigari.functions()) == "10.0.0.1"

    def twice(text: str) -> str:
        return text * 2

    mine: dict[str, hcl.Function | Callable[..., object]] = {**functions, "twice": twice}
    assert hcl.evaluate('twice(lower("A"))', functions=mine) == "aa"


def test_plain_data_of_a_planned_value(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_PLANNED)
    (change,) = nigari.open(tmp_path).plan().changes
    with pytest.raises(cty.CtyError, match=r"\.id is unknown"):
        change.after.to_python()
    with pytest.raises(cty.CtyError, match="is marked"):
        change.after.to_python(unknown="?")
    with pytest.raises(cty.CtyError, match="is unknown"):
        change.after.to_python(marked="*")
    found = change.after.to_python(unknown="?", marked="*")
    assert isinstance(found, dict)
    assert found["id"] == "?"
    assert found["input"] == {"name": "x", "secret": "*"}
    assert cty.Value.of([1, None]).to_python(unknown="?", marked="*") == [1, None]


@pytest.mark.parametrize("opens", [nigari.load, nigari.open, nigari.aio.open, nigari.fleet.open])
def test_a_directory_that_does_not_exist(opens: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        opens(tmp_path / "none")
    assert missing.value.filename == str(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        opens(tmp_path / "file")
    opens(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    "name",
    [
        "nigari",
        "nigari.aio",
        "nigari.backends",
        "nigari.config",
        "nigari.cty",
        "nigari.diagnostics",
        "nigari.events",
        "nigari.fleet",
        "nigari.hcl",
        "nigari.providers.python",
        "nigari.providers.testing",
        "nigari.testing",
    ],
)
def test_dir_shows_what_is_public(name: str) -> None:
    module = importlib.import_module(name)
    assert sorted(dir(module)) == sorted(module.__all__)


def test_parsing_and_saving_files(tmp_path: Path) -> None:
    path = tmp_path / "a.tf"
    path.write_text(_TEXT)
    path.chmod(0o640)
    file = hcl.parse_file(path)
    assert list(file.body.attributes) == ["a"]
    assert file.body.attributes["a"].range.filename == str(path)
    with pytest.raises(FileNotFoundError):
        hcl.parse_file(tmp_path / "none")
    document = hcl.edit(path.read_text(), path)
    document.body.set("a", 2)
    document.save()
    assert path.read_text() == _TEXT.replace("1", "2", 1)
    assert path.stat().st_mode & 0o777 == 0o640
    document.save(tmp_path / "b.tf")
    assert (tmp_path / "b.tf").read_text() == path.read_text()
    link = tmp_path / "link.tf"
    link.symlink_to(path)
    document.body.set("a", 3)
    document.save(link)
    assert link.is_symlink()
    assert "a = 3" in path.read_text()
    assert sorted(os.listdir(tmp_path)) == ["a.tf", "b.tf", "link.tf"]
    with pytest.raises(ValueError, match="no file name"):
        hcl.edit("a = 1").save()


@pytest.mark.parametrize(
    ("value", "same", "other"),
    [
        ("x", "x", "y"),
        (1, 1, True),
        (True, True, 1),
        (1.5, 1.5, 1),
        (None, None, False),
        ([1, "a"], [1, "a"], [1]),
        ([1, "a"], (1, "a"), "a"),
        ({"a": [True]}, {"a": [True]}, {"a": [1]}),
    ],
)
def test_comparing_with_plain_data(value: object, same: object, other: object) -> None:
    known = cty.Value.of(value)
    assert known == same
    assert same == known
    assert known != other
    assert known != object()
    assert same in [known]


def test_what_cannot_be_compared_raises() -> None:
    unknown, secret = cty.unknown(cty.STRING), cty.string("x").mark("sensitive")
    for value in (unknown, secret, cty.Value.of([unknown]), cty.Value.of({"a": secret})):
        with pytest.raises(cty.CtyError):
            _ = value == "x"
        with pytest.raises(cty.CtyError):
            _ = value != ["x"]
        assert value == value
    with pytest.raises(TypeError):
        _ = cty.Value.of(1) < 2  # type: ignore[operator]


def test_lines_while_it_works(tmp_path: Path) -> None:
    (tmp_path / "child").mkdir()
    (tmp_path / "child" / "main.tf").write_text('resource "terraform_data" "it" {}\n')
    (tmp_path / "main.tf").write_text('module "child" {\n  source = "./child"\n}\n')
    lines: list[str] = []
    heard: list[object] = []
    session = nigari.open(tmp_path, on_output=lines.append)
    session.init()
    assert lines == ["installed module child in child"]
    session.apply(listen=heard.append)
    assert "module.child.terraform_data.it: create started" in lines
    assert [str(event) for event in heard] == lines[1:]


_FAILING = """
import nigari
import nigari.testing


def test_session(tmp_path):
    (tmp_path / "main.tf").write_text('variable "x" {}')
    nigari.open(tmp_path).plan()


def test_module(tmp_path):
    (tmp_path / "main.tf").write_text('variable "x" {}')
    with nigari.testing.module(tmp_path) as module:
        module.plan()
"""


def test_tracebacks_in_pytest_end_at_the_test(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(_FAILING)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 failed" in done.stdout
    assert "nigari.open(tmp_path).plan()" in done.stdout
    for internal in ("asyncio", "concurrent", "src/nigari", "run_to_end"):
        assert internal not in done.stdout, done.stdout

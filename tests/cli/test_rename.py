"""`nigari rename`: what is written, what is only shown, what is refused."""

from pathlib import Path

import pytest

from nigari.cli.main import main

_MAIN = 'variable "a" {}\n\n# var.a\noutput "o" {\n  value = var.a\n}\n'


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    (tmp_path / "main.tf").write_text(_MAIN)
    return tmp_path


def test_writes_and_lists_files(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rename", "var.a", "b"]) == 0
    assert capsys.readouterr().out == "main.tf\n"
    expected = _MAIN.replace('"a"', '"b"').replace("= var.a", "= var.b")
    assert (directory / "main.tf").read_text() == expected


def test_check_writes_nothing(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rename", "-check", "var.a", "b"]) == 0
    shown = capsys.readouterr().out
    assert '+variable "b" {}' in shown
    assert "-  value = var.a" in shown
    assert (directory / "main.tf").read_text() == _MAIN


@pytest.mark.parametrize("arguments", [["var.a"], ["var.x", "b"], ["var.a", "for_each"]])
def test_refused(directory: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert main(["rename", *arguments]) == 1
    assert "Error" in capsys.readouterr().err
    assert (directory / "main.tf").read_text() == _MAIN


def test_bytes_that_are_not_touched_stay(directory: Path) -> None:
    text = b'\xef\xbb\xbfvariable "a" {}\r\n# \xff var.a\r\nlocals {\r\n  x = var.a   \r\n}'
    (directory / "main.tf").write_bytes(text)
    assert main(["rename", "var.a", "b"]) == 0
    expected = text.replace(b'"a"', b'"b"').replace(b"= var.a", b"= var.b")
    assert (directory / "main.tf").read_bytes() == expected


def test_callers_in_the_repository(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (directory / ".git").mkdir()
    for name in ("one", "two"):
        (directory / name).mkdir()
        (directory / name / "main.tf").write_text(
            'module "m" {\n  source = "../m"\n  a      = 1\n}\n'
        )
    (directory / "m").mkdir()
    (directory / "main.tf").rename(directory / "m" / "main.tf")
    monkeypatch.chdir(directory / "one")
    monkeypatch.setenv("PWD", str(directory / "one"))
    assert main(["rename", "module.m.var.a", "b"]) == 0
    assert "b      = 1" in (directory / "two" / "main.tf").read_text()

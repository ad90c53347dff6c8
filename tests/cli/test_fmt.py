"""`nigari fmt`: which files it takes, what it prints, what it writes, its exit status."""

import io
import os
import sys
from pathlib import Path

import pytest

from nigari.cli.main import main

UGLY = "a={\nb=1\n}\n"
NICE = "a = {\n  b = 1\n}\n"


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _stdin(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_rewrites_and_lists_what_changed(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("a.tf", "b.tofu", "c.tfvars", "d.tftest.hcl", "e.tofutest.hcl", "environments.hcl")
    others = ("x.tf.json", "y.hcl", ".hidden.tf", "z.tf~", "#z.tf#")
    for name in (*names, *others):
        Path(name).write_text(UGLY)
    Path("nice.tf").write_text(NICE)
    assert main(["fmt"]) == 0
    assert capsys.readouterr().out.split() == list(names)
    assert {Path(name).read_text() for name in names} == {NICE}
    assert {Path(name).read_text() for name in others} == {UGLY}
    assert main(["fmt"]) == 0
    assert capsys.readouterr().out == ""


def test_subdirectories_only_when_asked(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("m.tf", "sub/a.tf", "sub/deep/b.tf", ".terraform/c.tf"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(UGLY)
    assert main(["fmt", "-write=false"]) == 0
    assert capsys.readouterr().out.split() == ["m.tf"]
    assert main(["fmt", "-recursive", "-write=false"]) == 0
    assert capsys.readouterr().out.split() == ["m.tf", "sub/a.tf", "sub/deep/b.tf"]
    assert main(["fmt", "-list=false", "sub", "./m.tf"]) == 0
    assert capsys.readouterr().out == ""
    assert Path("sub/a.tf").read_text() == Path("m.tf").read_text() == NICE
    assert Path("sub/deep/b.tf").read_text() == UGLY


def test_check(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.tf").write_text(UGLY)
    assert main(["fmt", "-check"]) == 3
    assert capsys.readouterr().out == "a.tf\n"
    assert main(["fmt", "-check", "-list=false"]) == 3
    assert capsys.readouterr().out == ""
    assert Path("a.tf").read_text() == UGLY
    Path("a.tf").write_text(NICE)
    assert main(["fmt", "-check"]) == 0


def test_diff(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.tf").write_text("a=1\nb = 2")
    assert main(["fmt", "-diff", "-write=false"]) == 0
    assert capsys.readouterr().out == (
        "a.tf\n--- old/a.tf\n+++ new/a.tf\n@@ -1,2 +1,2 @@\n-a=1\n+a = 1\n b = 2\n"
        "\\ No newline at end of file\n"
    )


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _stdin(monkeypatch, UGLY)
    assert main(["fmt", "-"]) == 0
    assert capsys.readouterr().out == NICE
    _stdin(monkeypatch, UGLY)
    assert main(["fmt", "-check", "-"]) == 3
    assert capsys.readouterr().out == ""


def test_errors(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.tf").write_text("a = [\n")
    Path("good.tf").write_text(UGLY)
    Path("other.txt").write_text(UGLY)
    assert main(["fmt", "bad.tf", "good.tf"]) == 2
    printed = capsys.readouterr()
    assert printed.out == "good.tf\n"
    assert "on bad.tf line" in printed.err
    assert Path("bad.tf").read_text() == "a = [\n"
    for path in ("missing.tf", "other.txt"):
        assert main(["fmt", path]) == 2
        assert path in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links are those of Unix")
def test_mode_and_links_stay(directory: Path) -> None:
    Path("real").write_text(UGLY)
    os.chmod("real", 0o640)
    Path("link.tf").symlink_to("real")
    assert main(["fmt", "-list=false"]) == 0
    assert Path("link.tf").is_symlink()
    assert Path("real").read_text() == NICE
    assert os.stat("real").st_mode & 0o777 == 0o640
    assert sorted(os.listdir()) == ["link.tf", "real"]

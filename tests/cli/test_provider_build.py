"""`nigari provider build`: what it refuses, and that it sees whether the provider starts."""

import sys
from pathlib import Path

import pytest

from tests.cli.process import ROOT, nigari

SCRIPT = ROOT / "examples" / "python-provider" / "terraform-provider-files"
SOURCE = "example.com/demo/files"

REFUSED: list[tuple[list[str], str]] = [
    ([], "needs the source of the provider"),
    ([SOURCE], "needs the source of the provider"),
    (["-version=new", SOURCE, str(SCRIPT)], '"new" is not a version'),
    (["-platform=windows_amd64", SOURCE, str(SCRIPT)], "which Windows does not run"),
    (["-platform=linux", SOURCE, str(SCRIPT)], "not a platform"),
    (["a/b/c/d", str(SCRIPT)], "a/b/c/d"),
    ([SOURCE, "nothing.py"], "no file or directory nothing.py"),
    (["-out=file/below", SOURCE, str(SCRIPT)], "Not a directory"),
    (["-python=/bin/false", SOURCE, str(SCRIPT)], "-python names the Python"),
]


@pytest.mark.parametrize(("arguments", "text"), REFUSED)
def test_what_is_refused(arguments: list[str], text: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = nigari("provider", "build", *arguments, cwd=tmp_path)
    assert done.code == 1
    assert text in " ".join(done.err.replace("│", "").split()), done.err


def test_a_build_is_started_once(tmp_path: Path) -> None:
    python = f"-python={sys.executable}"
    done = nigari("provider", "build", python, "-out=o", SOURCE, str(SCRIPT), cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("The provider starts, and offers 1 resource type.\n")
    done = nigari(
        "provider", "build", "-python=/bin/false", "-check=false", SOURCE, str(SCRIPT), cwd=tmp_path
    )
    assert done.code == 0
    assert "starts" not in done.out

"""What the options of a plan ask for, and what they refuse together."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.process import Done, inside

CONFIG = """\
resource "terraform_data" "a" {}
resource "terraform_data" "b" { input = terraform_data.a.id }
resource "terraform_data" "c" { count = 2 }
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text(CONFIG)


def words(done: Done) -> str:
    return " ".join((done.out + done.err).replace("│", " ").split())


@pytest.mark.parametrize(
    ("flags", "content", "wanted"),
    [
        (["-target-file=f"], "terraform_data.a\n", 1),
        (["-target-file=f"], "# terraform_data.a\n\n  terraform_data.b  \n", 2),
        (["-target-file=f"], "terraform_data.c[0]\r\nterraform_data.a", 2),
        (["-target-file=f", "-target=terraform_data.a"], "terraform_data.c[1]", 2),
        (["-exclude-file=f"], "terraform_data.a\n", 2),
        (["-exclude-file=f"], "terraform_data.c[1]", 3),
        (["-target-file=f"], "# nothing\n", 4),
    ],
)
def test_files_of_addresses(flags: list[str], content: str, wanted: int) -> None:
    Path("f").write_text(content)
    done = inside("plan", "-no-color", *flags)
    assert f"Plan: {wanted} to add" in done.out, done.out + done.err


@pytest.mark.parametrize(
    ("flags", "wanted"),
    [
        (["-target-file=missing"], "missing: No such file"),
        (["-target-file=bad"], "on bad line 2"),
        (["-exclude-file=bad"], "on bad line 2"),
        (
            ["-target=terraform_data.a", "-exclude=terraform_data.b"],
            "-target and -exclude cannot be used together",
        ),
        (
            ["-target-file=good", "-exclude-file=good"],
            "-target and -exclude cannot be used together",
        ),
        (["-replace=data.terraform_data.a"], "takes managed resources only"),
        (["-replace=terraform_data.a", "-destroy"], "-replace"),
        (["-replace=nonsense("], "nonsense("),
        (["-refresh-only", "-refresh=false"], "nothing to do"),
        (["-refresh-only", "-destroy"], "cannot be used together"),
        (["-parallelism=-1"], "-parallelism"),
    ],
)
def test_refused(flags: list[str], wanted: str) -> None:
    Path("bad").write_text("terraform_data.a\nterraform_data..b\n")
    Path("good").write_text("terraform_data.a\n")
    done = inside("plan", "-no-color", *flags)
    assert done.code == 1
    assert wanted in words(done)


def test_exit_status() -> None:
    assert inside("plan", "-detailed-exitcode").code == 2
    assert inside("apply", "-auto-approve").code == 0
    assert inside("plan", "-detailed-exitcode").code == 0
    assert inside("plan", "-detailed-exitcode", "-replace=terraform_data.a").code == 2
    assert inside("plan", "-detailed-exitcode", "-refresh-only").code == 0
    Path("main.tf").write_text("nonsense")
    assert inside("plan", "-detailed-exitcode").code == 1


def test_missing_variable() -> None:
    Path("main.tf").write_text('variable "v" {}\noutput "o" { value = var.v }\n')
    done = inside("plan", "-input=false")
    assert done.code == 1
    assert "variable v has no default" in words(done)

"""The console on a terminal."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("there is no pty", allow_module_level=True)

from nigari.cli.console.prompt import candidates
from tests.cli.typist import Typist

CONFIGURATION = """
variable "region" {
  default = "eu"
}
variable "zones" {
  default = ["a", "b"]
}
locals {
  names = ["x", "y"]
}
"""


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Typist]:
    (tmp_path / "main.tf").write_text(CONFIGURATION)
    with Typist("console", cwd=tmp_path) as typist:
        typist.wait_for("> ")
        yield typist


def test_answers(console: Typist) -> None:
    console.type("1 + 1\n")
    assert console.wait_for("> ") == "1 + 1\n2\n> "
    console.type("var.region\n")
    assert '\n"eu"\n' in console.wait_for("> ")
    console.type("exit\n")
    assert console.code() == 0


def test_errors_do_not_end_it(console: Typist) -> None:
    console.type("1 +\n")
    assert "Error: " in console.wait_for("\n> ")
    console.type("2\n")
    assert "\n2\n" in console.wait_for("> ")
    console.type("\x04")
    assert console.code() == 0


def test_empty_lines_are_not_answered(console: Typist) -> None:
    console.type("\n")
    assert console.wait_for("> ") == "\n> "


def test_open_brackets_go_on(console: Typist) -> None:
    console.type("[(\n")
    assert console.wait_for(".. ") == "[(\n.. "
    console.type("1)\n")
    assert console.wait_for(". ") == "1)\n. "
    console.type("]\n")
    assert "[\n  1,\n]\n" in console.wait_for("> ")


def test_heredocs(console: Typist) -> None:
    console.type("<<EOT\n")
    console.wait_for(". ")
    console.type("  a\n")
    console.wait_for(". ")
    console.type("EOT\n")
    assert "<<EOT\n  a\n\nEOT\n" in console.wait_for("> ")


def test_interruption_gives_up_the_line_then_leaves(console: Typist) -> None:
    console.type("[1,\n")
    console.wait_for(". ")
    console.interrupt_until("> ")
    console.type("half a li")
    console.wait_for("half a li")
    console.interrupt_until("> ")
    console.type("7\n")
    assert "\n7\n" in console.wait_for("> ")
    assert console.interrupt_until_it_ends() == 0


def test_end_of_input_leaves(console: Typist) -> None:
    console.type("\x04")
    assert console.code() == 0


def test_history(console: Typist) -> None:
    console.type("40 + 2\n")
    console.wait_for("42\n> ")
    console.type("\x1b[A\n")
    assert "40 + 2\n42\n" in console.wait_for("42\n> ")


def test_completion(console: Typist) -> None:
    console.type("var.re\t\n")
    assert '"eu"' in console.wait_for('"eu"\n> ')
    console.type("[for z in var.z\t : upp\tz)]\n")
    assert '"B"' in console.wait_for("]\n> ")


@pytest.mark.parametrize(
    ("beginning", "found"),
    [
        ("v", ["values(", "var."]),
        ("var.", ["var.region", "var.zones"]),
        ("var.z", ["var.zones"]),
        ("aws_", ["aws_vpc."]),
        ("aws_vpc.", ["aws_vpc.a", "aws_vpc.b"]),
        ("nothing", []),
    ],
)
def test_candidates(beginning: str, found: list[str]) -> None:
    names = ["aws_vpc.a", "aws_vpc.b", "length(", "values(", "var.region", "var.zones"]
    assert candidates(beginning, names) == found

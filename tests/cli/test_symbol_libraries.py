"""Symbol libraries on the command line: saved plans, formatting, references and plain configurations."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nigari.cli.commands import apply, config, fmt, plan, uses
from nigari.cli.commands.eval import COMMAND as EVAL
from tests.cli.in_process import ran
from tests.explore.explored import write

FILES = {
    "main.tf": """
language {
  experiments = [symbol_libraries]
}
variable "name" {
  default = "lib"
}
variable "shape" {
  type    = symbols::lib::shape()
  default = { size = "2" }
}
symbols "lib" {
  source = "./${var.name}"
}
resource "terraform_data" "a" {
  input = symbols::lib::twice(var.shape.size)
}
output "a" {
  value = "${terraform_data.a.output} ${symbols.lib.word}"
}
""",
    "lib/a.sym.hcl": """
values {
  word = "things"
}
typedef "shape" {
  type = object({ size = number })
}
function "twice" {
  parameter "x" {}
  return = param.x * 2
}
""",
}


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_saved_plan_has_its_libraries(directory: Path) -> None:
    status, text = ran(plan.COMMAND, ["-out=saved"], {})
    assert status == 0, text
    shutil.rmtree(directory / "lib")
    status, text = ran(apply.COMMAND, ["saved"], {})
    assert status == 0, text
    assert 'a = "4 things"' in text


def test_what_uses_a_library() -> None:
    _, text = ran(uses.COMMAND, ["var.name"], {})
    assert text.startswith("var.name\n└── symbols.lib\n    ├── terraform_data.a\n")


def test_values_on_the_command_line() -> None:
    status, text = ran(EVAL, ["convert({ size = 1 }, symbols::lib::shape())"], {})
    assert status == 0, text
    assert "size" in text
    _, text = ran(EVAL, ["symbols::lib::thrice(2)"], {})
    assert 'no function named "thrice"' in text


def test_formatting(directory: Path) -> None:
    file = directory / "lib" / "a.sym.hcl"
    file.write_text("values {\n a=1\n  bcd = 2\n}\n")
    assert ran(fmt.COMMAND, ["lib"], {})[0] == 0
    assert file.read_text() == "values {\n  a   = 1\n  bcd = 2\n}\n"


def test_a_plain_configuration_has_none() -> None:
    status, text = ran(config.COMMAND, ["-plain", "-out=plain"], {})
    assert status == 1
    assert "OpenTofu 1.12 has no symbols blocks." in text

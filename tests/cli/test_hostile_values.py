"""Values that could steer a terminal: people see what they are, programs get them as they are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.process import nigari

_TEXT = "a\u009bb\u202ec\u001b[31md\u0007e\u007fg\u2066h\u200fi\u0085j"
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_MAIN = """\
locals {
  s = "a\\u009bb\\u202ec\\u001b[31md\\u0007e\\u007fg\\u2066h\\u200fi\\u0085j"
}
resource "terraform_data" "a" {
  input = { k = local.s, (local.s) = 1, m = "l\\n${local.s}\\n", j = jsonencode({ x = local.s }) }
}
resource "terraform_data" "b" {
  for_each = toset([local.s])
}
output "o" { value = local.s }
output "l" { value = [local.s, "x\\n${local.s}\\n"] }
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("place")
    (path / "main.tf").write_text(_MAIN)
    done = nigari("apply", "-auto-approve", "-no-color", cwd=path)
    assert done.code == 0, done.err
    assert not _STEERING.findall(done.out)
    return path


@pytest.mark.parametrize(
    "line",
    ["show", "state show terraform_data.a", "state list", "output", "output l", "plan -destroy"],
)
def test_for_people(place: Path, line: str) -> None:
    done = nigari(*line.split(), "-no-color", cwd=place)
    assert done.code == 0, done.err
    assert not _STEERING.findall(done.out + done.err)
    assert "\\u202e" in done.out


def test_for_programs(place: Path) -> None:
    assert nigari("output", "-raw", "o", cwd=place).out == _TEXT
    assert json.loads(nigari("output", "-json", "o", cwd=place).out) == _TEXT

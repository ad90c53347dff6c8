"""The walks of ARCHITECTURE.md are those that the program takes."""

from __future__ import annotations

import re
import sys
import threading
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Final

import pytest

from nigari.cli.command import Terminal
from nigari.cli.main import run

PAGE: Final = Path(__file__).resolve().parents[1] / "ARCHITECTURE.md"
_WALK: Final = re.compile(r"^`nigari (\w+)`[^\n]*:\n\n((?:\d+\. [^\n]*\n)+)", re.MULTILINE)
_STATION: Final = re.compile(r"^\d+\. `([\w.]+)`", re.MULTILINE)
WALKS: Final = {
    name: _STATION.findall(stations)
    for name, stations in _WALK.findall(PAGE.read_text(encoding="utf-8"))
}
ARGUMENTS: Final = {"apply": ["-auto-approve"], "explain": ["local.label"]}
MAIN: Final = """
variable "name" {
  default = "x"
}

locals {
  label = "label ${var.name}"
}

module "m" {
  source = "./m"
  label  = local.label
}

resource "terraform_data" "a" {
  input = module.m.text
}
"""


def traced(arguments: list[str], environ: dict[str, str]) -> list[str]:
    """The functions of a run, by their first call."""
    seen: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        _, found, rest = code.co_filename.rpartition("/nigari/")
        if event == "call" and found:
            seen.setdefault(f"nigari.{rest[:-3].replace('/', '.')}.{code.co_qualname}")

    terminal = Terminal(StringIO(), StringIO(), StringIO(), environ)
    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        assert run(arguments, terminal) == 0
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return list(seen)


@pytest.mark.parametrize("command", WALKS)
def test_a_walk(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.tf").write_text(MAIN)
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "main.tf").write_text(
        'variable "label" {}\n\noutput "text" {\n  value = upper(var.label)\n}\n'
    )
    (tmp_path / "nothing.tfrc").touch()
    environ = {"TF_CLI_CONFIG_FILE": str(tmp_path / "nothing.tfrc")}
    stations = WALKS[command]
    calls = traced([command, *ARGUMENTS.get(command, [])], environ)
    assert [each for each in calls if each in stations] == stations


def test_every_walk_is_short() -> None:
    assert set(WALKS) == {"validate", "plan", "apply", "explain"}
    assert all(len(stations) <= 12 for stations in WALKS.values())

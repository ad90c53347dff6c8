"""Imports by identity from a provider in Python."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.plugins import overriding, write_plugin

_CONFIGURATION = """\
resource "hall_piece" "a" {
  room  = "r"
  title = "new"
}
import {
  to       = hall_piece.a
  identity = { room = "r" }
}
"""


def import_served(path: Path, *program: str) -> None:
    """Have a program take an object over, by its identity, through the plugin protocol."""
    text = "from tests.providers.test_python_identity import hall\n\nhall.serve()\n"
    write_plugin(path / "plugins", "hall", text)
    environ = overriding(path / "settings.tfrc", "hashicorp/hall", path / "plugins")
    (path / "main.tf").write_text(_CONFIGURATION)
    for wanted in ("1 imported, 0 added, 1 changed", "0 added, 0 changed"):
        done = subprocess.run(
            [*program, "apply", "-auto-approve"],
            cwd=path,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert wanted in done.stdout
    state = json.loads((path / "terraform.tfstate").read_text())
    (stored,) = state["resources"][0]["instances"]
    assert stored["identity"] == {"room": "r", "shelf": None}

"""Fleets with providers of their own: what they did, by their own account, while things were killed."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.process import ROOT, command, environment
from tests.cli.process import nigari as run
from tests.fleet.trees import reading, write_tree

pytestmark = pytest.mark.real

_PROVIDER = f"""#!{sys.executable}
import os, sys, time
sys.path[:0] = [{str(ROOT / "src")!r}]
from dataclasses import dataclass
from nigari.providers.python import Computed, Provider


@dataclass
class Settings:
    journal: str


provider = Provider("notes", Settings)


def note(settings: Settings, text: str) -> None:
    with open(settings.journal, "a") as file:
        file.write(f"{{text}} {{os.getpid()}}\\n")


@provider.resource("note")
@dataclass
class Note:
    name: str
    seconds: float = 0.0
    written: Computed[str] = ""

    def create(self, settings: Settings) -> None:
        note(settings, f"begin {{self.name}}")
        time.sleep(self.seconds)
        note(settings, f"made {{self.name}}")
        self.written = self.name

    def read(self, settings: Settings) -> bool:
        return not os.path.exists(f"{{settings.journal}}-without-{{self.name}}")

    def delete(self, settings: Settings) -> None:
        note(settings, f"deleted {{self.name}}")


if __name__ == "__main__":
    provider.serve()
"""


def _unit(root: Path, name: str, needs: str = "", seconds: float = 0.0) -> str:
    read = reading("up", f"../{needs}/terraform.tfstate") if needs else ""
    given = f"${{data.terraform_remote_state.up.outputs.{needs}}}-" if needs else ""
    return f"""
terraform {{
  required_providers {{
    notes = {{ source = "example.com/demo/notes" }}
  }}
}}
provider "notes" {{ journal = "{root / "journal"}" }}
{read}
resource "notes_note" "first" {{ name = "{given}{name}" }}
resource "notes_note" "second" {{
  name    = "${{notes_note.first.written}}2"
  seconds = {seconds}
}}
output "{name}" {{ value = notes_note.second.written }}
"""


def _world(root: Path) -> dict[str, str]:
    """A fleet whose provider is a program, and the settings that find it."""
    program = root / "plugins" / "terraform-provider-notes"
    rc = f'provider_installation {{\n  dev_overrides {{\n    "example.com/demo/notes" = "{program.parent}"\n'
    write_tree(
        root,
        {
            "plugins/terraform-provider-notes": _PROVIDER,
            "cli.rc": rc + "  }\n  direct {}\n}\n",
            "fleet/a/main.tf": _unit(root, "a"),
            "fleet/b/main.tf": _unit(root, "b", "a", 3),
            "fleet/c/main.tf": _unit(root, "c", "b"),
            "fleet/x/main.tf": _unit(root, "x"),
        },
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"TF_CLI_CONFIG_FILE": str(root / "cli.rc")}


def _made(root: Path) -> Counter[str]:
    lines = (root / "journal").read_text().splitlines()
    return Counter(line.split()[1] for line in lines if line.startswith("made"))


_ALL = {"a": 1, "a2": 1, "a2-b": 1, "a2-b2": 1, "a2-b2-c": 1, "a2-b2-c2": 1, "x": 1, "x2": 1}


def test_providers_of_their_own(tmp_path: Path) -> None:
    settings = _world(tmp_path)
    done = run(
        "fleet", "apply", "-auto-approve", "-jobs=2", cwd=tmp_path / "fleet", settings=settings
    )
    assert done.code == 0, done.out + done.err
    assert _made(tmp_path) == _ALL


def test_drift_is_reported(tmp_path: Path) -> None:
    settings, fleet = _world(tmp_path), tmp_path / "fleet"
    assert run("fleet", "apply", "-auto-approve", cwd=fleet, settings=settings).code == 0
    reports = ("-markdown=drift.md", "-junit-xml=drift.xml")
    assert run("fleet", "drift", *reports, cwd=fleet, settings=settings).code == 0
    (tmp_path / "journal-without-x2").touch()
    done = run("fleet", "drift", *reports, cwd=fleet, settings=settings)
    assert done.code == 2, done.err
    assert done.out == "x:\n  notes_note.second\n\nDrift in 1 of 4 units.\n"
    text = (fleet / "drift.md").read_text()
    assert text.startswith("**Drift in 1 of 4 units.**\n")
    assert "<code>x</code></summary>\n\n```\nnotes_note.second\n```" in text
    suite = ElementTree.parse(fleet / "drift.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "1", "0")
    (failure,) = suite.iter("failure")
    assert (failure.get("message"), failure.text) == ("1 object has drifted", "notes_note.second")
    done = run("fleet", "drift", "-json", cwd=fleet, settings=settings)
    assert done.code == 2
    assert json.loads(done.out.splitlines()[-1])["units"] == ["x"]
    # Nothing has been done about it.
    assert _made(tmp_path) == _ALL


def test_a_plugin_is_killed(tmp_path: Path) -> None:
    settings = _world(tmp_path)
    process = subprocess.Popen(
        command("fleet", "apply", "-auto-approve", "-jobs=2"),
        cwd=tmp_path / "fleet",
        env=environment(**settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    journal = tmp_path / "journal"
    begun: list[str] = []
    for _ in range(1200):
        lines = journal.read_text().splitlines() if journal.exists() else []
        begun = [line for line in lines if line.startswith("begin a2-b2 ")]
        if begun:
            break
        time.sleep(0.05)
    os.kill(int(begun[0].split()[2]), signal.SIGKILL)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 1, out
    assert b"c: not begun, because b failed" in out
    assert _made(tmp_path) == {"a": 1, "a2": 1, "a2-b": 1, "x": 1, "x2": 1}
    done = run("fleet", "apply", "-auto-approve", cwd=tmp_path / "fleet", settings=settings)
    assert done.code == 0, done.out + done.err
    assert _made(tmp_path) == _ALL

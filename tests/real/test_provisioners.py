"""Provisioners on the same ssh host, run by the real program and by ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.apply.ssh_host import SshHost, login
from tests.cli.process import nigari
from tests.real import program
from tests.real.beside import Place, settings_file

pytestmark = pytest.mark.real

FILES = """
  provisioner "file" {
    content     = "some ${self.input}"
    destination = "THERE/content"
  }
  provisioner "file" {
    source      = "folder/a"
    destination = "THERE/copy of a"
  }
  provisioner "file" {
    source      = "folder"
    destination = "THERE/whole"
  }
  provisioner "file" {
    source      = "folder/"
    destination = "THERE/inside"
  }
  provisioner "file" {
    source      = "folder"
    destination = "THERE/new"
  }
"""
SCRIPTS = """
  provisioner "remote-exec" {
    inline = ["echo one > THERE/log", "pwd >> THERE/log"]
  }
  provisioner "remote-exec" {
    script = "folder/inner/s.sh"
  }
  provisioner "remote-exec" {
    scripts = ["folder/inner/s.sh", "folder/inner/s.sh"]
  }
"""
CASES = {
    "files": (FILES, 0),
    "scripts": (SCRIPTS, 0),
    "a file in no directory": (FILES.replace("THERE/content", "THERE/a/b/c"), 1),
    "no such file": (FILES.replace("folder/a", "folder/missing"), 1),
    "no such script": (SCRIPTS.replace("inner/s.sh", "missing"), 1),
    "an empty line": (SCRIPTS.replace('"echo one > THERE/log"', '""'), 1),
    "a script that fails": (SCRIPTS.replace("echo one", "exit 3; echo one"), 1),
    "that does not matter": (SCRIPTS.replace("inline", "on_failure = continue\n    inline"), 0),
}


def _tree(folder: Path) -> dict[str, tuple[str, str]]:
    return {
        str(path.relative_to(folder)): (oct(path.stat().st_mode), _content(path))
        for path in sorted(folder.rglob("*"))
        if not path.name.startswith("script_")
    }


def _content(path: Path) -> str:
    return "" if path.is_dir() else path.read_bytes().decode("latin-1")


@pytest.mark.parametrize("name", CASES)
def test_same_as_tofu(name: str, tmp_path: Path) -> None:
    body, wanted = CASES[name]
    settings = settings_file(tmp_path / "settings.tfrc")
    trees, statuses, stored = [], [], []
    with SshHost() as host:
        for who in ("theirs", "ours"):
            place = Place(tmp_path / who, settings)
            there = tmp_path / f"{who}_there"
            for each in (there / "whole", there / "inside", place.path / "folder" / "inner"):
                each.mkdir(parents=True)
            (place.path / "folder/a").write_text("A")
            (place.path / "folder/inner/s.sh").write_text(f"echo script >> {there}/log\n")
            (place.path / "folder/inner/s.sh").chmod(0o700)
            text = login(host, there, timeout='"30s"') + body.replace("THERE", str(there))
            text = f'resource "terraform_data" "a" {{\n  input = "x"\n{text}\n}}\n'
            place.write({"main.tf": text})
            if who == "theirs":
                status = place.run(program("tofu"), "apply", "-auto-approve")[0]
            else:
                status = nigari("apply", "-auto-approve", cwd=place.path).code
            trees.append({n: (m, c.replace(who, "")) for n, (m, c) in _tree(there).items()})
            statuses.append(status)
            state = json.loads(place.state())
            stored.append([i.get("status") for r in state["resources"] for i in r["instances"]])
    assert statuses == [wanted, wanted]
    assert stored[0] == stored[1]
    assert trees[0] == trees[1]

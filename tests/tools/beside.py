"""One story, told to OpenTofu and to our launcher: the texts and the JSON that other programs read."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nigari.cli.main import main
from tests.real import program

CONFIGURATION: Final = """
variable "name" {
  default = "a"
}
variable "size" {
  type    = number
  default = 2
}
module "inner" {
  source = "./inner"
  name   = var.name
}
resource "terraform_data" "it" {
  count            = var.size
  input            = { name = var.name, index = count.index }
  triggers_replace = var.name == "c"
}
check "named" {
  assert {
    condition     = var.name != ""
    error_message = "No name."
  }
}
output "names" {
  value = terraform_data.it[*].output.name
}
output "secret" {
  value     = "hidden"
  sensitive = true
}
"""
INNER: Final = """
variable "name" {}
resource "terraform_data" "inner" {
  for_each = toset(["x", "y z"])
  input    = "${var.name} ${each.key}"
}
"""
_OTHER: Final = 'output "another" {\n  value = var.size\n}\n'
_MOMENTS: Final = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
)


@dataclass(frozen=True, slots=True)
class Side:
    """A program, and the directory that it works in."""

    binary: Path
    directory: Path

    def run(self, *words: str) -> str:
        """The output of a command, errors too; a failure is not one here."""
        done = subprocess.run(
            [self.binary, *words],
            cwd=self.directory,
            env={**os.environ, "TF_CLI_CONFIG_FILE": str(self.directory.parent / "none.tfrc")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout


def sides(folder: Path, name: str = "tofu", files: Mapping[str, str] | None = None) -> list[Side]:
    """OpenTofu and our launcher, each in a directory with the same files, after `init`."""
    assert main(["shim", f"-name={name}", str(folder / "shims")]) == 0
    found: list[Side] = []
    for which, binary in (("theirs", program("tofu")), ("ours", folder / "shims" / name)):
        side = Side(binary, folder / which / "configuration")
        given = files or {"main.tf": CONFIGURATION, "inner/main.tf": INNER}
        for path, text in given.items():
            (side.directory / path).parent.mkdir(parents=True, exist_ok=True)
            (side.directory / path).write_text(text)
        (folder / which / "none.tfrc").touch()
        side.run("init", "-input=false")
        found.append(side)
    return found


def story(side: Side) -> Iterator[tuple[str, str]]:
    """The texts of commands, by what is done with them."""
    yield "plan", side.run("plan", "-no-color", "-input=false", "-out=first")
    yield "apply", side.run("apply", "-no-color", "-input=false", "first")
    yield "plan", side.run("plan", "-no-color", "-input=false")
    yield "plan", side.run("plan", "-no-color", "-input=false", "-var=name=b", "-var=size=1")
    yield "plan", side.run("plan", "-no-color", "-input=false", "-var=name=c")
    yield "plan", side.run("plan", "-no-color", "-input=false", "-destroy")
    yield "plan", side.run("plan", "-no-color", "-input=false", "-var=size=many")
    yield "validate", side.run("validate", "-no-color")
    (side.directory / "other.tf").write_text(_OTHER)
    yield "plan", side.run("plan", "-no-color", "-input=false")
    yield "apply", side.run("apply", "-no-color", "-input=false", "-auto-approve")
    yield "apply", side.run("apply", "-no-color", "-input=false", "-auto-approve", "-var=size=3")
    (side.directory / "broken.tf").write_text('output "broken" {\n  value = var.none\n}\n')
    yield "validate", side.run("validate", "-no-color")
    yield "apply", side.run("apply", "-no-color", "-input=false", "-auto-approve")


def planned(side: Side) -> list[Path]:
    """The JSON of plans: of objects that are new, change, are replaced and destroyed."""
    found: list[Path] = []
    for number, words in enumerate((["-var=name=b"], ["-var=name=c", "-var=size=1"], ["-destroy"])):
        side.run("plan", "-input=false", f"-out=plan{number}", *words)
        path = side.directory / f"plan{number}.json"
        path.write_text(side.run("show", "-json", f"plan{number}"))
        found.append(path)
        if number == 0:
            side.run("apply", "-input=false", "plan0")
    return found


def read(command: Sequence[str | Path], text: str, folder: Path) -> str:
    """What a program says of a text, without what differs from run to run."""
    done = subprocess.run(
        command,
        cwd=folder,
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return without_moments(done.stdout)


def without_moments(text: str) -> str:
    """A text without identities and times."""
    for pattern, name in _MOMENTS:
        text = pattern.sub(name, text)
    return text

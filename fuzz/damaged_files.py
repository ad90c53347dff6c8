"""Damages files that the program reads back, and runs commands that read them.

    python -m fuzz.damaged_files [-n COUNT] [-s SEED] [-k KIND]

Of each kind of file, COUNT copies are damaged: single bytes, members of JSON, and plans that are sealed
again afterwards. Whatever is in a file, no command crashes (exit status 11, or a failure that is
reported as a bug), takes long, or needs much memory. What breaks a promise is kept in build/fuzz,
once for each place in the program, and the run ends with status 1.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from fuzz.damage import (
    Damage,
    TooLong,
    at_most,
    damage_bytes,
    damage_either,
    damage_entry,
)
from fuzz.hcl_files import KEPT, LONGEST_SECONDS, ROOT
from nigari.cli.command import Terminal
from nigari.cli.main import run
from nigari.diagnostics.unexpected import raised_at
from nigari.plan.model.plan_file import seal_of

MOST_MEMORY: Final = 4 << 30
"""Bytes of address space."""
_BUG: Final = re.compile(r"(\w+) in (nigari/\S+ line \d+)")
_MAIN: Final = """
terraform {
  backend "local" {
    path = "states/${var.where}.tfstate"
  }
}
variable "where" { default = "here" }
variable "v" {
  type    = list(string)
  default = ["a", "b"]
}
variable "s" {
  default   = "hidden"
  sensitive = true
}
module "m" {
  source   = "./m"
  for_each = toset(var.v)
  x        = each.key
}
resource "terraform_data" "a" {
  count = %d
  input = { v = var.v, s = var.s, %s = timestamp() }
  lifecycle {
    postcondition {
      condition     = self.input.s != ""
      error_message = "empty"
    }
  }
}
resource "terraform_data" "b" {
  triggers_replace = [terraform_data.a[0].id, "%s"]
  input            = module.m["a"].x
  lifecycle {
    create_before_destroy = true
  }
}
check "c" {
  assert {
    condition     = terraform_data.b.output != "x"
    error_message = "is x"
  }
}
output "o" {
  value     = [terraform_data.a, module.m["a"].x]
  sensitive = true
}
"""
_MODULE: Final = """
variable "x" {
  validation {
    condition     = var.x != "z"
    error_message = "is z"
  }
}
resource "terraform_data" "x" { input = var.x }
output "x" { value = terraform_data.x.output }
"""
_SETTINGS: Final = {"PATH": os.environ.get("PATH", ""), "TF_INPUT": "0"}


def damage_sealed(data: bytes, rng: random.Random) -> bytes:
    """A plan with another content, sealed as an unharmed one is."""

    def seal(contents: Mapping[str, bytes]) -> Mapping[str, bytes]:
        entries = {name: content for name, content in contents.items() if name != "seal"}
        return {"seal": seal_of(entries), **entries}

    return damage_entry(data, rng, "plan.json", seal)


# -- a directory ------------------------------------------------------------------------------


class World:
    """A directory in which everything was done that leaves files behind, and a plan to be applied."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "m").mkdir()
        (directory / "m" / "main.tf").write_text(_MODULE)
        self._configure(3, "one", "x")
        self._done("init")
        self._done("apply", "-auto-approve")
        self._configure(2, "two", "y")
        self._done("plan", "-out=p", "-var", 'v=["a", "c"]')
        self._done("workspace", "new", "other")
        self._done("workspace", "select", "default")
        self._files = self._all_files()
        known = {each[0] for each in KINDS.values()}
        self.own_files: list[str] = [
            name
            for name in sorted(self._files)
            if name.startswith(".terraform/") and name not in known
        ]
        """The files below `.terraform` that no other program has."""

    def _configure(self, count: int, name: str, word: str) -> None:
        (self.directory / "main.tf").write_text(_MAIN % (count, name, word))

    def _done(self, *args: str) -> None:
        status, told = self.run(*args)
        if status:
            sys.exit(f"{' '.join(args)} ended with {status}:\n{told}")

    def run(self, *args: str) -> tuple[int, str]:
        """The exit status of a command, and everything it printed."""
        out, err = io.StringIO(), io.StringIO()
        line = [f"-chdir={self.directory}", *args]
        status = run(line, Terminal(io.StringIO(), out, err, _SETTINGS))
        return status, out.getvalue() + err.getvalue()

    def file(self, name: str) -> bytes:
        return self._files[name]

    def restore(self) -> None:
        """Put all files back as they were."""
        there = self._all_files()
        for name in there.keys() - self._files.keys():
            (self.directory / name).unlink()
        for name, content in self._files.items():
            if there.get(name) != content:
                path = self.directory / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    def _all_files(self) -> Mapping[str, bytes]:
        return {
            str(path.relative_to(self.directory)): path.read_bytes()
            for path in self.directory.rglob("*")
            if path.is_file() and not path.is_symlink()
        }


_LOCK: Final = b"""provider "registry.opentofu.org/hashicorp/null" {
  version     = "3.2.3"
  constraints = "~> 3.2"
  hashes = [
    "h1:I0Um8UkrMUb81Fxq/dxbr3HLP2cecTH2WMJiwKSrwQY=",
  ]
}
"""

Kind = tuple[str, Damage, tuple[tuple[str, ...], ...]]
_APPLY: Final = ("apply", "-auto-approve")

KINDS: Final[Mapping[str, Kind]] = {
    "plan": ("p", damage_bytes, (("show", "p"), ("apply", "p"))),
    "sealed": ("p", damage_sealed, (("show", "p"), ("show", "-json", "p"), ("apply", "p"))),
    "backend": (
        ".terraform/terraform.tfstate",
        damage_either,
        (("plan",), ("output",), ("init",), ("workspace", "list"), ("init", "-reconfigure")),
    ),
    "state": (
        "states/here.tfstate",
        damage_either,
        (("plan",), ("show",), ("show", "-json"), ("state", "list"), _APPLY, ("output",),
         ("destroy", "-auto-approve"), ("state", "pull"), ("console",)),
    ),
    "lock": (
        ".terraform.lock.hcl",
        damage_bytes,
        (("validate",), ("providers",), ("plan",), ("version",)),
    ),
    "manifest": (
        ".terraform/modules/modules.json",
        damage_either,
        (("validate",), ("get",), ("plan",), ("modules", "-json"), ("init",)),
    ),
    "own": (
        "",
        damage_either,
        (("plan",), ("init",), ("output",), ("explain", "terraform_data.b"), ("workspace", "list"),
         ("apply", "-auto-approve"), ("validate",), ("explore", "-out=page.html")),
    ),
}  # fmt: skip


def search(kind: str, count: int, seed: int, directory: Path) -> Counter[str]:
    """Where commands crashed, and how often."""
    world = World(directory)
    rng = random.Random(f"{kind} {seed}")
    found: Counter[str] = Counter()
    for number in range(count):
        path, damage, commands = KINDS[kind]
        name = path or rng.choice(world.own_files)
        content = _LOCK if kind == "lock" else world.file(name)
        data = damage(content, rng)
        world.restore()
        (directory / name).write_bytes(data)
        command = rng.choice(commands)
        fault = trace = ""
        try:
            with at_most(LONGEST_SECONDS):
                status, told = world.run(*command)
            if status == 11 or "because of a bug" in told:
                bug = _BUG.search(" ".join(told.split()))
                fault = told[-300:] if bug is None else " ".join(bug.groups())
        except TooLong:
            fault = f"{' '.join(command)} takes more than {LONGEST_SECONDS} seconds"
        except Exception as error:  # noqa: BLE001 - finding any of them is the purpose
            fault = f"{type(error).__name__} {raised_at(error)}"
            trace = traceback.format_exc()
        if fault:
            found[fault] += 1
            if found[fault] == 1:
                _keep(data, f"{kind}-{seed}-{number}", f"{' '.join(command)}: {fault}", trace)
    return found


def _keep(data: bytes, name: str, fault: str, trace: str) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / name).write_bytes(data)
    (KEPT / f"{name}.txt").write_text(f"{fault}\n{trace}", errors="replace")
    print(f"build/fuzz/{name}: {fault}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Damage files that the program reads back.")
    parser.add_argument("-n", "--count", type=int, default=10_000)
    parser.add_argument("-s", "--seed", type=int, default=1)
    parser.add_argument("-k", "--kind", choices=KINDS, action="append")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    failures = 0
    for kind in given.kind or KINDS:
        directory = Path(tempfile.mkdtemp())
        began = time.monotonic()
        try:
            found = search(kind, given.count, given.seed, directory)
        finally:
            # A command that crashed may have left the process in the directory.
            os.chdir(ROOT)
            shutil.rmtree(directory, ignore_errors=True)
        failures += len(found)
        took = time.monotonic() - began
        print(f"{kind}: {given.count} files in {took:.0f} s, {len(found)} faults", flush=True)
        for fault, times in found.most_common():
            print(f"  {times} × {fault}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

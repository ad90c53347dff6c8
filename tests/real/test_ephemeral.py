"""What a provider in Python is asked to do, by the real program and by ours.

It lends secrets, takes them as write-only arguments, is configured with them, has functions, and is
told about modules; everything that it is asked it writes down.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.process import command
from tests.plan.vault import REQUIRED
from tests.plan.vault_plugin import notes, plugin_settings
from tests.real import program
from tests.real.alike import compare, states

pytestmark = pytest.mark.real

_CONFIGURATION = (
    REQUIRED
    + """
terraform {
  provider_meta "vault" { module = "root" }
}
variable "version_of_t" { default = 1 }
ephemeral "vault_lease" "a" { name = "a" }
ephemeral "vault_lease" "b" { name = "b${ephemeral.vault_lease.a.renewals}" }
ephemeral "vault_lease" "unused" { name = "unused" }
provider "vault" {
  alias = "two"
  token = ephemeral.vault_lease.b.secret
}
ephemeral "vault_lease" "c" {
  provider = vault.two
  count    = 2
  name     = "c${count.index}"
}
resource "vault_thing" "t" {
  provider = vault.two
  name     = "t"
  version  = var.version_of_t
  password = ephemeral.vault_lease.c[1].secret
}
data "vault_look" "l" { name = "n" }
resource "vault_thing" "u" { name = provider::vault::twice(data.vault_look.l.found) }
ephemeral "vault_lease" "late" { name = vault_thing.t.id }
resource "vault_thing" "w" {
  name     = "w"
  password = ephemeral.vault_lease.late.name
}
module "m" {
  source   = "./inner"
  for_each = toset(["x", "y"])
  key      = each.key
}
resource "vault_thing" "m" {
  name     = "m"
  password = join(",", [for m in module.m : m.secret])
}
check "k" {
  data "vault_look" "k" { name = vault_thing.t.id }
  assert {
    condition     = data.vault_look.k.found == "found id-t" && ephemeral.vault_lease.a.renewals == 0
    error_message = "It is not there."
  }
}
output "o" { value = provider::vault::twice(vault_thing.t.id) }
"""
)
_INNER = (
    REQUIRED
    + """
variable "key" {}
ephemeral "vault_lease" "in" { name = var.key }
output "secret" {
  value     = ephemeral.vault_lease.in.secret
  ephemeral = true
}
"""
)


class Directory:
    """A working directory of one of the programs."""

    def __init__(self, path: Path, words: list[str]) -> None:
        self.path = path
        self._words = words
        (path / "inner").mkdir(parents=True)
        (path / "main.tf").write_text(_CONFIGURATION)
        (path / "inner" / "main.tf").write_text(_INNER)
        self._environ = {**os.environ, **plugin_settings(path / "plugin")}
        self.run("get")

    def run(self, *args: str) -> list[str]:
        """Run a command that must succeed, and give what the provider has noted."""
        done = subprocess.run(
            [*self._words, *args, "-no-color"],
            cwd=self.path,
            env=self._environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return notes(self.path / "plugin")

    def state(self) -> str:
        return (self.path / "terraform.tfstate").read_text()


def _without_functions(noted: list[str]) -> list[str]:
    """Calls of functions are left out: the real program also makes them to validate."""
    return sorted(each for each in noted if not each.startswith("twice"))


def test_the_same_is_asked_for(tmp_path: Path) -> None:
    theirs = Directory(tmp_path / "theirs", [str(program("tofu"))])
    ours = Directory(tmp_path / "ours", command())
    for args in (
        ["plan", "-out=p"],
        ["apply", "p"],
        ["plan"],
        ["apply", "-auto-approve", "-var=version_of_t=2"],
    ):
        wanted, found = (_without_functions(each.run(*args)) for each in (theirs, ours))
        assert found == wanted, args
        if args[0] == "apply":
            left, right = states(theirs.state(), ours.state())
            compare(left, right, f"state after {args}")
    (theirs.path / "terraform.tfstate").write_text(ours.state())
    again = theirs.run("apply", "-auto-approve", "-var=version_of_t=2")
    assert not [each for each in again if each.startswith(("create", "update", "delete"))]
    deleted = [
        sorted(each for each in place.run("destroy", "-auto-approve") if each.startswith("delete"))
        for place in (theirs, ours)
    ]
    assert deleted[0] == deleted[1]

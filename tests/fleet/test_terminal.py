"""A fleet as a person sees it on a terminal: a table while it goes on, and what came of each unit."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.process import nigari
from tests.cli.typist import Typist
from tests.fleet.trees import write_tree

_SLOW = """\
resource "terraform_data" "a" {
  provisioner "local-exec" { command = "sleep 3" }
}
"""
_BROKEN = _SLOW.replace("sleep 3", "exit 3")


def test_the_table_has_units_phases_times_and_changes(tmp_path: Path) -> None:
    write_tree(tmp_path, {"quick/main.tf": 'resource "terraform_data" "a" {}\n'})
    write_tree(tmp_path, {"slow/main.tf": _SLOW})
    with Typist("fleet", "apply", cwd=tmp_path) as person:
        person.wait_for(" of 2 units")
        person.wait_for("Enter a value:")
        person.type("yes\n")
        person.wait_for("quick: 1 added, 0 changed, 0 destroyed (")
        person.wait_for("  slow  applying  2s\n1 of 2 units, 1 to add, 0 to change, 0 to destroy")
        rest = person.wait_for("slow: 1 added, 0 changed, 0 destroyed (")
        assert "quick" not in rest
        assert person.code() == 0


def test_the_log_of_a_unit_is_on_the_screen_when_it_fails(tmp_path: Path) -> None:
    write_tree(tmp_path, {"broken/main.tf": _BROKEN, "slow/main.tf": _SLOW})
    with Typist("fleet", "apply", "-auto-approve", cwd=tmp_path) as person:
        person.wait_for("broken: apply failed")
        person.wait_for("slow: 1 added, 0 changed, 0 destroyed (")
        assert "The command exited with status 3." in person.rest()
        assert person.code() == 1


_TWO = """\
variable "size" { default = 1 }
resource "terraform_data" "replaced" { triggers_replace = var.size }
resource "terraform_data" "changed" { input = var.size }
"""


def test_approval_names_what_is_destroyed_and_replaced(tmp_path: Path) -> None:
    gone = 'resource "terraform_data" "gone" {\n  for_each = toset(["x"])\n}\n'
    write_tree(tmp_path, {"a/main.tf": _TWO + gone, "b/main.tf": gone, "calm/main.tf": gone})
    assert nigari("fleet", "apply", "-auto-approve", cwd=tmp_path).code == 0
    write_tree(tmp_path, {"a/main.tf": _TWO, "a/terraform.tfvars": "size = 2", "b/main.tf": ""})
    with Typist("fleet", "apply", cwd=tmp_path) as person:
        shown = person.wait_for("Enter a value:")
        person.type("no\n")
        assert person.code() == 1
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r", "")
    losses, _, rest = plain.partition("UNIT")
    lines = [line.strip() for line in losses[losses.index("a:") :].splitlines() if line.strip()]
    assert lines[0] == "a:"
    assert {line.partition(" (")[0] for line in lines[1:3]} == {
        '- terraform_data.gone["x"] will be destroyed',
        "-/+ terraform_data.replaced will be replaced",
    }
    assert lines[3] == "b:"
    assert lines[4].startswith('- terraform_data.gone["x"] will be destroyed')
    assert len(lines) == 5
    assert "use -details" in rest
    # Plans, saved plans and what destroys everything show the same.
    done = nigari("fleet", "plan", "-out=p", cwd=tmp_path)
    shown = nigari("fleet", "show", "p", cwd=tmp_path).out
    for text in (done.out, shown):
        assert "-/+ terraform_data.replaced will be replaced" in text
    done = nigari("fleet", "plan", "-destroy", "-only=calm", cwd=tmp_path)
    assert 'calm:\n  - terraform_data.gone["x"] will be destroyed\n' in done.out

"""A fleet as a person sees it on a terminal: a table while it goes on, and what came of each unit."""

from __future__ import annotations

from pathlib import Path

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

"""An apply as a person sees it on a terminal, and a program through a pipe."""

from __future__ import annotations

from pathlib import Path

from tests.cli.process import nigari
from tests.cli.typist import Typist

SLOW = """\
resource "terraform_data" "a" {
  provisioner "local-exec" { command = "sleep 3" }
}
"""


def test_a_person_agrees_and_waits(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(SLOW)
    with Typist("apply", cwd=tmp_path) as person:
        person.wait_for("Do you want to perform these actions?")
        person.wait_for("Enter a value:")
        person.type("yes\n")
        person.wait_for("terraform_data.a: Creating...")
        person.wait_for("\r[0 of 1 done, 1 at work: terraform_data.a")
        person.wait_for("terraform_data.a: Creation complete after ")
        rest = person.wait_for("Apply complete! Resources: 1 added, 0 changed, 0 destroyed.")
        assert "at work" not in rest
        assert person.code() == 0


def test_a_person_interrupts(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(SLOW.replace("sleep 3", "sleep 1; echo done"))
    with Typist("apply", "-auto-approve", cwd=tmp_path) as person:
        person.wait_for("Executing: ")
        person.interrupt()
        person.wait_for("Nothing new is begun, and what runs may come to its end.")
        assert person.code() == 1


def test_a_pipe_has_no_live_line(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(SLOW)
    done = nigari("apply", "-auto-approve", cwd=tmp_path)
    assert done.code == 0
    assert "at work" not in done.out
    assert "\x1b" not in done.out
    assert "terraform_data.a: Provisioning with 'local-exec'...\n" in done.out

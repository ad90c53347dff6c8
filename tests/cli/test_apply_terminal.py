"""An apply as a person sees it on a terminal, and a program through a pipe."""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.process import command, environment, nigari
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
        person.wait_for("\r[0 of 1 done, 1 in progress: terraform_data.a")
        person.wait_for("terraform_data.a: Creation complete after ")
        rest = person.wait_for("Apply complete! Resources: 1 added, 0 changed, 0 destroyed.")
        assert "in progress" not in rest
        assert person.code() == 0


def test_a_person_interrupts(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(SLOW.replace("sleep 3", "sleep 1; echo done"))
    with Typist("apply", "-auto-approve", cwd=tmp_path) as person:
        person.wait_for("Executing: ")
        person.interrupt()
        person.wait_for("Nothing new will be started, and operations in progress can finish.")
        assert person.code() == 1


def test_a_pipe_has_no_live_line(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(SLOW)
    done = nigari("apply", "-auto-approve", cwd=tmp_path)
    assert done.code == 0
    assert "in progress" not in done.out
    assert "\x1b" not in done.out
    assert "terraform_data.a: Provisioning with 'local-exec'...\n" in done.out


_THREE = """\
resource "terraform_data" "a" {
  count = 3
  input = count.index
}
resource "terraform_data" "b" {
  depends_on = [terraform_data.a]
  provisioner "local-exec" { command = "sleep 0.2" }
}
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("apply -auto-approve > /dev/full", "No space left"),
        ("apply -auto-approve -json > /dev/full", "No space left"),
        ("apply -auto-approve -json-into=/dev/full", "No space left"),
        ("apply -auto-approve | grep -m1 Creating; exit ${PIPESTATUS[0]}", "Creating"),
        ("apply -auto-approve 2>&1 | true; exit ${PIPESTATUS[0]}", ""),
    ],
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
def test_output_that_cannot_be_written_stops_nothing(tmp_path: Path, words: str, said: str) -> None:
    (tmp_path / "main.tf").write_text(_THREE)
    done = subprocess.run(
        ["bash", "-c", f"{shlex.join(command())} {words}"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert said in done.stdout + done.stderr
    assert "rror: [Errno" not in done.stderr
    state = json.loads((tmp_path / "terraform.tfstate").read_text())
    assert sum(len(each["instances"]) for each in state["resources"]) == 4
    assert not list(tmp_path.glob(".*.lock.info"))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (_THREE, "Do you want to perform these actions?"),
        ('variable "v" {}\n' + _THREE, "var.v"),
        ('variable "v" { sensitive = true }\n' + _THREE, "(input is hidden)"),
    ],
)
def test_a_person_interrupts_a_question(tmp_path: Path, text: str, question: str) -> None:
    (tmp_path / "main.tf").write_text(text)
    with Typist("apply", cwd=tmp_path) as person:
        person.wait_for(question)
        time.sleep(0.3)
        begun = time.monotonic()
        person.interrupt()
        said = person.rest()
        assert person.code() == 130
        assert time.monotonic() - begun < 3
        assert "Interrupted." in said
        assert "rror" not in said
        assert person.echoes()
    assert not (tmp_path / "terraform.tfstate").exists()
    assert not list(tmp_path.glob(".*.lock.info"))
    assert nigari("apply", "-auto-approve", "-var=v=1", cwd=tmp_path).code in (0, 1)


def test_a_person_interrupts_until_the_end(tmp_path: Path) -> None:
    text = SLOW.replace("sleep 3", "trap '' INT TERM; echo ready; sleep 30") + _THREE
    (tmp_path / "main.tf").write_text(text.replace('"a" {\n  p', '"slow" {\n  p', 1))
    with Typist("apply", "-auto-approve", cwd=tmp_path) as person:
        person.wait_for("(local-exec): ready")
        for _ in range(6):
            person.interrupt()
            time.sleep(0.2)
        said = person.rest()
        assert person.code() == 1
    assert "never retrieved" not in said
    assert "Traceback" not in said
    state = json.loads((tmp_path / "terraform.tfstate").read_text())
    assert {each["name"] for each in state["resources"]} >= {"a"}
    assert not list(tmp_path.glob(".terraform.*"))

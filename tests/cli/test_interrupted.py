"""Ctrl-C while something is open: it is closed, in the order in which it always is."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.process import command, environment
from tests.plan.vault import REQUIRED
from tests.plan.vault_plugin import notes, plugin_settings

LEASES = """\
ephemeral "vault_lease" "a" { name = "a" }
ephemeral "vault_lease" "b" { name = "b${ephemeral.vault_lease.a.renewals}" }
"""
SLOW = """\
resource "vault_thing" "t" {
  name     = "t"
  takes    = %s
  password = ephemeral.vault_lease.b.secret
}
resource "vault_thing" "u" { name = vault_thing.t.id }
"""


def interrupted(
    folder: Path, args: list[str], is_time: Callable[[list[str]], bool], times: int
) -> tuple[int, str, list[str]]:
    """Run a command, press Ctrl-C once the notes say that it is time, and give what came of it."""
    settings = plugin_settings(folder / "plugin")
    path = folder / "plugin" / "notes"
    with subprocess.Popen(
        command(*args, "-no-color"),
        cwd=folder,
        env=environment(**settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            deadline = time.monotonic() + 60
            while not (path.exists() and is_time(path.read_text().splitlines())):
                assert time.monotonic() < deadline
                assert process.poll() is None, process.communicate()[0]
                time.sleep(0.02)
            for _ in range(times):
                process.send_signal(signal.SIGINT)
                time.sleep(0.3)
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, out, notes(folder / "plugin")


def test_while_planning(tmp_path: Path) -> None:
    slow = 'data "vault_look" "s" {\n  name = "slow"\n  depends_on = [ephemeral.vault_lease.b]\n}\n'
    (tmp_path / "main.tf").write_text(REQUIRED + LEASES + slow)
    code, out, noted = interrupted(tmp_path, ["plan"], lambda seen: "look slow" in seen, 1)
    assert code != 0, out
    assert noted == ["open a", "open b0", "look slow", "close b0", "close a"]


@pytest.mark.parametrize(("times", "takes"), [(1, 2.5), (2, 8)], ids=["gently", "at once"])
def test_while_applying(tmp_path: Path, times: int, takes: float) -> None:
    (tmp_path / "main.tf").write_text(REQUIRED + LEASES + SLOW % takes)
    created = "create t with secret of b0"
    args = ["apply", "-auto-approve"]
    code, out, noted = interrupted(tmp_path, args, lambda seen: created in seen, times)
    assert code == 1, out
    opened, closed = ["open a", "open b0"], ["close b0", "close a"]
    assert noted == [*opened, *closed, *opened, created, *closed]
    assert ("vault_thing.t: Creation complete" in out) == (times == 1)


def test_a_request_to_end_says_that_it_interrupts(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('variable "asked" {}\noutput "x" {\n  value = var.asked\n}\n')
    with subprocess.Popen(
        command("plan", "-no-color"),
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = ""
        while "Enter a value:" not in said:
            letter = process.stdout.read(1)
            assert letter, said
            said += letter
        process.send_signal(signal.SIGTERM)
        rest = process.communicate(timeout=60)[0]
    assert "Interrupted." in rest
    assert process.returncode == 143

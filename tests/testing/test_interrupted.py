"""Interrupted tests: what is under way comes to its end, and is cleaned up; the second time not."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.process import command, environment

_MODULE = """
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "touch begun; sleep 1.5"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "touch destroyed"
  }
}
"""


@pytest.mark.parametrize(
    ("times", "code", "says", "is_destroyed"),
    [
        (1, 0, "1 passed, 0 failed, 2 skipped.", True),
        (2, 1, "terraform_data.a", False),
    ],
)
def test_interrupted(tmp_path: Path, times: int, code: int, says: str, is_destroyed: bool) -> None:
    (tmp_path / "main.tf").write_text(_MODULE)
    (tmp_path / "a.tftest.hcl").write_text('run "one" {}\nrun "two" {}\n')
    (tmp_path / "b.tftest.hcl").write_text('run "three" {}\n')
    process = subprocess.Popen(
        command("test"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    while not (tmp_path / "begun").exists() and process.poll() is None:
        time.sleep(0.02)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == code, out
    assert says in out
    assert (tmp_path / "destroyed").exists() == is_destroyed

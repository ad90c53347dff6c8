"""Tests that run again when something changes: only those that it concerns."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nigari.testing.file_watcher import concerned
from nigari.testing.outcome import FileOutcome
from tests.cli.process import command, environment


def _outcome(name: str, *directories: str) -> FileOutcome:
    found = FileOutcome(name, ["r"])
    found.runs[0].directories = frozenset(directories)
    return found


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ("main.tf", ["a.tftest.hcl", "broken.tftest.hcl"]),
        ("m/main.tf", ["tests/b.tftest.hcl", "broken.tftest.hcl"]),
        ("a.tftest.hcl", ["a.tftest.hcl"]),
        ("terraform.tfvars", ["a.tftest.hcl", "tests/b.tftest.hcl", "broken.tftest.hcl"]),
        ("tests/new.tftest.hcl", ["tests/new.tftest.hcl"]),
    ],
)
def test_whom_a_change_concerns(changed: str, names: list[str]) -> None:
    known = [
        _outcome("a.tftest.hcl", "."),
        _outcome("tests/b.tftest.hcl", "m"),
        _outcome("broken.tftest.hcl"),
    ]
    assert concerned(known, {changed}) == names


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    (tmp_path / "main.tf").write_text('output "o" {\n  value = 1\n}\n')
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "main.tf").write_text('output "o" {\n  value = 1\n}\n')
    (tmp_path / "a.tftest.hcl").write_text('run "a" {}\n')
    (tmp_path / "b.tftest.hcl").write_text('run "b" {\n  module {\n    source = "./m"\n  }\n}\n')
    process = subprocess.Popen(
        command("test", "-watch"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        yield process
        process.kill()


def _round(process: subprocess.Popen[str]) -> list[str]:
    """The runs of one round, until it waits."""
    assert process.stdout is not None
    found: list[str] = []
    for line in process.stdout:
        if line.startswith("Waiting"):
            return found
        if line.startswith("  run "):
            found.append(line.split('"')[1])
    raise AssertionError("it has ended")


def test_watching(watching: subprocess.Popen[str], tmp_path: Path) -> None:
    assert _round(watching) == ["a", "b"]
    (tmp_path / "m" / "main.tf").write_text('output "o" {\n  value = 22\n}\n')
    assert _round(watching) == ["b"]
    (tmp_path / "c.tftest.hcl").write_text('run "c" {}\n')
    assert _round(watching) == ["c"]
    time.sleep(0.5)
    os.kill(watching.pid, signal.SIGINT)
    assert watching.wait(timeout=30) == 0

"""Markers: each is in our output, alone on its line, where the programs that read it find it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from nigari import markers
from nigari.cli.main import main
from nigari.markers import COMPATIBLE, MARKERS
from nigari.version import OPENTOFU_VERSION, VERSION
from scripts import tools_page

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CREATE = 'resource "terraform_data" "it" {\n  input = 1\n}\n'
_SHIM = ["-P", "-m", "nigari"]


def _run(directory: Path, *command: str, **settings: str) -> str:
    """What a program reads that runs ours."""
    done = subprocess.run(
        [sys.executable, *_SHIM, *command],
        cwd=directory,
        env=_environment(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def _at_terminal(directory: Path, *command: str) -> str:
    """The same with colours, as a program with a terminal of its own reads it."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, *_SHIM, *command],
        cwd=directory,
        env=_environment({"TERM": "xterm"}),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    ):
        os.close(theirs)
        data = b""
        try:
            while part := os.read(ours, 4096):
                data += part
        except OSError:
            pass  # the terminal ends with the program
    os.close(ours)
    return data.decode().replace("\r\n", "\n")


def _environment(settings: dict[str, str]) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if name not in ("NO_COLOR", COMPATIBLE)}
    return {**kept, **settings}


def _stories(directory: Path, run: Callable[..., str]) -> Iterable[tuple[str, str]]:
    """Each marker, with the output that should have it."""
    main_file = directory / "main.tf"
    main_file.write_text(_CREATE)
    planned = run(directory, "plan", "-out=p.plan")
    yield markers.ACTIONS, planned
    yield markers.PLAN.format(add=1, change=0, destroy=0), planned
    yield markers.SAVED_PLAN.format(path="p.plan"), planned
    yield markers.VALID, run(directory, "validate")
    applied = run(directory, "apply", "-auto-approve")
    yield markers.APPLIED.format(add=1, change=0, destroy=0), applied
    yield markers.NO_CHANGES, run(directory, "plan")
    yield markers.NO_DRIFT, run(directory, "plan", "-refresh-only")
    main_file.write_text(_CREATE + 'output "o" {\n  value = 1\n}\n')
    outputs = run(directory, "plan")
    yield markers.OUTPUTS, outputs
    yield markers.ONLY_OUTPUTS, outputs
    destroyed = run(directory, "destroy", "-auto-approve")
    yield markers.DESTROYED.format(destroy=1), destroyed


@pytest.mark.parametrize("run", [_run, _at_terminal], ids=["plain", "coloured"])
def test_markers_are_printed(tmp_path: Path, run: Callable[..., str]) -> None:
    for marker, output in _stories(tmp_path, run):
        template = next(each for each in MARKERS if _pattern(each).fullmatch(marker))
        found = _pattern(template).search(output)
        assert found is not None, f"{marker!r} is not in\n{output}"
        line = _COLOUR.sub("", output)
        assert f"\n{marker}\n" in f"\n{line}\n", output
        for reader in MARKERS[template]:
            assert re.search(reader.pattern, line), (reader.program, marker)


def test_line_of_a_saved_plan_breaks_before_a_long_path(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_CREATE)
    for length, gap in ((58, " "), (59, "\n")):
        path = "p" * length
        assert f"\nSaved the plan to:{gap}{path}\n\n" in _run(tmp_path, "plan", f"-out={path}")


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{\w+\}", template)
    return re.compile(r"\S+".join(re.escape(part) for part in parts))


def test_markers_of_drift() -> None:
    text = (Path(__file__).parent / "plan_cases" / "actions.case").read_text()
    for marker in (markers.CHANGED_OUTSIDE, markers.CHANGED_OUTSIDE_END):
        for reader in MARKERS[marker]:
            assert re.search(reader.pattern, text)
    begin = text.index(markers.CHANGED_OUTSIDE)
    assert text.index(markers.CHANGED_OUTSIDE_END, begin) > begin


def test_markers_of_a_locked_state(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_CREATE)
    lock = '{"ID":"i","Path":"terraform.tfstate","Operation":"o","Who":"w","Version":"v","Created":"c"}'
    (tmp_path / ".terraform.tfstate.lock.info").write_text(lock)
    program = (
        "import fcntl, subprocess, sys\n"
        "file = open('terraform.tfstate', 'a+')\n"
        "fcntl.lockf(file, fcntl.LOCK_EX)\n"
        "done = subprocess.run([sys.executable, '-P', '-m', 'nigari', 'apply', '-auto-approve'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert f"Error: {markers.STATE_LOCK}" in done.stderr
    for marker in (markers.STATE_LOCK, markers.LOCK_INFO):
        for reader in MARKERS[marker]:
            found = re.search(reader.pattern, done.stderr)
            assert found is not None, (reader.program, done.stderr)
            if marker == markers.LOCK_INFO:
                assert found.groups() == ("i", "terraform.tfstate", "o", "w", "v", "c")


@pytest.mark.parametrize(
    ("settings", "first"),
    [
        ({}, f"Nigari v{VERSION}"),
        ({COMPATIBLE: "0"}, f"Nigari v{VERSION}"),
        ({COMPATIBLE: "1"}, f"OpenTofu v{OPENTOFU_VERSION}"),
        ({COMPATIBLE: "terraform"}, f"Terraform v{OPENTOFU_VERSION}"),
    ],
)
def test_the_version_of_another_program(
    tmp_path: Path, settings: dict[str, str], first: str
) -> None:
    texts = [
        _run(tmp_path, each, **settings) for each in ("version", "-version", "-v", "--version")
    ]
    text = texts[0]
    assert texts == [text] * 4
    assert text.partition("\n")[0] == first
    assert f"Nigari v{VERSION}" in text
    if not first.startswith("Nigari"):
        for reader in MARKERS[markers.VERSION]:
            assert re.search(reader.pattern, text), reader.program
    assert OPENTOFU_VERSION in _run(tmp_path, "version", "-json", **settings)


def test_a_launcher(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = tmp_path / "new" / "shims"
    for name in ("tofu", "terraform"):
        assert main(["shim", f"-name={name}", str(directory)]) == 0
        assert main(["shim", f"-name={name}", str(directory)]) == 0  # it may be written again
    (tmp_path / "nigari.py").write_text("raise SystemExit('not this one')\n")
    for name, program in (("tofu", "OpenTofu"), ("terraform", "Terraform")):
        launcher = directory / name
        text = subprocess.run(
            [launcher, "version"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert text.stdout.startswith(f"{program} v{OPENTOFU_VERSION}\n")
        failed = subprocess.run(
            [launcher, "nothing"], cwd=tmp_path, capture_output=True, check=False
        )
        assert failed.returncode != 0
    (directory / "tofu").write_text("#!/bin/sh\n")
    capsys.readouterr()
    assert main(["shim", str(directory)]) == 1
    assert "not a launcher of Nigari" in capsys.readouterr().err
    assert (directory / "tofu").read_text() == "#!/bin/sh\n"
    assert main(["shim", "-force", str(directory)]) == 0
    assert main(["shim", "-name=other", str(directory)]) == 1
    assert sorted(each.name for each in directory.iterdir()) == ["terraform", "tofu"]


def test_nothing_else_differs(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_CREATE)
    for command in (("plan",), ("validate",), ("-help",), ("plan", "-json")):
        ours, theirs = _run(tmp_path, *command), _run(tmp_path, *command, NIGARI_COMPATIBLE="1")
        times = re.compile(r'"@timestamp":"[^"]*"')
        assert times.sub("", ours) == times.sub("", theirs)


def test_the_page_has_every_marker() -> None:
    assert tools_page.PAGE.read_text(encoding="utf-8") == tools_page.page()

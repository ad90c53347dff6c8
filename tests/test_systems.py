"""The package can be imported, and used without plugins, where Python lacks the modules of POSIX systems.

A child process hides these modules. `make types` checks the sources for macOS and Windows.
"""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from nigari.packages.content.whole_file import write_whole
from nigari.workspace.context.interruptions import on_interrupt

HIDDEN: Final = """
import sys
for name in ("fcntl", "grp", "pty", "pwd", "readline", "resource", "termios", "tty"):
    sys.modules[name] = None
"""
IMPORT_ALL: Final = """
import importlib, pkgutil
import nigari
for module in pkgutil.walk_packages(nigari.__path__, "nigari."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
RUN: Final = """
from nigari.cli.main import main
for words in (["validate"], ["eval", "local.a"], ["fmt", "-check"]):
    assert main(words) == 0, words
"""


def run(program: str, directory: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", HIDDEN + program],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_modules_can_be_imported(tmp_path: Path) -> None:
    run(IMPORT_ALL, tmp_path)


def test_a_signal_reaches_the_work_where_loops_have_no_handlers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on Windows, whose event loops raise `NotImplementedError`."""
    monkeypatch.setattr(sys, "platform", "win32")

    async def work() -> None:
        interrupted = asyncio.Event()
        with on_interrupt(interrupted.set):
            signal.raise_signal(signal.SIGINT)
            await asyncio.wait_for(interrupted.wait(), 10)

    before = signal.getsignal(signal.SIGINT)
    asyncio.run(work())
    assert signal.getsignal(signal.SIGINT) is before


def test_a_file_is_closed_before_it_replaces_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows moves no file that is open, so nothing could be written there."""
    replace, opened = os.replace, list[str]()

    def observed(source: str, target: str) -> None:
        descriptors = [os.path.join("/proc/self/fd", each) for each in os.listdir("/proc/self/fd")]
        opened.extend(os.readlink(each) for each in descriptors if os.path.islink(each))
        replace(source, target)

    monkeypatch.setattr(os, "replace", observed)
    monkeypatch.setattr(sys, "platform", "win32")
    write_whole(tmp_path / "file", b"content")
    assert (tmp_path / "file").read_bytes() == b"content"
    assert opened
    assert not [path for path in opened if path.startswith(str(tmp_path))]


def test_commands_that_need_no_plugin(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('locals {\n  a = regex("b+", "abb")\n}\n', encoding="utf-8")
    assert '"bb"' in run(RUN, tmp_path)

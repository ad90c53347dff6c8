"""The package can be imported, and used without plugins, where Python lacks the modules of POSIX systems.

A child process hides these modules. `make types` checks the sources for macOS and Windows.
"""

import subprocess
import sys
from pathlib import Path
from typing import Final

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


def test_commands_that_need_no_plugin(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('locals {\n  a = regex("b+", "abb")\n}\n', encoding="utf-8")
    assert '"bb"' in run(RUN, tmp_path)

"""Completion scripts and manual pages are complete, and readable for the programs that read them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nigari.cli.main import COMMANDS
from scripts.shell_files import shell_files, write

PAGES = {name: text for name, text in shell_files().items() if name.startswith("share/man/")}


def test_each_command_has_a_manual_page() -> None:
    names = {name.replace(" ", "-") for name in COMMANDS}
    wanted = {
        f"share/man/man1/{name}.1" for name in ("nigari", *(f"nigari-{each}" for each in names))
    }
    assert set(PAGES) == wanted
    assert r"\fB\-out=FILE\fR" in PAGES["share/man/man1/nigari-plan.1"]


def test_nothing_in_a_page_is_a_macro_by_mistake() -> None:
    macros = r"\.(TH|SH|TP|PP|nf|fi|RS|RE)\b"
    lines = [
        line for text in PAGES.values() for line in text.splitlines() if line[:1] in (".", "'")
    ]
    assert len(lines) > 1000
    assert [line for line in lines if not re.match(macros, line)] == []


def test_pages_have_no_date_so_that_builds_are_reproducible() -> None:
    assert all(re.match(r'\.TH "[^"]+" 1 "" ', text) for text in PAGES.values())


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="there is no mandoc")
def test_mandoc_warns_of_no_page(tmp_path: Path) -> None:
    write(tmp_path)
    files = [str(path) for path in sorted(tmp_path.rglob("*.1"))]
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert [line for line in done.stdout.splitlines() if "missing date" not in line] == []


@pytest.mark.parametrize(
    ("shell", "name"),
    [
        ("bash", "bash-completion/completions/nigari"),
        ("zsh", "zsh/site-functions/_nigari"),
        ("fish", "fish/vendor_completions.d/nigari.fish"),
    ],
)
def test_shells_read_the_scripts(shell: str, name: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    write(tmp_path)
    done = subprocess.run(
        [shell, "-n", str(tmp_path / "share" / name)], capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")

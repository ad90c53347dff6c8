"""Pages with commands can be followed literally: every `console` block is run and compared.

A page starts in an empty directory. A block whose first line is a comment with a file name is that file, in the
order of the page. In a `console` block, lines that begin with `$ ` are run, one shell for the whole page; the lines
below are what they print. A line `...` stands for any number of lines. Other shell commands that a reader types
elsewhere (on a service, with credentials) are in `sh` blocks. A page with a comment `after: PAGE#ANCHOR` begins where
that page is at that heading. `pytest --update` writes what was printed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from tests.cli.process import ROOT, environment
from tests.markdown_pages import FENCE, before_heading

_NAMED: Final = re.compile(r"(?:#|//) ([\w./-]+\.\w+)\n")
_COMMAND: Final = re.compile(r"^\$ (.*(?:\\\n.*)*)\n?((?:(?!\$ ).*\n?)*)", re.MULTILINE)
_LEFT_OUT: Final = re.compile(r"^ *\.\.\.$\n?", re.MULTILINE)
_AFTER: Final = re.compile(r"^<!-- after: (\S+)#(\S+) -->$", re.MULTILINE)
_VOLATILE: Final = (
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z)?"), "TIME"),
    (re.compile(r"\b\d+(\.\d+)?(m?s\b| seconds?)"), "DURATION"),
    (re.compile(r"\b[0-9a-f]{40,64}\b"), "HASH"),
    (re.compile(r"\b[0-9a-f]{7}\b"), "COMMIT"),
    (re.compile(r"\b(linux|darwin|windows)_\w+"), "PLATFORM"),
    (re.compile(r"nigari-[0-9.]+"), "VERSION"),
)
PAGES: Final = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if re.search(r"^```console$", page.read_text(encoding="utf-8"), re.MULTILINE)
]


class Shell:
    """A shell that begins in an empty home directory and survives from block to block."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.work = home / "work"
        self.work.mkdir(parents=True)
        tools = home / "bin"
        tools.mkdir()
        for name, words in {"nigari": " -m nigari", "python3": ""}.items():
            program = tools / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
            program.chmod(0o755)
        path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
        self._environ = environment(
            PATH=path,
            HOME=str(home),
            NIGARI_CACHE_DIR=str(home / ".cache/nigari"),
            TF_CLI_CONFIG_FILE=str(home / "settings.tfrc"),
            GIT_CONFIG_GLOBAL=str(home / ".gitconfig"),
            LC_ALL="C.UTF-8",
        )
        (home / "settings.tfrc").touch()
        (home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.com\n")
        self._exports = home / ".exports"
        self._exports.write_text(f"cd '{self.work}'\n")

    @property
    def directory(self) -> Path:
        """The directory that the shell is in."""
        last = self._exports.read_text().splitlines()[-1]
        return Path(last.removeprefix("cd '").removesuffix("'"))

    def run(self, command: str) -> tuple[int, str]:
        """The status of a command, and what it printed on both streams."""
        script = (
            f". '{self._exports}'\n{command}\nstatus=$?\n"
            f"{{ export -p; echo \"cd '$PWD'\"; }} > '{self._exports}.new'\n"
            f"mv '{self._exports}.new' '{self._exports}'\nexit $status\n"
        )
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.work,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        text = done.stdout.decode().replace(str(self.home), "~")
        return done.returncode, "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def comparable(text: str) -> str:
    """The text without whatever differs from run to run, and from machine to machine."""
    for pattern, name in _VOLATILE:
        text = pattern.sub(name, text)
    return text.strip("\n")


def matches(wanted: str, printed: str) -> bool:
    """Whether the page shows what was printed; `...` leaves out lines."""
    parts = _LEFT_OUT.split(comparable(wanted))
    pattern = "(?s:.*)".join(re.escape(part) for part in parts)
    return re.fullmatch(pattern.replace("\\\n(?s:", "\\\n?(?s:"), comparable(printed)) is not None


def fits(_command: str, wanted: str, status: int, printed: str) -> bool:
    """Whether a command did what the page shows; one that fails shows its error."""
    return matches(wanted, printed) and (status == 0 or "Error" in wanted)


def commands(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with what the page says it prints."""
    yield from _COMMAND.findall(block)


Done: TypeAlias = tuple[str, str, int, str]
"""A command, what the page says it prints, its status, and what it printed."""


def follow(text: str, shell: Shell) -> Iterator[tuple[re.Match[str], list[Done]]]:
    """Write the files of a page and run its commands, block by block."""
    for fence in FENCE.finditer(text):
        kind, block = fence.groups()
        if kind == "console":
            yield fence, [(each, said, *shell.run(each)) for each, said in commands(block)]
        elif (named := _NAMED.match(block)) is not None:
            path = shell.directory / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block, encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_can_be_followed(page: Path, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    text = page.read_text(encoding="utf-8")
    shell = Shell(tmp_path / "home")
    for earlier, anchor in _AFTER.findall(text):
        beginning = before_heading((page.parent / earlier).read_text(encoding="utf-8"), anchor)
        assert all(fits(*each) for _, done in follow(beginning, shell) for each in done)
    wrong: list[str] = []
    updated, end = "", 0
    for fence, done in follow(text, shell):
        updated += text[end : fence.start(2)]
        end = fence.end(2)
        for command, wanted, status, printed in done:
            is_right = fits(command, wanted, status, printed)
            if not is_right:
                wrong.append(f"$ {command}   (status {status})\n{printed}--- the page:\n{wanted}")
            stays = is_right or _LEFT_OUT.search(wanted)
            updated += f"$ {command}\n{wanted if stays else as_shown(printed)}"
    if pytestconfig.getoption("--update"):
        page.write_text(updated + text[end:], encoding="utf-8")
    assert not wrong, "\n\n".join(wrong)


def as_shown(printed: str) -> str:
    """What a command printed, as a page shows it."""
    return f"{stripped}\n" if (stripped := printed.strip("\n")) else ""


@pytest.mark.parametrize(
    ("wanted", "printed", "is_right"),
    [
        pytest.param("a\nb\n", "a\nb\n", True, id="the same"),
        pytest.param("a\n", "a\nb\n", False, id="a line is missing"),
        pytest.param("a\n...\nc\n", "a\nb\nb\nc\n", True, id="left out"),
        pytest.param("a\n...\nc\n", "a\nc\n", True, id="nothing left out"),
        pytest.param("a\n...\n", "b\n", False, id="another beginning"),
        pytest.param("...\nc\n", "b\nd\n", False, id="another end"),
        pytest.param("after 0s\n", "after 2s\n", True, id="duration"),
        pytest.param("1 added\n", "2 added\n", False, id="another number"),
    ],
)
def test_what_counts_as_printed(wanted: str, printed: str, is_right: bool) -> None:
    assert matches(wanted, printed) is is_right

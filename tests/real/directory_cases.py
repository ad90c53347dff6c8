"""Directories that both programs are run in, many in one file.

A case begins with a line `=== NAME`, which may go on with ` | ` and why the two differ:

    ours refuses: …   only we say that it is wrong
    ours accepts: …   only the real program says so
    …                 anything else: verdicts are the same, places or results are not

What follows is a `main.tf`, other files, each begun by `--- NAME`, and commands, `$ …`, in the order
in which they are written and run. A case without commands has one that the test knows.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_PLACE: Final = Path(__file__).parent / "directories"


@dataclass
class Directory:
    """One case: what is written and what is run, in order."""

    name: str
    note: str = ""
    steps: list[tuple[str, str] | list[str]] = field(default_factory=list)
    """A file with its text, or the words of a command."""

    def __str__(self) -> str:
        return self.name

    @property
    def commands(self) -> list[list[str]]:
        return [step for step in self.steps if isinstance(step, list)]

    @property
    def is_refused_by_us(self) -> bool:
        return self.note.startswith("ours refuses")

    @property
    def is_accepted_by_us(self) -> bool:
        return self.note.startswith("ours accepts")


def read_directories(name: str) -> list[Directory]:
    """The cases of the files with some name."""
    found: list[Directory] = []
    for path in sorted(_PLACE.glob(f"{name}*.case")):
        for part in ("\n" + path.read_text()).split("\n=== ")[1:]:
            header, _, body = part.partition("\n")
            title, _, note = header.partition(" | ")
            found.append(_read(Directory(title.strip(), note.strip()), body))
    names = [each.name for each in found]
    assert len(set(names)) == len(names), "two directories have one name"
    return found


def _read(case: Directory, body: str) -> Directory:
    file, lines = "main.tf", list[str]()

    def close() -> None:
        if "".join(lines).strip() or file not in ("main.tf", ""):
            case.steps.append((file, "\n".join(lines).strip("\n") + "\n"))
        lines.clear()

    for line in body.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            close()
            file = ""
            case.steps.append(shlex.split(line[2:]))
        elif line.startswith("--- "):
            close()
            file = line[4:].strip()
        else:
            lines.append(line)
    close()
    return case

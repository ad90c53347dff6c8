"""Case files: a configuration, and how it changes step by step.

A file begins with comment lines that say what it shows. Each step begins with a line `=== …`, whose
words are flags of `plan` (they start with `-`) or one of

    taint:ADDRESS  rm:ADDRESS      done to the state by the real program before the step
    write:FILE=TEXT  delete:FILE   done to the directory before the step
    fails                          the plan fails in both programs; what the step changed is
                                   taken back afterwards
    breaks                         the apply fails in both programs
    unsettled                      afterwards the real program still finds something to do
    ends                           nothing is replaced or destroyed after the last step

What follows is a whole `main.tf`, then perhaps other files, each begun by `--- NAME` (they stay when
a later step does not mention them), or a change of what was before: lines that start with `- ` are
taken out and the `+ ` lines after them put in their place; without anything to take out (or
after an empty line), `+ ` lines go to the end of `main.tf`. A step without text keeps everything.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

Files = dict[str, str]
MAIN = "main.tf"


@dataclass
class Step:
    """One configuration and the flags it is planned with."""

    files: Files | None = None
    flags: list[str] = field(default_factory=list)
    taints: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    written: list[tuple[str, str]] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    fails: bool = False
    breaks: bool = False
    unsettled: bool = False
    ends: bool = False


def read_case(path: Path) -> list[Step]:
    """The steps of a case file."""
    _, *parts = ("\n" + path.read_text()).split("\n===")
    steps: list[Step] = []
    files: Files = {}
    for part in parts:
        header, _, body = part.partition("\n")
        step = _headed(header, path)
        if body.strip():
            step.files = (
                changed(files, body, path) if _is_change(body) else {**files, **whole(body)}
            )
        else:
            step.files = files
        if not step.fails:
            files = step.files
        steps.append(step)
    assert steps, f"{path.name} has no steps"
    return steps


def whole(body: str) -> Files:
    """The files of a whole configuration."""
    first, *others = ("\n" + body).split("\n--- ")
    files = {MAIN: first.strip() + "\n"}
    for other in others:
        name, _, content = other.partition("\n")
        files[name.strip()] = content.strip() + "\n"
    return files


def _headed(header: str, path: Path) -> Step:
    step = Step()
    for word in shlex.split(header):
        name, _, rest = word.partition(":")
        if word.startswith("-"):
            step.flags.append(word)
        elif name == "taint":
            step.taints.append(rest)
        elif name == "rm":
            step.forgotten.append(rest)
        elif name == "write":
            target, _, text = rest.partition("=")
            step.written.append((target, text))
        elif name == "delete":
            step.deleted.append(rest)
        elif word in ("fails", "breaks", "unsettled", "ends"):
            setattr(step, word, True)
        else:
            raise AssertionError(f"{path.name}: {word} means nothing")
    return step


def _is_change(body: str) -> bool:
    return all(line[:2] in ("- ", "+ ", "", "+", "-") for line in body.splitlines())


def changed(files: Files, body: str, path: Path) -> Files:
    """The files after a change of some lines."""
    result = dict(files)
    for group in re.findall(r"^(?:-.*\n)*(?:\+.*\n)+|(?:-.*\n)+", body + "\n", re.MULTILINE):
        lines = group.splitlines()
        old = [line[2:].strip() for line in lines if line.startswith("-")]
        new = [line[2:] for line in lines if line.startswith("+")]
        result = _swapped(result, old, new, path)
    return result


def _swapped(files: Files, old: list[str], new: list[str], path: Path) -> Files:
    if not old:
        return {**files, MAIN: files[MAIN] + "\n".join(new) + "\n"}
    for name, text in files.items():
        lines = text.splitlines()
        plain = [line.strip() for line in lines]
        for start in range(len(lines) - len(old) + 1):
            if plain[start : start + len(old)] == old:
                lines[start : start + len(old)] = new
                return {**files, name: "\n".join(lines) + "\n"}
    raise AssertionError(f"{path.name}: there is no {old[0]!r} to take out")

"""Stories of the cases in `instance_cases`: what each step of one changes, and what it leaves."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.cases import Case

Command = Callable[..., tuple[int, str]]
"""Runs a command line in a directory: its exit code and what it printed."""

_STEP = re.compile(r"step (\d+) (.+)")
_KEY = re.compile(r'(module\.\w+)\[(?:"(\w+)"|(\d+))\]')
_TWIN = "twin:"


@dataclass
class Step:
    """What is written before a step, and the words that it is planned with."""

    files: dict[str, str] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)


def story_of(case: Case) -> list[Step]:
    """The steps of a case."""
    steps: dict[int, Step] = {1: Step()}
    for name, text in case.files.items():
        found = _STEP.fullmatch(name)
        step = steps.setdefault(int(found[1]) if found else 1, Step())
        if found and found[2] == "flags":
            step.flags = shlex.split(text, posix=False)
        else:
            step.files[found[2] if found else name] = text
    return [steps[number] for number in sorted(steps)]


@dataclass
class Story:
    """A case in one of its two forms, in a directory of its own."""

    directory: Path
    steps: list[Step]
    is_twin: bool
    is_saved: bool = False

    def told(self, run: Callable[[Path], Command]) -> list[str]:
        """What each step does, by the names that the twin has for it."""
        self.directory.mkdir()
        return [line for step in self.steps for line in self._done(step, run(self.directory))]

    def _done(self, step: Step, command: Command) -> Iterator[str]:
        self.write(step.files)
        code, out = command("init", "-no-color")
        assert code == 0, out
        flags = [self._named(flag) for flag in step.flags]
        settings = [flag for flag in flags if flag.startswith("-var")]
        code, out = command("plan", "-no-color", "-out=p", *flags)
        yield f"plan: {code} {_errors(out)}"
        if code == 0:
            code, out = command("show", "-json", "p")
            assert code == 0, out
            yield from _changes(json.loads(out))
            words = ["p"] if self.is_saved else ["-auto-approve", *flags]
            code, out = command("apply", "-no-color", *words)
            yield f"apply: {code} {_errors(out)}"
        yield f"state: {sorted(_addresses(command('state', 'list')[1]))}"
        log = self.directory / "log"
        yield f"log: {sorted(log.read_text().split()) if log.exists() else ''}"
        if code == 0 and "-destroy" not in flags:
            code, out = command("plan", "-no-color", "-detailed-exitcode", *flags)
            yield f"then: {code}"
        elif code:
            yield f"again: {command('plan', '-no-color', *settings)[0]}"

    def write(self, files: dict[str, str]) -> None:
        main = "twin.tf" if self.is_twin else "main.tf"
        for name, text in files.items():
            wanted = "main.tf" if name == main else name.removeprefix(_TWIN)
            is_other = name in ("main.tf", "twin.tf") and name != main
            if is_other or (name.startswith(_TWIN) and not self.is_twin):
                continue
            path = self.directory / wanted
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def _named(self, flag: str) -> str:
        return _flat(flag) if self.is_twin else flag


def _flat(address: str) -> str:
    """An address by the name that the twin has for it."""
    return _KEY.sub(lambda found: f"{found[1]}_{found[2] or found[3]}", address)


def _changes(plan: dict[str, list[dict[str, dict[str, list[str]]]]]) -> Iterator[str]:
    lines = []
    for each in plan.get("resource_changes", ()):
        actions = "/".join(each["change"]["actions"])
        before = (
            f" from {_flat(str(each['previous_address']))}" if "previous_address" in each else ""
        )
        lines.append(f"  {actions} {_flat(str(each['address']))}{before}")
    return iter(sorted(lines))


def _addresses(out: str) -> list[str]:
    return [_flat(line) for line in out.splitlines() if "." in line and "No state" not in line]


def _errors(out: str) -> int:
    return out.count("Error: ")

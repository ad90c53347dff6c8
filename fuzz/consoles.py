"""Two consoles that are asked the same: the real program's and ours.

The real one runs as a process that takes many lines. It ends at the first error, so what is wrong
must be found before it is asked: `can(...)` of each expression tells. Where that is not enough
(an error that `can` does not catch), the process is started again behind the culprit.
"""

from __future__ import annotations

import os
import subprocess
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nigari.cli.console.session import ConsoleSession
from nigari.eval.static.run import StaticRun
from nigari.lang.functions.table import function_table
from nigari.workspace import Workspace
from nigari.workspace.context.working_directory import WorkingDirectory

_MARKER: Final = "@@@"
_SECONDS: Final = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an expression comes to: nothing where it is an error."""

    display: str | None
    type: str | None = None
    json: str | None = None
    """Its JSON text, sensitive parts included; what this asks for may itself be an error."""
    crashed: bool = False
    """Whether the error is one of the program, not of the expression."""


FAILED: Final = Outcome(None)
CRASHED: Final = Outcome(None, crashed=True)


def questions(expression: str) -> tuple[str, ...]:
    """What is asked of a console about an expression that has a value."""
    # What is around an expression stands on lines of its own, as it may end with a comment.
    json = f'try(nonsensitive(jsonencode({expression}\n)), "none")'
    return expression, f"type({expression}\n)", json


class RealConsole:
    """`tofu console` in a directory."""

    def __init__(self, program: Path, directory: Path) -> None:
        self._program = program
        self._directory = directory
        settings = directory / "tofurc"
        settings.touch()
        self._environment = {**os.environ, "TF_CLI_CONFIG_FILE": str(settings)}

    def outcomes(self, expressions: Sequence[str]) -> list[Outcome]:
        """What each expression comes to."""
        verdicts = self._ask([f"can({expression}\n)" for expression in expressions])
        good = [at for at, verdict in enumerate(verdicts) if verdict not in (None, "false")]
        wanted = [question for at in good for question in questions(expressions[at])]
        answers = self._ask(wanted)
        outcomes = [FAILED] * len(expressions)
        for place, at in enumerate(good):
            display, type_, json = answers[place * 3 : place * 3 + 3]
            outcomes[at] = FAILED if display is None else Outcome(display, type_, json)
        return outcomes

    def crashes(self, expression: str) -> bool:
        """Whether an expression makes the program fall over, or a part of it."""
        done = self._start([expression])
        return done.returncode not in (0, 1) or b"panic" in done.stderr

    def _ask(self, lines: list[str]) -> list[str | None]:
        """The answers to some lines; None for each that is an error."""
        answers: list[str | None] = []
        while len(answers) < len(lines):
            rest = lines[len(answers) :]
            answers += self._run(rest)
            if len(answers) < len(lines):
                answers.append(None)
        return answers

    def _run(self, lines: list[str]) -> list[str]:
        """The answers to as many lines as there are before the first error."""
        answers = self._start(lines).stdout.decode("utf-8", "replace").split(f'\n"{_MARKER}"\n')
        return answers[:-1]

    def _start(self, lines: list[str]) -> subprocess.CompletedProcess[bytes]:
        text = "".join(f'{line}\n"{_MARKER}"\n' for line in lines)
        return subprocess.run(
            [self._program, "console", "-no-color"],
            cwd=self._directory,
            env=self._environment,
            input=text.encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )


class OwnConsole:
    """Our console in the same directory, within this process."""

    def __init__(self, directory: Path) -> None:
        workspace = Workspace(WorkingDirectory(os.environ, str(directory)))
        run, diags = workspace.static({})
        if run is None or diags.has_errors:
            raise ValueError(f"the fixture is not valid: {list(diags)}")
        self._session = _session(workspace, run)

    def outcome(self, expression: str) -> Outcome:
        """What an expression comes to."""
        display, type_, json = [self._ask(question) for question in questions(expression)]
        return FAILED if display is None else Outcome(display, type_, json)

    def _ask(self, line: str) -> str | None:
        try:
            answer = self._session.answer(line)
        except Exception as error:  # noqa: BLE001 - to be told apart from whatever tofu says
            place = traceback.extract_tb(error.__traceback__)[-1]
            return f"CRASH {error!r} in {place.filename} line {place.lineno}"
        return None if answer.diags.has_errors else answer.text


def _session(workspace: Workspace, run: StaticRun) -> ConsoleSession:
    run.functions = function_table(workspace.files, ".", console=True)
    return ConsoleSession(run, run.root)

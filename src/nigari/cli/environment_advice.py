"""Advice for a directory that declares environments, while none of them is selected."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from nigari.cli.command import Terminal
from nigari.cli.state_flags import chosen_environment
from nigari.diagnostics.advice import Advice, advising


class EnvironmentAdvice(Advice):
    """A variable may lack its value because the environment was not named."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def set_variable(self, name: str = "") -> str:
        from nigari.diagnostics import Diagnostics
        from nigari.workspace.context.environments import read_environments
        from nigari.workspace.context.working_directory import WorkingDirectory

        where = WorkingDirectory(self._terminal.environ)
        names = ", ".join(read_environments(where, Diagnostics()).by_name)
        given = super().set_variable(name)
        if not names:
            return given
        return f"{given}, or select an environment with -env=NAME before the command ({names})"


def environment_advice(terminal: Terminal) -> AbstractContextManager[None]:
    """Advise to select an environment, if none is selected."""
    return nullcontext() if chosen_environment(terminal) else advising(EnvironmentAdvice(terminal))

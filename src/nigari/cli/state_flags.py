"""The options of commands that work on the stored state, and what they ask of a session."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nigari.backends.lock_options import LockOptions
from nigari.cli.args import CommandRefused, UsageError
from nigari.cli.command import (
    FLAG_CHOICE,
    FLAG_LIST,
    FLAG_SWITCH,
    FLAG_TEXT,
    Flag,
    Invocation,
    Terminal,
)
from nigari.cli.variables import ORDER, VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG
from nigari.workspace.context.options import GivenVariables, SessionOptions, StateFiles
from nigari.workspace.context.prompts import NO_PROMPTER, Prompter
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.session.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_NO_TIME: Final = "0s"
_ENVIRONMENT: Final = "NIGARI_ENV"

JSON_FLAG = Flag("json", FLAG_SWITCH, "Print what happens as JSON, one object per line")
JSON_INTO_FLAG = Flag("json-into", FLAG_TEXT, "Also write what -json would print to a file", "FILE")
SAYING_FLAGS = (JSON_FLAG, JSON_INTO_FLAG, NO_COLOR_FLAG, COMPACT_WARNINGS_FLAG)
LOCK_FLAGS = (
    Flag(
        "lock",
        FLAG_SWITCH,
        "Do not lock the state; dangerous if others may change it at the same time",
        default="true",
    ),
    Flag("lock-timeout", FLAG_TEXT, "How long to wait for a lock", "DURATION", _NO_TIME),
)
STATE_FLAG = Flag("state", FLAG_TEXT, "The state file, for the local backend only", "FILE")
STATE_OUT_FLAG = Flag(
    "state-out", FLAG_TEXT, "Where to write the new state, for the local backend only", "FILE"
)
REVEAL_FLAG = Flag("show-sensitive", FLAG_SWITCH, "Show sensitive values")
BACKUP_FLAG = Flag("backup", FLAG_TEXT, "Where to write the backup of the state", "FILE")
REMOTE_VERSION_FLAG = Flag(
    "ignore-remote-version", FLAG_SWITCH, "Accepted for compatibility; has no effect"
)
SUMMARY_FLAG = Flag(
    "summary",
    FLAG_CHOICE,
    "Show one line for each block; with =addresses, only actions and addresses, for scripts",
    "addresses",
)
ONLY_FLAG = Flag(
    "only",
    FLAG_LIST,
    "Show only these changes: create, update, replace, delete, read, forget, import, move, or a "
    "pattern of addresses; can be repeated",
    "KIND|ADDRESS,...",
)
WHY_FLAG = Flag(
    "why",
    FLAG_SWITCH,
    "Show for each change where the new values come from, and what forces it",
)
READING_FLAGS = (STATE_FLAG, *VARIABLE_FLAGS, *SAYING_FLAGS)
EDITING_FLAGS = (*LOCK_FLAGS, STATE_FLAG, BACKUP_FLAG, REMOTE_VERSION_FLAG, *VARIABLE_FLAGS)


def working_directory(invocation: Invocation, name: str = ".") -> WorkingDirectory:
    """The directory that a command works in, in the environment that is chosen."""
    where = plain_directory(invocation, name)
    chosen = chosen_environment(invocation.terminal)
    if not chosen:
        return where
    from nigari.diagnostics import Diagnostics
    from nigari.workspace.context.environments import in_environment

    diags = Diagnostics()
    where, sources = in_environment(where, chosen, diags)
    if diags.has_errors:
        raise CommandRefused(diags, sources)
    return where


def plain_directory(invocation: Invocation, name: str = ".") -> WorkingDirectory:
    """The directory that a command works in, whatever the environment."""
    terminal = invocation.terminal
    return WorkingDirectory(terminal.environ, name, started_in=terminal.started_in)


def chosen_environment(terminal: Terminal) -> str:
    """The environment that the command line or the process's environment names, if any."""
    return terminal.environment or terminal.environ.get(_ENVIRONMENT, "")


def given_variables(invocation: Invocation) -> GivenVariables:
    """The variable options of the command line."""
    return GivenVariables(invocation.ordered.get(ORDER, []))


def open_session(
    invocation: Invocation,
    name: str = ".",
    prompter: Prompter = NO_PROMPTER,
    directory: str | None = None,
) -> Session:
    """The session of a working directory, as the options of a command ask for it."""
    options = SessionOptions(state_files(invocation), lock_options(invocation), directory)
    where = working_directory(invocation, name)
    session = Session(where, given_variables(invocation), options, prompter)
    session.on_remembered = partial(_tell_remembered, invocation.terminal)
    session.on_elsewhere = partial(_tell_elsewhere, invocation.terminal)
    return session


def _tell_remembered(terminal: Terminal, names: Sequence[str]) -> None:
    used = ", ".join(f"var.{name}" for name in names)
    text = f"Using remembered values for {used} (see nigari init -show)."
    terminal.err(terminal.with_options(text))


def _tell_elsewhere(terminal: Terminal, text: str) -> None:
    if terminal.events is None:
        terminal.err(text)
    else:
        terminal.events.event(text.removesuffix("."), {"type": "backend_location"})


def state_files(invocation: Invocation) -> StateFiles:
    """The file options of the command line."""
    state, state_out = optional_text(invocation, "state"), optional_text(invocation, "state-out")
    return StateFiles(state, state_out, optional_text(invocation, "backup"))


def lock_options(invocation: Invocation) -> LockOptions:
    """The lock options of the command line."""
    if not has_flag(invocation, "lock"):
        return LockOptions()
    if not invocation.switch("lock"):
        return LockOptions(is_wanted=False)
    text = optional_text(invocation, "lock-timeout")
    if text == _NO_TIME:
        return LockOptions()
    from nigari.cty.function import FunctionError
    from nigari.cty.stdlib.timestamps import parse_duration

    try:
        return LockOptions(timeout_seconds=max(parse_duration(text), 0) / 1e9)
    except FunctionError:
        raise UsageError(
            f'The option -lock-timeout must be a duration such as 30s, not "{text}".'
        ) from None


def optional_text(invocation: Invocation, name: str) -> str:
    """The text of an option that not every command has; empty where it does not."""
    return invocation.text(name) if has_flag(invocation, name) else ""


def has_flag(invocation: Invocation, name: str) -> bool:
    """Return whether the command has an option."""
    return any(flag.name == name for flag in invocation.command.flags)

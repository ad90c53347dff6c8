"""Advice in diagnostics: the argument, option or command that mends a mistake, in the words of the
reader's interface.

A missing `-upgrade` is an argument to a Python program, an option on the command line, and another
command in a fleet of directories. A program that uses the library reads the library's words, the
command line its own (`nigari.audience`), and a fleet sets words for the units that it runs
(`advising`). Code that reports a mistake calls `advice()` and never names an option itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar

from nigari.audience import is_command_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class LibraryAdvice:
    """Advice for Python programs, which work with sessions."""

    def init(self, *options: str, variables: Sequence[str] = ()) -> str:
        """Name the call or command that initializes; the command-line form includes its quotes."""
        arguments = ", ".join(self.option(each) for each in options)
        given = f"..., variables={_dictionary(variables)}" if variables else "..."
        return f"nigari.open({given}).init({arguments})"

    def option(self, option: str, value: str = "") -> str:
        """Name an option, by its command-line spelling, optionally with a value."""
        name = _PARAMETERS.get(option) or option.strip("-").replace("-", "_")
        if value:
            return f"{name}=[{value!r}]" if name in _LISTS else f"{name}={value!r}"
        return name

    def set_variable(self, name: str = "") -> str:
        """Say how to set one variable of the root module; without a name, any of them."""
        if not name:
            return "with variables={...}, in a .tfvars file or in the environment"
        return (
            f"with variables={_dictionary([name])}, in a .tfvars file, or as TF_VAR_{name} in the "
            "environment"
        )

    def set_again(self, *names: str) -> str:
        """Say how to pass variables with the same values as last time."""
        return f"with variables={_dictionary(names)}"

    def store_state(self, path: str) -> str:
        """Say how to store a state that was written to a file because its backend failed."""
        return f"pass the content of {path} to state_push of a session"

    def unsaved_state(self, path: str) -> str:
        """Say where a state is that could not be written to any file."""
        return (
            "The exception has it as unsaved_state: write it to a file named "
            f"{path} before it is lost."
        )

    def unlock(self, lock_id: str) -> str:
        """Say how to release a lock that its owner left behind."""
        return f'with force_unlock("{lock_id}") of a session'

    def new_workspace(self, name: str = "NAME") -> str:
        """Say how to create a workspace."""
        return f'with new_workspace("{name}") of a session'

    def select_workspace(self, name: str = "NAME") -> str:
        """Say how to select another workspace."""
        return f'with select_workspace("{name}") of a session'


class Advice(LibraryAdvice):
    """Advice for the command line, in one working directory."""

    def init(self, *options: str, variables: Sequence[str] = ()) -> str:
        given = [self.option("-var", f"{name}=...") for name in variables]
        return f'"{" ".join(("nigari init", *given, *options))}"'

    def option(self, option: str, value: str = "") -> str:
        if not value:
            return option
        if option == "-var":
            return f"{option} {value}"
        from shlex import quote

        return f"{option}={quote(value)}"

    def set_variable(self, name: str = "") -> str:
        if not name:
            return "with -var, in a .tfvars file or in the environment"
        return f"with -var {name}=..., in a .tfvars file, or as TF_VAR_{name} in the environment"

    def set_again(self, *names: str) -> str:
        return "with " + " ".join(f"-var {name}=..." for name in names)

    def store_state(self, path: str) -> str:
        return f'store it with "nigari state push {path}"'

    def unsaved_state(self, path: str) -> str:
        return (
            "The state is printed above: save it, from the first brace to the last, to a file "
            f"{path}."
        )

    def unlock(self, lock_id: str) -> str:
        return f'with "nigari force-unlock {lock_id}"'

    def new_workspace(self, name: str = "NAME") -> str:
        return f'with "nigari workspace new {name}"'

    def select_workspace(self, name: str = "NAME") -> str:
        return f'with "nigari workspace select {name}"'


_PARAMETERS: Final = {
    "-allow-deferral": "allow_deferral=True",
    "-env": "environment",
    "-exclude": "excludes",
    "-force": "force=True",
    "-force-copy": "force_copy=True",
    "-lock=false": "lock=False",
    "-lockfile=readonly": "lockfile_readonly=True",
    "-migrate-state": "migrate_state=True",
    "-reconfigure": "reconfigure=True",
    "-target": "targets",
    "-upgrade": "upgrade=True",
}
"""Session parameters whose names differ from the command-line option."""
_LISTS: Final = ("backend_config", "excludes", "replace", "targets")


def _dictionary(names: Sequence[str]) -> str:
    return "{" + ", ".join(f'"{name}": ...' for name in names) + "}"


_CHOSEN: Final[ContextVar[LibraryAdvice | None]] = ContextVar("advice", default=None)
_LIBRARY: Final = LibraryAdvice()
_COMMAND_LINE: Final = Advice()


def advice() -> LibraryAdvice:
    """Return the words that suit this process: those set by `advising`, or its audience's."""
    return _CHOSEN.get() or (_COMMAND_LINE if is_command_line() else _LIBRARY)


class advising:  # noqa: N801 - it is used as a function is, and `contextlib` takes long to import
    """Use other advice within the block, in this thread or task only."""

    def __init__(self, words: LibraryAdvice) -> None:
        self._words = words

    def __enter__(self) -> None:
        self._token = _CHOSEN.set(self._words)

    def __exit__(self, *_: object) -> None:
        _CHOSEN.reset(self._token)

"""Advice: what a reader can do about something, in the words of the program that they use.

The same mistake is mended with an argument in a Python program, with an option on the command line,
and with another command where a directory is one of many. A program that uses the library reads the
library's words; people at the command line read its own (`nigari.audience`), and a fleet chooses words for what
it runs (`advising`). Code that reports a mistake asks `advice()` for the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar

from nigari.audience import is_command_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class LibraryAdvice:
    """The words for Python programs, which work with sessions."""

    def init(self, *options: str, variables: Sequence[str] = ()) -> str:
        """The call or command that initializes; on the command line in quotes."""
        arguments = ", ".join(self.option(each) for each in options)
        given = f"..., variables={_dictionary(variables)}" if variables else "..."
        return f"nigari.open({given}).init({arguments})"

    def option(self, option: str, value: str = "") -> str:
        """An option, named as on the command line; for one that takes a value, perhaps with it."""
        name = _PARAMETERS.get(option) or option.strip("-").replace("-", "_")
        if value:
            return f"{name}=[{value!r}]" if name in _LISTS else f"{name}={value!r}"
        return name

    def set_variable(self, name: str = "") -> str:
        """How a variable of the root module is set, or any of them."""
        if not name:
            return "with variables={...}, in a .tfvars file or in the environment"
        return (
            f"with variables={_dictionary([name])}, in a .tfvars file, or as TF_VAR_{name} in the "
            "environment"
        )

    def set_again(self, *names: str) -> str:
        """How variables are given the values that they had before."""
        return f"with variables={_dictionary(names)}"

    def store_state(self, path: str) -> str:
        """How a state is stored that was written to a file."""
        return f"pass the content of {path} to state_push of a session"

    def unlock(self, lock_id: str) -> str:
        """How a lock is removed whose owner has not removed it."""
        return f'with force_unlock("{lock_id}") of a session'

    def new_workspace(self, name: str = "NAME") -> str:
        """How a workspace is created."""
        return f'with new_workspace("{name}") of a session'

    def select_workspace(self, name: str = "NAME") -> str:
        """How another workspace is selected."""
        return f'with select_workspace("{name}") of a session'


class Advice(LibraryAdvice):
    """The words for people at the command line, who work with one directory."""

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
"""Parameters of sessions that are not called as the options of the command line are."""
_LISTS: Final = ("backend_config", "excludes", "replace", "targets")


def _dictionary(names: Sequence[str]) -> str:
    return "{" + ", ".join(f'"{name}": ...' for name in names) + "}"


_CHOSEN: Final[ContextVar[LibraryAdvice | None]] = ContextVar("advice", default=None)
_LIBRARY: Final = LibraryAdvice()
_COMMAND_LINE: Final = Advice()


def advice() -> LibraryAdvice:
    """The words for whoever reads what is reported."""
    return _CHOSEN.get() or (_COMMAND_LINE if is_command_line() else _LIBRARY)


class advising:  # noqa: N801 - it is used as a function is, and `contextlib` takes long to import
    """Use other words meanwhile, in this thread or task."""

    def __init__(self, words: LibraryAdvice) -> None:
        self._words = words

    def __enter__(self) -> None:
        self._token = _CHOSEN.set(self._words)

    def __exit__(self, *_: object) -> None:
        _CHOSEN.reset(self._token)

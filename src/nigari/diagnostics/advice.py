"""Advice: what a reader can do about something, in the words of the program that they use.

The same mistake is mended with other commands where a directory is one of many than where it is
worked with alone. Whoever does the work says once who reads about it; whoever reports a mistake
asks for the words.
"""

from __future__ import annotations

from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Advice:
    """The words for people who work with one directory."""

    def init(self, *flags: str) -> str:
        """The command that initializes, in quotes."""
        return f'"{" ".join(("nigari init", *flags))}"'

    def set_variable(self, name: str = "") -> str:
        """How a variable of the root module is set, or any of them."""
        if not name:
            return "with -var, in a .tfvars file or in the environment"
        return f"with -var {name}=..., in a .tfvars file, or as TF_VAR_{name} in the environment"

    def set_again(self, *names: str) -> str:
        """How variables are given the values that they had before."""
        return "with " + " ".join(f"-var {name}=..." for name in names)

    def store_state(self, path: str) -> str:
        """How a state is stored that was written to a file."""
        return f'store it with "nigari state push {path}"'


_CURRENT: Final[ContextVar[Advice]] = ContextVar("advice", default=Advice())  # noqa: B039 - it has no state


def advice() -> Advice:
    """The words for whoever reads what is reported."""
    return _CURRENT.get()


class advising:  # noqa: N801 - it is used as a function is
    """Report with other words meanwhile."""

    def __init__(self, words: Advice) -> None:
        self._words = words

    def __enter__(self) -> None:
        self._token = _CURRENT.set(self._words)

    def __exit__(self, *_: object) -> None:
        _CURRENT.reset(self._token)

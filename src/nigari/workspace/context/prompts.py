"""Prompts for variable values, texts and approval, as a session needs them.

The caller that opens the session decides how and where prompts appear. Without a prompter, the code
that needs a value reports that it is missing.
"""

from __future__ import annotations

from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.config.blocks.variable import Variable
    from nigari.eval.core.inputs import InputValue


class Prompter(Protocol):
    """The interface between a session and the user; None stands for a missing answer."""

    @property
    def can_prompt(self) -> bool: ...

    @property
    def is_at_terminal(self) -> bool:
        """True if other programs (git, ssh) may prompt on the terminal, too."""
        ...

    def value_of(self, variable: Variable) -> InputValue | None: ...

    def text(self, name: str, description: str, is_secret: bool) -> str | None:
        """Ask for a named text, such as a backend argument."""
        ...

    def approves(self, question: str) -> bool | None: ...


class NoPrompter:
    """A prompter without a user: every answer is missing."""

    can_prompt = False
    is_at_terminal = False

    def value_of(self, variable: Variable) -> InputValue | None:
        return None

    def text(self, name: str, description: str, is_secret: bool) -> str | None:
        return None

    def approves(self, question: str) -> bool | None:
        return None


NO_PROMPTER: Final = NoPrompter()

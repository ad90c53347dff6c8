"""People: whoever can be asked while a session works, for values and for a yes.

How a question is put, and where, is the affair of whoever opens the session; where nobody is
there, whoever wanted to know reports what that means.
"""

from __future__ import annotations

from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.config.blocks.variable import Variable
    from nigari.eval.base.inputs import InputValue


class People(Protocol):
    """Who can be asked."""

    @property
    def can_be_asked(self) -> bool: ...

    @property
    def is_at_terminal(self) -> bool:
        """Whether other programs may ask, too, which they do at the terminal."""
        ...

    def value_of(self, variable: Variable) -> InputValue | None:
        """The value of a variable; None where no answer was given."""
        ...

    def text(self, name: str, description: str, is_secret: bool) -> str | None:
        """A text for something with a name, such as an argument of a backend."""
        ...

    def agrees(self, question: str) -> bool | None:
        """Yes or no; None where nobody gives either answer."""
        ...


class Nobody:
    """Nobody is there."""

    can_be_asked = False
    is_at_terminal = False

    def value_of(self, variable: Variable) -> InputValue | None:
        return None

    def text(self, name: str, description: str, is_secret: bool) -> str | None:
        return None

    def agrees(self, question: str) -> bool | None:
        return None


NOBODY: Final = Nobody()

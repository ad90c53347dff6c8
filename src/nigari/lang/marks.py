"""Marks of the language; cty propagates them and interprets none."""

from __future__ import annotations

from enum import Enum

from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class LanguageMark(Enum):
    """Marks without content."""

    SENSITIVE = "sensitive"
    """The value must not be shown."""
    EPHEMERAL = "ephemeral"
    """The value must not be stored, neither in a plan nor in a state."""

    @property
    def secrecy(self) -> str:
        """The word that messages use for a value with this mark, which they never show."""
        return self.value


SENSITIVE: Final = LanguageMark.SENSITIVE
EPHEMERAL: Final = LanguageMark.EPHEMERAL


OUTPUT: Final = "output"


@record
class Deprecated:
    """A mark on values from a deprecated object, with its author's message."""

    message: str
    origin: str
    """Address of the deprecated object."""
    is_remote: bool = False
    """True if it is in a downloaded module."""
    kind: str = OUTPUT
    """Kind of the deprecated object: a module output, or something that a provider deprecates."""

    @property
    def secrecy(self) -> str:
        """Empty: the value may be shown."""
        return ""

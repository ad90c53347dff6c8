"""The marks that the language puts on values; cty carries them and knows none of them."""

from __future__ import annotations

from enum import Enum

from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class LanguageMark(Enum):
    """Marks that have no content of their own."""

    SENSITIVE = "sensitive"
    """The value must not be shown."""
    EPHEMERAL = "ephemeral"
    """The value must not be stored, neither in a plan nor in a state."""

    @property
    def secrecy(self) -> str:
        """Why a value with this mark is not shown in messages."""
        return self.value


SENSITIVE: Final = LanguageMark.SENSITIVE
EPHEMERAL: Final = LanguageMark.EPHEMERAL


OUTPUT: Final = "output"


@record
class Deprecated:
    """The value comes from something whose author warns against using it."""

    message: str
    origin: str
    """The address of what is deprecated."""
    is_remote: bool = False
    """Whether it is in a module that comes from elsewhere."""
    kind: str = OUTPUT
    """What is deprecated: an output of a module, or something that a provider warns against."""

    @property
    def secrecy(self) -> str:
        """Nothing: the value may be shown."""
        return ""

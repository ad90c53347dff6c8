"""Operation timeouts, set by the author of a resource type or by its users."""

import re
from dataclasses import dataclass
from typing import Annotated, Final

from nigari import cty
from nigari.providers.python.markers import Text

_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Timeouts:
    """Time limits of operations, each as "30s", "10m" or "1h30m"; None means unlimited.

    As a field of a resource type it makes them configurable: `timeouts: Annotated[Timeouts | None,
    BLOCK] = None`. A method that is not `async` cannot be interrupted: after the limit it continues
    in the background until the provider ends.
    """

    create: Annotated[str | None, Text("How long creating may take.")] = None
    read: Annotated[str | None, Text("How long reading may take.")] = None
    update: Annotated[str | None, Text("How long updating may take.")] = None
    delete: Annotated[str | None, Text("How long deleting may take.")] = None

    def __post_init__(self) -> None:
        for name in ("create", "read", "update", "delete"):
            try:
                self.seconds(name)
            except ValueError as error:
                raise cty.CtyError(str(error), (cty.GetAttr(name),)) from None

    def seconds(self, operation: str) -> float | None:
        """Return the limit of an operation in seconds."""
        text = getattr(self, operation)
        # It may be unknown while a change is planned.
        return _seconds(text) if isinstance(text, str) else None


def _seconds(text: str) -> float:
    total, position = 0.0, 0
    while found := _PART.match(text, position):
        total += float(found[1]) * _SECONDS[found[2]]
        position = found.end()
    if position < len(text) or not total:
        raise ValueError(f'"{text}" is not a duration such as "30s", "10m" or "1h30m"')
    return total

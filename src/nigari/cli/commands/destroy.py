"""`nigari destroy`: destroy everything that is managed here."""

from __future__ import annotations

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.commands.apply import apply
from nigari.cli.plan_flags import APPLY_FLAGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


def run(invocation: Invocation) -> int:
    """Plan the end of everything, ask, and do it."""
    return apply(invocation, is_end=True)


_OTHER_PLANS: Final = ("destroy", "refresh-only", "replace", "lint")

COMMAND = Command(
    "destroy",
    "Destroys everything that is managed in this directory, once you approve. It is the same as "
    "apply -destroy.",
    run,
    flags=tuple(flag for flag in APPLY_FLAGS if flag.name not in _OTHER_PLANS),
    examples=(Example("nigari destroy", "asks for approval before destroying anything"),),
)

"""Objects that a plan reads, by the words of `-refresh`: all, none, or those with a reason."""

from __future__ import annotations

from nigari.lang.ages import parse_age
from nigari.plan.model.plan_options import ReadObjects
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_STALE: Final = "stale:"
_EDITED: Final = "changed-since="


@record
class RefreshChoice:
    """Which stored objects a plan reads."""

    refreshes: bool = True
    only_reads: ReadObjects | None = None
    changed_since: str = ""
    """The git revision with which edited blocks are compared; empty unless they decide."""


def refresh_choice(text: str, is_for_apply: bool = False) -> RefreshChoice:
    """Read the value of `-refresh`. Raises `ValueError` for any other words.

    An apply reads the objects that it would change, whatever the choice is.
    """
    if text == "true":
        return RefreshChoice()
    if text == "false":
        return RefreshChoice(refreshes=False)
    if text == "never":
        if not is_for_apply:
            return RefreshChoice(refreshes=False)
        return RefreshChoice(only_reads=ReadObjects(reads_dependencies=False))
    if text.startswith(_STALE):
        return RefreshChoice(only_reads=ReadObjects(reads_others=True, age=_age(text)))
    if text.startswith(_EDITED) and text != _EDITED:
        return RefreshChoice(only_reads=ReadObjects(), changed_since=text.removeprefix(_EDITED))
    raise ValueError(
        f'"{text}" does not say what to read. Use true, false, never, stale:1h for objects that were '
        "not read for an hour, or changed-since=REF for what was edited since a git revision"
    )


def _age(text: str) -> int:
    """The number of seconds in a text such as `stale:1h30m`."""
    age = text.removeprefix(_STALE)
    seconds = parse_age(age)
    if seconds is None:
        raise ValueError(f'"{age}" is not an age. Write numbers with d, h, m or s, such as 1h30m')
    return seconds

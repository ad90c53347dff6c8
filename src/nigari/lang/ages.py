"""Ages in settings, such as `7d` or `1h30m`."""

from __future__ import annotations

from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_AGE: Final = lazy_pattern(r"(?:[0-9]{1,9}[wdhms])+")
_PART: Final = lazy_pattern(r"([0-9]+)([wdhms])")
_SECONDS: Final = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}


def parse_age(text: str) -> int | None:
    """Return the number of seconds; None if the text is not an age."""
    if not _AGE.fullmatch(text):
        return None
    return sum(int(number) * _SECONDS[unit] for number, unit in _PART.findall(text))

"""When objects were last read and were what the state says, for plans that do not read them again.

The record is in the directory of what is remembered, with addresses and times only. It begins with the
first plan that asks for it, so that others pay nothing. Reads from other directories are not known.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress

from nigari.packages.content.whole_file import make_directories, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Final

FILE_NAME: Final = "nigari.reads.json"
_LONGEST: Final = 30 * 86400
"""Older entries are dropped."""


class ReadTimes:
    """The times of one state, by address."""

    def __init__(self, data: Path, lineage: str) -> None:
        self._path = data / FILE_NAME
        self._lineage = lineage
        self._all = _load(self._path)

    @property
    def is_kept(self) -> bool:
        """Whether a plan has asked for the record."""
        return self._all is not None

    def begin(self) -> None:
        """Start the record."""
        self._all = self._all or {}

    def fresh(self, age: float) -> set[str]:
        """The addresses of objects that were read within so many seconds."""
        since = time.time() - age
        return {address for address, at in self._times().items() if at >= since}

    def note(self, read: Iterable[str], changed: Iterable[str] = ()) -> None:
        """Record what was read just now, and drop what is not as the state says. Nothing depends on
        it, so it may fail.
        """
        if self._all is None:
            return
        now = time.time()
        times = {each: at for each, at in self._times().items() if at > now - _LONGEST}
        for address in changed:
            times.pop(address, None)
        times.update(dict.fromkeys(read, now))
        self._all[self._lineage] = times
        with suppress(OSError):
            make_directories(self._path.parent)
            write_whole(self._path, f"{json.dumps(self._all)}\n".encode())

    def _times(self) -> Mapping[str, float]:
        return (self._all or {}).get(self._lineage, {})


def _load(path: Path) -> dict[str, dict[str, float]] | None:
    """The record of all states; None if there is none, and an empty one if it is damaged."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {
        lineage: {
            address: float(at) for address, at in times.items() if isinstance(at, (int, float))
        }
        for lineage, times in found.items()
        if isinstance(times, dict)
    }

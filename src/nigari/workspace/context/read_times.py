"""Read times: when each object was last read and matched the state, so that a plan need not read it again.

The record has addresses and times only, and is in the data directory. It starts with the first plan
that asks for it, so that others pay nothing. Reads from other directories are unknown.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

FILE_NAME: Final = "nigari.reads.json"
_LONGEST: Final = 30 * 86400
"""Older entries are dropped."""


class ReadTimes:
    """The times of one state, by address."""

    def __init__(self, path: str, lineage: str) -> None:
        self._path = path
        self._lineage = lineage
        self._all = _load(self._path)

    @property
    def is_kept(self) -> bool:
        """Return whether a plan has asked for the record."""
        return self._all is not None

    def begin(self) -> None:
        """Start the record."""
        self._all = self._all or {}

    def fresh(self, age: float) -> set[str]:
        """Return the addresses of objects that were read within this many seconds."""
        since = time.time() - age
        return {address for address, at in self._times().items() if at >= since}

    def note(self, read: Iterable[str], changed: Iterable[str] = ()) -> None:
        """Record objects that were read just now, and drop those that differ from the state.

        No result depends on the record, so storing it may fail.
        """
        if self._all is None:
            return
        now = time.time()
        times = {each: at for each, at in self._times().items() if at > now - _LONGEST}
        for address in changed:
            times.pop(address, None)
        times.update(dict.fromkeys(read, now))
        self._all[self._lineage] = times
        from nigari.packages.content.whole_file import make_directories, write_whole

        with suppress(OSError):
            make_directories(os.path.dirname(self._path))
            write_whole(self._path, f"{json.dumps(self._all)}\n".encode())

    def _times(self) -> Mapping[str, float]:
        return (self._all or {}).get(self._lineage, {})


def _load(path: str) -> dict[str, dict[str, float]] | None:
    """Load the record of all states; None if there is none, and an empty one if it is damaged."""
    try:
        with open(path, "rb") as file:
            found = json.load(file)
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

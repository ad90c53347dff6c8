"""The last apply in an environment from this directory, for the list of environments.

It is a note in the environment's data directory and not in the state, which has no place for it that
OpenTofu would keep. Applies from other places are not known here.
"""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from nigari.packages.content.whole_file import make_directories, write_whole
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


FILE_NAME: Final = "nigari.applied.json"


@record
class LastApply:
    """Time and result of an apply."""

    time: datetime
    mode: str
    """The kind of plan: normal, destroy or refresh-only."""
    serial: int
    """The number of the state that was stored then."""
    is_complete: bool
    """True if the whole plan was applied."""


def save_last_apply(data: Path, mode: str, serial: int, is_complete: bool) -> None:
    """Note that something was applied just now; nothing depends on it, so it may fail."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    document = {"time": now, "mode": mode, "serial": serial, "complete": is_complete}
    with suppress(OSError):
        make_directories(data)
        write_whole(data / FILE_NAME, f"{json.dumps(document, indent=2)}\n".encode())


def load_last_apply(data: Path) -> LastApply | None:
    """The last apply; None if there is none, or no note of it that can be read."""
    try:
        found = json.loads((data / FILE_NAME).read_bytes())
        return LastApply(
            datetime.fromisoformat(found["time"]),
            str(found["mode"]),
            int(found["serial"]),
            bool(found["complete"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None

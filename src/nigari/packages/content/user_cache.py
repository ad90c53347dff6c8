"""The cache of a user: the directory for what all working directories can share."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

DIRECTORY_VARIABLE: Final = "NIGARI_CACHE_DIR"
OFF: Final = "off"


def cache_directory(environ: Mapping[str, str], name: str) -> str | None:
    """Return a directory of the cache; None if the cache is disabled, or has no place."""
    given = environ.get(DIRECTORY_VARIABLE, "")
    if given:
        return None if given == OFF else os.path.join(given, name)
    home = environ.get("HOME", "")
    if sys.platform == "win32":
        base = environ.get("LOCALAPPDATA", "")
    elif environ.get("XDG_CACHE_HOME", "") or sys.platform != "darwin":
        base = environ.get("XDG_CACHE_HOME", "") or (home and f"{home}/.cache")
    else:
        base = home and f"{home}/Library/Caches"
    # XDG Base Directory Specification: relative paths are invalid and ignored.
    return os.path.join(base, "nigari", name) if base and os.path.isabs(base) else None

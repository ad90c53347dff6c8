"""How a page was made: when, from which commit, and by which command."""

from __future__ import annotations

from datetime import UTC, datetime

from nigari.diagnostics import Diagnostics
from nigari.fleet.units.git import git

Data = dict[str, object]


def made_data(directory: str, command: str, planned: str = "") -> Data:
    """What the head of a page says of it; `planned` is when its plan was made."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    found: Data = {"at": now.replace("+00:00", "Z"), "planned": planned, "command": command}
    return {name: each for name, each in {**found, **_commit(directory)}.items() if each}


def _commit(directory: str) -> Data:
    """The commit of a directory, and whether its files differ from it; nothing without git."""
    unused = Diagnostics()
    commit = git(directory, unused, "rev-parse", "--verify", "--quiet", "HEAD")
    if commit is None:
        return {}
    asked = ("-c", "core.fsmonitor=false", "status", "--porcelain", "--untracked-files=no")
    changed = git(directory, unused, *asked, "--", ".")
    return {"commit": commit.decode().strip(), "is_changed": bool(changed)}

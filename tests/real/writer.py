"""One of many writers of a state: a process of its own, which counts under the lock.

Prints the serials that it wrote. Inside the lock it makes a directory that must not exist, so that
two who believe to have the lock at once are found out.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

from nigari.backends import locking
from nigari.backends.lock_options import LockOptions
from nigari.backends.open_backend import open_backend
from nigari.backends.protocol import Around
from nigari.backends.snapshots import Snapshots
from nigari.cty import number
from nigari.diagnostics import Diagnostics
from nigari.state.encryption import no_encryption
from nigari.state.model import OutputState, State


async def write(type_: str, config: dict[str, object], rounds: int, inside: str) -> list[int]:
    serials = []
    for _ in range(rounds):
        diags = Diagnostics()
        backend = open_backend(type_, config, Around(".", os.environ), diags)
        assert backend is not None, list(diags)
        snapshots = Snapshots(backend.storage("default"), no_encryption().state)
        assert await snapshots.lock("count", LockOptions(timeout_seconds=3600), diags), list(diags)
        os.mkdir(inside)
        assert await snapshots.read(diags), list(diags)
        known = snapshots.state.outputs.get("count")
        now = 0 if known is None else int(str(known.value.as_number()))
        changed = State(outputs={"count": OutputState(number(now + 1))})
        assert await snapshots.write(changed, diags), list(diags)
        assert snapshots.file is not None
        serials.append(snapshots.file.serial)
        os.rmdir(inside)
        assert await snapshots.unlock(diags), list(diags)
    return serials


if __name__ == "__main__":
    # They ask for the lock more often than people would.
    vars(locking).update(_FIRST_DELAY=0.1, _LONGEST_DELAY=1.0)
    kind, arguments, count, directory = sys.argv[1:]
    written = asyncio.run(write(kind, json.loads(arguments), int(count), directory))
    sys.stdout.write(json.dumps(written))

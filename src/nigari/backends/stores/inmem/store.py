"""The backend `inmem`: states in the memory of this process, for tests.

All of its stores share the same states, as if they were clients of one server.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.backends.locking import LockInfo
from nigari.backends.protocol import DEFAULT_WORKSPACE
from nigari.backends.store import BackendFailure, Content, ContentChanged, StateIsLocked
from nigari.clouds.arguments import Arguments
from nigari.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_CONTENTS: Final[dict[str, Content]] = {}
_LOCKS: Final[dict[str, LockInfo]] = {}


def open_store(arguments: Arguments) -> InMemoryStore:
    """The store; with the argument `lock_id` its default workspace is locked."""
    lock_id = arguments.text("lock_id")
    if lock_id:
        _LOCKS[DEFAULT_WORKSPACE] = LockInfo(lock_id, "test", info="test config")
    return InMemoryStore()


def forget_all() -> None:
    """Forget all states and locks."""
    _CONTENTS.clear()
    _LOCKS.clear()


class InMemoryStore:
    """The states of this process."""

    has_workspaces: Final = True

    def location(self, workspace: str) -> str:
        return f"memory:{workspace}"

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def names(self) -> Sequence[str]:
        return list(_CONTENTS)

    async def read(self, workspace: str) -> Content | None:
        return _CONTENTS.get(workspace)

    async def write(self, workspace: str, data: bytes, expected: str | None) -> str | None:
        known = _CONTENTS.get(workspace)
        version = "" if known is None else known.version
        if expected is not None and version != expected:
            raise ContentChanged("Another process has changed it in the meantime.")
        new = Content(data, str(int(version or 0) + 1))
        _CONTENTS[workspace] = new
        return new.version

    async def delete(self, workspace: str) -> None:
        _CONTENTS.pop(workspace, None)
        _LOCKS.pop(workspace, None)

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        if workspace in _LOCKS:
            raise StateIsLocked(_LOCKS[workspace])
        _LOCKS[workspace] = replace(info, path=workspace)
        return _LOCKS[workspace]

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        await self.force_unlock(workspace, lock.id)

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        held = _LOCKS.get(workspace)
        if held is None or held.id != lock_id:
            raise BackendFailure("The state is not locked with this ID.")
        del _LOCKS[workspace]

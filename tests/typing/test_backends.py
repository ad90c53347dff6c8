"""All of `nigari.backends`, as a user's package has it: type checkers read this file, and it runs."""

import asyncio
from collections.abc import Sequence

from nigari.backends import (
    ABSENT,
    BackendFailure,
    Content,
    ContentChanged,
    LockInfo,
    StateIsLocked,
    Store,
)


class Memory:
    """A store in memory, without other workspaces."""

    has_workspaces = False

    def __init__(self) -> None:
        self._content: Content | None = None
        self._lock: LockInfo | None = None

    def location(self, workspace: str) -> str:
        return "memory"

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def names(self) -> Sequence[str]:
        return () if self._content is None else ("default",)

    async def read(self, workspace: str) -> Content | None:
        return self._content

    async def write(self, workspace: str, data: bytes, expected: str | None) -> str | None:
        current = ABSENT if self._content is None else self._content.version
        if expected not in (None, current):
            raise ContentChanged("Somebody else has written.")
        self._content = Content(data, f"{current}+")
        return self._content.version

    async def delete(self, workspace: str) -> None:
        self._content = None

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        if self._lock is not None:
            raise StateIsLocked(self._lock)
        self._lock = info
        return info

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        self._lock = None

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        if self._lock is None or self._lock.id != lock_id:
            raise BackendFailure("There is no such lock.")
        self._lock = None


async def refusals(store: Store) -> list[str]:
    found: list[str] = []
    version = await store.write("default", b"1", ABSENT)
    await store.lock("default", LockInfo("id", "mine"))
    try:
        await store.lock("default", LockInfo("other", "theirs"))
    except StateIsLocked as error:
        found.append("locked" if error.holder is None else error.holder.operation)
    for work in (
        store.write("default", b"2", f"not {version}"),
        store.force_unlock("default", "x"),
    ):
        try:
            await work
        except BackendFailure as error:
            found.append(error.text)
    return found


def test_a_store() -> None:
    assert asyncio.run(refusals(Memory())) == [
        "mine",
        "Somebody else has written.",
        "There is no such lock.",
    ]

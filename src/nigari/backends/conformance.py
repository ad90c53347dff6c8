"""Checks that every store must pass: ours, and those of others.

What they store are states without resources, because a store may look at serial and lineage.

A check is an asynchronous function that fails with an `AssertionError`. `CHECKS` has all of them by
name; a test runs each with a way to make clients of one server on which nothing is stored yet.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping

from nigari.backends.locking import LockInfo, new_lock
from nigari.backends.protocol import DEFAULT_WORKSPACE
from nigari.backends.store import (
    ABSENT,
    BackendFailure,
    Content,
    ContentChanged,
    StateIsLocked,
    Store,
)
from nigari.net.failures import NetFailure
from nigari.record import record
from nigari.version import OPENTOFU_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ROUNDS: Final = 3
_WRITERS: Final = 5


@record
class Subject:
    """The checks."""

    make: Callable[[], Store]
    """A new client; all clients see the same contents."""
    tells_holder: bool = True
    """True if a refused process learns who holds the lock."""
    tells_absence: bool = True
    """True if the store can refuse a write because content already exists."""
    forgets_forced: bool = True
    """True if a process other than the holder can remove a lock."""
    refuses_wrong_ids: bool = True
    """True if removing a lock requires its ID; some test servers accept any."""
    workspace: str = DEFAULT_WORKSPACE
    """The workspace to use first; not every store has a default one."""


async def nothing_is_there_at_first(subject: Subject) -> None:
    async with _client(subject) as store:
        assert await store.read(subject.workspace) is None
        assert not set(await store.names()) - {subject.workspace}


async def what_is_written_can_be_read(subject: Subject) -> None:
    contents = (_state(1, "\u00e4\u20ac\n"), _state(2), _state(3, "x" * 3_000_000))
    async with _client(subject) as one, _client(subject) as other:
        for data in contents:
            await one.write(subject.workspace, data, None)
            assert await _read(other, subject.workspace) == data


async def versions_tell_contents_apart(subject: Subject) -> None:
    async with _client(subject) as store:
        first = await store.write(subject.workspace, _state(1), None)
        found = await store.read(subject.workspace)
        assert found is not None
        if found.version is None:
            return
        assert first in (None, found.version)
        await store.write(subject.workspace, _state(2), found.version)
        again = await store.read(subject.workspace)
        assert again is not None
        assert again.data == _state(2)
        assert again.version != found.version


async def a_stale_write_is_refused(subject: Subject) -> None:
    async with _client(subject) as one, _client(subject) as other:
        await one.write(subject.workspace, _state(1), None)
        found = await one.read(subject.workspace)
        assert found is not None
        await other.write(subject.workspace, _state(2, "other"), None)
        if found.version is None:
            return
        await _refused(one.write(subject.workspace, _state(2, "one"), found.version))
        assert await _read(one, subject.workspace) == _state(2, "other")


async def a_stale_state_of_another_lineage_is_refused(subject: Subject) -> None:
    async with _client(subject) as one, _client(subject) as other:
        await one.write(subject.workspace, _state(5), None)
        found = await one.read(subject.workspace)
        assert found is not None
        await other.write(subject.workspace, _state(6), found.version)
        if found.version is None:
            return
        await _refused(one.write(subject.workspace, _state(1, lineage="new"), found.version))
        now = await one.read(subject.workspace)
        assert now is not None
        assert now.data == _state(6)
        await one.write(subject.workspace, _state(1, lineage="new"), now.version)
        assert await _read(other, subject.workspace) == _state(1, lineage="new")


async def a_first_write_replaces_nothing(subject: Subject) -> None:
    async with _client(subject) as one, _client(subject) as other:
        await one.write(subject.workspace, _state(1), ABSENT)
        if not subject.tells_absence:
            return
        await _refused(other.write(subject.workspace, _state(1, lineage="other"), ABSENT))
        assert await _read(one, subject.workspace) == _state(1)


async def workspaces_have_contents_of_their_own(subject: Subject) -> None:
    async with _client(subject) as store:
        if not store.has_workspaces:
            return
        for name in ("b", "a"):
            await store.write(name, _state(1, name), ABSENT)
        assert await store.read(subject.workspace) is None
        assert sorted(set(await store.names()) - {subject.workspace}) == ["a", "b"]
        assert await _read(store, "a") == _state(1, "a")
        await store.delete("a")
        await store.delete("a")
        assert await store.read("a") is None
        assert sorted(set(await store.names()) - {subject.workspace}) == ["b"]


async def a_lock_keeps_others_out(subject: Subject) -> None:
    async with _client(subject) as one, _client(subject) as other:
        held = await one.lock(subject.workspace, _lock(one, subject.workspace))
        holder = await _locked(other, subject.workspace)
        if subject.tells_holder:
            assert holder is not None
            assert holder.id == held.id
            assert holder.operation == "checking"
            assert "@" in holder.who
        version = await one.write(subject.workspace, _state(1), None)
        await one.write(subject.workspace, _state(2), version)
        await one.unlock(subject.workspace, held)
        second = await other.lock(subject.workspace, _lock(other, subject.workspace))
        await other.unlock(subject.workspace, second)


async def each_workspace_has_a_lock_of_its_own(subject: Subject) -> None:
    async with _client(subject) as one, _client(subject) as other:
        if not one.has_workspaces:
            return
        await one.write("a", _state(1), None)
        await one.write(subject.workspace, _state(1), None)
        held = await one.lock("a", _lock(one, "a"))
        second = await other.lock(subject.workspace, _lock(other, subject.workspace))
        await other.unlock(subject.workspace, second)
        await one.unlock("a", held)


async def a_lock_can_be_removed_by_its_id(subject: Subject) -> None:
    if not subject.forgets_forced:
        return
    async with _client(subject) as one, _client(subject) as other:
        held = await one.lock(subject.workspace, _lock(one, subject.workspace))
        if subject.refuses_wrong_ids:
            wrong = "1" if held.id.isdigit() else "00000000-0000-0000-0000-000000000000"
            await _not_unlocked(other, subject.workspace, wrong)
        await other.force_unlock(subject.workspace, held.id)
        second = await other.lock(subject.workspace, _lock(other, subject.workspace))
        await other.unlock(subject.workspace, second)


async def one_writer_at_a_time(subject: Subject) -> None:
    """Writers that read, count and write under the lock lose nothing.

    Locking may leave an empty content where there was none.
    """

    async def count() -> None:
        async with _client(subject) as store:
            for _ in range(_ROUNDS):
                held = await _lock_at_last(store, subject.workspace)
                found = await store.read(subject.workspace)
                version = ABSENT if found is None else found.version
                await store.write(subject.workspace, _state(_serial(found) + 1), version)
                await store.unlock(subject.workspace, held)

    await asyncio.gather(*(count() for _ in range(_WRITERS)))
    async with _client(subject) as store:
        assert _serial(await store.read(subject.workspace)) == _ROUNDS * _WRITERS


Check = Callable[[Subject], Coroutine[object, object, None]]

CHECKS: Final[Mapping[str, Check]] = {
    each.__name__: each
    for each in (
        nothing_is_there_at_first,
        what_is_written_can_be_read,
        versions_tell_contents_apart,
        a_stale_write_is_refused,
        a_stale_state_of_another_lineage_is_refused,
        a_first_write_replaces_nothing,
        workspaces_have_contents_of_their_own,
        a_lock_keeps_others_out,
        each_workspace_has_a_lock_of_its_own,
        a_lock_can_be_removed_by_its_id,
        one_writer_at_a_time,
    )
}


@contextlib.asynccontextmanager
async def _client(subject: Subject) -> AsyncIterator[Store]:
    store = subject.make()
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def _state(serial: int, word: str = "", lineage: str = "checked") -> bytes:
    """A state with nothing but an output."""
    import json

    state = {
        "version": 4,
        "terraform_version": OPENTOFU_VERSION,
        "serial": serial,
        "lineage": lineage,
        "outputs": {"word": {"value": word, "type": "string"}},
        "resources": [],
    }
    return json.dumps(state, ensure_ascii=False).encode()


def _serial(found: Content | None) -> int:
    import json

    return 0 if found is None or not found.data else int(json.loads(found.data)["serial"])


async def _read(store: Store, workspace: str) -> bytes:
    found = await store.read(workspace)
    assert found is not None
    return found.data


def _lock(store: Store, workspace: str) -> LockInfo:
    return new_lock("checking").at(store.location(workspace))


async def _locked(store: Store, workspace: str) -> LockInfo | None:
    """The holder of the lock; it is a fault if there is none."""
    try:
        await store.lock(workspace, _lock(store, workspace))
    except StateIsLocked as conflict:
        return conflict.holder
    raise AssertionError("a lock was taken that another process holds")


async def _not_unlocked(store: Store, workspace: str, wrong: str) -> None:
    try:
        await store.force_unlock(workspace, wrong)
    except (BackendFailure, NetFailure):
        await _locked(store, workspace)
        return
    raise AssertionError("a wrong ID was accepted")


async def _lock_at_last(store: Store, workspace: str) -> LockInfo:
    for _ in range(2000):
        try:
            return await store.lock(workspace, _lock(store, workspace))
        except StateIsLocked:
            await asyncio.sleep(0.01)
    raise AssertionError("the lock was never free")


async def _refused(write: Awaitable[object]) -> None:
    try:
        await write
    except ContentChanged:
        return
    raise AssertionError("a state was replaced that is not the expected one")

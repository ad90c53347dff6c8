"""Checks that every store must pass: ours, and those of others.

A check is an asynchronous function that fails with an `AssertionError`. `CHECKS` has all of them by
name; a test runs each with a way to make clients of one server on which nothing is stored yet.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from typing import Final

from nigari.backends.locking import LockInfo, new_lock
from nigari.backends.protocol import DEFAULT_WORKSPACE
from nigari.backends.store import ABSENT, BackendFailure, ContentChanged, StateIsLocked, Store
from nigari.net.failures import NetFailure
from nigari.record import record

_ROUNDS: Final = 3
_WRITERS: Final = 5


@record
class Subject:
    """What is checked."""

    make: Callable[[], Store]
    """A new client; all clients see the same contents."""
    tells_holder: bool = True
    """Whether who is refused learns who has the lock."""
    tells_absence: bool = True
    """Whether a write can be refused because there is a content already."""
    forgets_forced: bool = True
    """Whether a lock can be removed by somebody else than its holder."""
    refuses_wrong_ids: bool = True
    """Whether that needs the right id; some servers for tests take any."""


async def nothing_is_there_at_first(subject: Subject) -> None:
    async with _client(subject) as store:
        assert await store.read(DEFAULT_WORKSPACE) is None
        assert not set(await store.names()) - {DEFAULT_WORKSPACE}


async def what_is_written_can_be_read(subject: Subject) -> None:
    contents = (b'{"a": "\xc3\xa4\xe2\x82\xac"}\n', b"{}", b'["' + b"x" * 3_000_000 + b'"]')
    async with _client(subject) as one, _client(subject) as other:
        for data in contents:
            await one.write(DEFAULT_WORKSPACE, data, None)
            found = await other.read(DEFAULT_WORKSPACE)
            assert found is not None
            assert found.data == data


async def versions_tell_contents_apart(subject: Subject) -> None:
    async with _client(subject) as store:
        first = await store.write(DEFAULT_WORKSPACE, b'{"n":1}', None)
        found = await store.read(DEFAULT_WORKSPACE)
        assert found is not None
        if found.version is None:
            return
        assert first in (None, found.version)
        await store.write(DEFAULT_WORKSPACE, b'{"n":2}', found.version)
        again = await store.read(DEFAULT_WORKSPACE)
        assert again is not None
        assert again.data == b'{"n":2}'
        assert again.version != found.version


async def a_stale_write_is_refused(subject: Subject) -> None:
    async with _client(subject) as one, _client(subject) as other:
        await one.write(DEFAULT_WORKSPACE, b'{"n":1}', None)
        found = await one.read(DEFAULT_WORKSPACE)
        assert found is not None
        await other.write(DEFAULT_WORKSPACE, b'{"n":2}', None)
        if found.version is None:
            return
        await _refused(one.write(DEFAULT_WORKSPACE, b'{"n":3}', found.version))
        kept = await one.read(DEFAULT_WORKSPACE)
        assert kept is not None
        assert kept.data == b'{"n":2}'


async def a_first_write_replaces_nothing(subject: Subject) -> None:
    async with _client(subject) as one, _client(subject) as other:
        await one.write(DEFAULT_WORKSPACE, b'{"n":1}', ABSENT)
        if not subject.tells_absence:
            return
        await _refused(other.write(DEFAULT_WORKSPACE, b'{"n":2}', ABSENT))
        kept = await one.read(DEFAULT_WORKSPACE)
        assert kept is not None
        assert kept.data == b'{"n":1}'


async def workspaces_have_contents_of_their_own(subject: Subject) -> None:
    async with _client(subject) as store:
        if not store.has_workspaces:
            return
        for name in ("b", "a"):
            await store.write(name, b'{"name":"%s"}' % name.encode(), ABSENT)
        assert await store.read(DEFAULT_WORKSPACE) is None
        assert sorted(set(await store.names()) - {DEFAULT_WORKSPACE}) == ["a", "b"]
        found = await store.read("a")
        assert found is not None
        assert found.data == b'{"name":"a"}'
        await store.delete("a")
        await store.delete("a")
        assert await store.read("a") is None
        assert sorted(set(await store.names()) - {DEFAULT_WORKSPACE}) == ["b"]


async def a_lock_keeps_others_out(subject: Subject) -> None:
    async with _client(subject) as one, _client(subject) as other:
        held = await one.lock(DEFAULT_WORKSPACE, _lock(one))
        holder = await _locked(other)
        if subject.tells_holder:
            assert holder is not None
            assert holder.id == held.id
            assert holder.operation == "checking"
            assert "@" in holder.who
        version = await one.write(DEFAULT_WORKSPACE, b"{}", None)
        await one.write(DEFAULT_WORKSPACE, b'{"n":1}', version)
        await one.unlock(DEFAULT_WORKSPACE, held)
        second = await other.lock(DEFAULT_WORKSPACE, _lock(other))
        await other.unlock(DEFAULT_WORKSPACE, second)


async def each_workspace_has_a_lock_of_its_own(subject: Subject) -> None:
    async with _client(subject) as one, _client(subject) as other:
        if not one.has_workspaces:
            return
        await one.write("a", b"{}", None)
        await one.write(DEFAULT_WORKSPACE, b"{}", None)
        held = await one.lock("a", _lock(one, "a"))
        second = await other.lock(DEFAULT_WORKSPACE, _lock(other))
        await other.unlock(DEFAULT_WORKSPACE, second)
        await one.unlock("a", held)


async def a_lock_can_be_removed_by_its_id(subject: Subject) -> None:
    if not subject.forgets_forced:
        return
    async with _client(subject) as one, _client(subject) as other:
        held = await one.lock(DEFAULT_WORKSPACE, _lock(one))
        if subject.refuses_wrong_ids:
            wrong = "1" if held.id.isdigit() else "00000000-0000-0000-0000-000000000000"
            await _not_unlocked(other, wrong)
        await other.force_unlock(DEFAULT_WORKSPACE, held.id)
        second = await other.lock(DEFAULT_WORKSPACE, _lock(other))
        await other.unlock(DEFAULT_WORKSPACE, second)


async def one_writer_at_a_time(subject: Subject) -> None:
    """Writers that read, count and write under the lock lose nothing.

    Locking may leave an empty content where there was none.
    """

    async def count() -> None:
        async with _client(subject) as store:
            for _ in range(_ROUNDS):
                held = await _lock_at_last(store)
                found = await store.read(DEFAULT_WORKSPACE)
                number = 0 if found is None else int(found.data or 0)
                version = ABSENT if found is None else found.version
                await store.write(DEFAULT_WORKSPACE, b"%d" % (number + 1), version)
                await store.unlock(DEFAULT_WORKSPACE, held)

    await asyncio.gather(*(count() for _ in range(_WRITERS)))
    async with _client(subject) as store:
        found = await store.read(DEFAULT_WORKSPACE)
        assert found is not None
        assert int(found.data) == _ROUNDS * _WRITERS


Check = Callable[[Subject], Coroutine[object, object, None]]

CHECKS: Final[Mapping[str, Check]] = {
    each.__name__: each
    for each in (
        nothing_is_there_at_first,
        what_is_written_can_be_read,
        versions_tell_contents_apart,
        a_stale_write_is_refused,
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


def _lock(store: Store, workspace: str = DEFAULT_WORKSPACE) -> LockInfo:
    return new_lock("checking").at(store.location(workspace))


async def _locked(store: Store) -> LockInfo | None:
    """Who holds the lock; it is a fault if nobody does."""
    try:
        await store.lock(DEFAULT_WORKSPACE, _lock(store))
    except StateIsLocked as conflict:
        return conflict.holder
    raise AssertionError("a lock was taken that somebody else holds")


async def _not_unlocked(store: Store, wrong: str) -> None:
    try:
        await store.force_unlock(DEFAULT_WORKSPACE, wrong)
    except (BackendFailure, NetFailure):
        await _locked(store)
        return
    raise AssertionError("a wrong ID was accepted")


async def _lock_at_last(store: Store) -> LockInfo:
    for _ in range(2000):
        try:
            return await store.lock(DEFAULT_WORKSPACE, _lock(store))
        except StateIsLocked:
            await asyncio.sleep(0.01)
    raise AssertionError("the lock was never free")


async def _refused(write: Awaitable[object]) -> None:
    try:
        await write
    except ContentChanged:
        return
    raise AssertionError("a content was replaced that is not the expected one")

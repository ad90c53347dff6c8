"""The keys of the backend `consul`: states, whole or in chunks, and their locks.

A value of Consul has a limit, so a large state is written in chunks under new keys before the key
of the state refers to them. A lock is a session that is renewed while it is held.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import json
from collections.abc import Sequence

from nigari.backends.locking import LockInfo, parse_lock
from nigari.backends.protocol import DEFAULT_WORKSPACE
from nigari.backends.store import (
    BackendFailure,
    Content,
    ContentChanged,
    StateIsLocked,
)
from nigari.backends.stores.consul.api import (
    LOCK_FLAGS,
    ConditionFailed,
    Consul,
    Server,
    TooLargeForOne,
    read_server,
)
from nigari.backends.stores.http_store import HttpStore
from nigari.clouds.arguments import Arguments
from nigari.diagnostics.secret_urls import hidden_url
from nigari.net.failures import NetFailure
from nigari.net.settings import Settings
from nigari.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_CHUNK: Final = 524288
_GZIP: Final = b"\x1f"
_RENEWED_EVERY: Final = 7.0
"""Seconds; a session ends after 15 without renewal."""
_TAKEN_AGAIN_AFTER: Final = 2.0
_WAIT: Final = 1.0
"""The time that who asks for a lock gives it to become free."""


@record
class _Chunks:
    """The place of a state that is too large for one key."""

    digest: str
    keys: tuple[str, ...]


def open_store(arguments: Arguments) -> ConsulStore:
    """The store that the arguments describe."""
    settings, server = read_server(arguments)
    return ConsulStore(
        settings,
        server,
        arguments.required("path"),
        is_compressed=arguments.flag("gzip"),
        has_locks=arguments.flag("lock", default=True),
    )


class ConsulStore(HttpStore):
    """The states in keys."""

    has_workspaces: Final = True

    def __init__(
        self,
        settings: Settings,
        server: Server,
        path: str,
        is_compressed: bool,
        has_locks: bool,
    ) -> None:
        super().__init__(settings)
        self._server = server
        self._path = path
        self._is_compressed = is_compressed
        self._has_locks = has_locks
        self._held: dict[str, _Held] = {}

    def location(self, workspace: str) -> str:
        return f"{hidden_url(self._server.url)} {self._key(workspace)}"

    def _key(self, workspace: str) -> str:
        return self._path if workspace == DEFAULT_WORKSPACE else f"{self._path}-env:{workspace}"

    @property
    def _consul(self) -> Consul:
        return Consul(self.client, self._server)

    async def close(self) -> None:
        for held in self._held.values():
            await held.stop()
        self._held.clear()
        await super().close()

    # -- contents -------------------------------------------------------------------------------

    async def names(self) -> Sequence[str]:
        prefix = f"{self._path}-env:"
        found = (key.removeprefix(prefix) for key in await self._consul.keys(prefix))
        return [name for name in found if "/" not in name]

    async def read(self, workspace: str) -> Content | None:
        consul, key = self._consul, self._key(workspace)
        pair = await consul.get(key)
        if pair is None:
            return None
        data, chunks = pair.value, _chunks_of(pair.value)
        if chunks is not None:
            data = b""
            for each in chunks.keys:
                part = await consul.get(each)
                if part is None:
                    raise BackendFailure(f"The key {each}, a part of the state, is missing.")
                data += part.value
        if data.startswith(_GZIP):
            data = gzip.decompress(data)
        if chunks is not None and hashlib.md5(data).hexdigest() != chunks.digest:
            raise BackendFailure("The parts of the state do not have the expected checksum.")
        return Content(data, str(pair.index))

    async def write(self, workspace: str, data: bytes, expected: str | None) -> str | None:
        consul, key = self._consul, self._key(workspace)
        before = await consul.get(key)
        index = None if expected is None else int(expected or 0)
        if expected is not None and (0 if before is None else before.index) != index:
            return await self._settle(workspace, data)
        payload = gzip.compress(data) if self._is_compressed else data
        try:
            try:
                stored = await consul.store(key, payload, index)
            except TooLargeForOne:
                link = await self._put_chunks(key, data, payload)
                stored = await consul.store(key, link, index)
        except ConditionFailed:
            return await self._settle(workspace, data)
        old = None if before is None else _chunks_of(before.value)
        if old is not None and old.digest != hashlib.md5(data).hexdigest():
            with contextlib.suppress(NetFailure):
                await consul.delete(f"{key.rstrip('/')}/tfstate.{old.digest}/", recurse="")
        return str(stored)

    async def _put_chunks(self, key: str, data: bytes, payload: bytes) -> bytes:
        digest = hashlib.md5(data).hexdigest()
        keys: list[str] = []
        for number, start in enumerate(range(0, len(payload), _CHUNK)):
            keys.append(f"{key.rstrip('/')}/tfstate.{digest}/{number}")
            await self._consul.put(keys[-1], payload[start : start + _CHUNK])
        return json.dumps({"chunks": keys, "current-hash": digest}, separators=(",", ":")).encode()

    async def _settle(self, workspace: str, data: bytes) -> str | None:
        """A write was refused. It may be ours, made by an attempt whose answer was lost."""
        found = await self.read(workspace)
        if found is None or found.data != data:
            raise ContentChanged(
                "Another run has changed the state since it was read, so it was not replaced."
            )
        return found.version

    async def delete(self, workspace: str) -> None:
        consul, key = self._consul, self._key(workspace)
        before = await consul.get(key)
        chunks = None if before is None else _chunks_of(before.value)
        await consul.delete(key)
        if chunks is not None:
            await consul.delete(f"{key.rstrip('/')}/tfstate.{chunks.digest}/", recurse="")

    # -- locks ----------------------------------------------------------------------------------

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        if not self._has_locks:
            return info
        consul, key = self._consul, self._key(workspace).rstrip("/")
        session = await consul.new_session()
        held = _Held(consul, key, replace(info, id=session, path=self._key(workspace)))
        try:
            if not await held.take():
                found = await consul.get(f"{key}/.lockinfo")
                raise StateIsLocked(None if found is None else parse_lock(found.value))
        except BaseException:
            await consul.end_session(session)
            raise
        held.begin()
        self._held[workspace] = held
        return held.info

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        held = self._held.pop(workspace, None)
        if held is None:
            return
        await held.stop()
        await held.release()

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        consul, key = self._consul, self._key(workspace).rstrip("/")
        found = await consul.get(f"{key}/.lockinfo")
        holder = None if found is None else parse_lock(found.value)
        if holder is None or holder.id != lock_id:
            raise BackendFailure(
                "The state is not locked."
                if holder is None
                else f'The state is locked with another ID, "{holder.id}".'
            )
        await consul.end_session(lock_id)
        await consul.delete(f"{key}/.lock")
        await consul.delete(f"{key}/.lockinfo")


class _Held:
    """A lock whose session is kept alive, and which is taken again if it gets lost."""

    def __init__(self, consul: Consul, key: str, info: LockInfo) -> None:
        self._consul = consul
        self._key = key
        self.info = replace(info, info=f"consul session: {info.id}")
        self._is_lost = False
        self._task: asyncio.Task[None] | None = None

    async def take(self) -> bool:
        """Try to take the lock."""
        taken = await self._acquire()
        if not taken and not await self._is_held():
            # It was released just now, and Consul delays the next lock.
            await asyncio.sleep(_WAIT)
            taken = await self._acquire()
        if taken:
            await self._consul.put(f"{self._key}/.lockinfo", self.info.to_bytes())
        return taken

    async def _acquire(self) -> bool:
        query = {"acquire": self.info.id, "flags": str(LOCK_FLAGS)}
        return await self._consul.put(f"{self._key}/.lock", b"", **query)

    async def _is_held(self) -> bool:
        found = await self._consul.get(f"{self._key}/.lock")
        return found is not None and bool(found.session)

    def begin(self) -> None:
        """Keep the session alive from now on."""
        self._task = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait((task,))

    async def release(self) -> None:
        """Give the lock back."""
        consul, session = self._consul, self.info.id
        found = await consul.get(f"{self._key}/.lock")
        is_ours = found is not None and found.session == session
        try:
            if is_ours:
                await consul.delete(f"{self._key}/.lockinfo")
                await consul.put(f"{self._key}/.lock", b"", release=session, flags=str(LOCK_FLAGS))
                free = await consul.get(f"{self._key}/.lock")
                if free is not None and not free.session:
                    await consul.delete(f"{self._key}/.lock", cas=str(free.index))
        finally:
            await consul.end_session(session)
        if not is_ours or self._is_lost:
            raise BackendFailure("The lock was lost while it was held.")

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(_TAKEN_AGAIN_AFTER if self._is_lost else _RENEWED_EVERY)
            with contextlib.suppress(NetFailure, BackendFailure):
                if not await self._consul.renew(self.info.id):
                    self._is_lost = True
                    session = await self._consul.new_session()
                    lost, self.info = self.info, _with_session(self.info, session)
                    if not await self.take():
                        await self._consul.end_session(session)
                        self.info = lost


def _with_session(info: LockInfo, session: str) -> LockInfo:
    return replace(info, id=session, info=f"consul session: {session}")


def _chunks_of(value: bytes) -> _Chunks | None:
    """The parts that a value names, if it is not the state itself."""
    if not value.startswith(b"{"):
        return None
    try:
        document = json.loads(value)
    except ValueError:
        return None
    if not isinstance(document, dict) or "current-hash" not in document:
        return None
    return _Chunks(str(document["current-hash"]), tuple(map(str, document.get("chunks") or ())))

"""Remote backends: everything that they share, above their stores.

Failures become diagnostics here, the version of what was read is the condition of what is written,
and connections are open while something is done or a lock is held. What a state is, is not known.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

from nigari.backends.locking import LockConflict, LockInfo, report_wrong_lock
from nigari.backends.protocol import DEFAULT_WORKSPACE, default_workspace_stays
from nigari.backends.store import (
    ABSENT,
    BackendFailure,
    ContentChanged,
    StateIsLocked,
    StateViewer,
    Store,
    WorkspaceHost,
)
from nigari.clouds.failures import CloudFailure
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.net.failures import NetFailure

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from typing import Final

_PAUSE_VARIABLE: Final = "TF_STATE_PERSIST_INTERVAL"
_SHORTEST_PAUSE: Final = 20.0


def pause_between(environ: Mapping[str, str]) -> float:
    """The seconds between two writes during an apply; less than 20 is too much for a server."""
    given = environ.get(_PAUSE_VARIABLE, "")
    asked = float(given) if given.isascii() and given.isdigit() else 0.0
    return max(asked, _SHORTEST_PAUSE)


class RemoteBackend:
    """The states in a store."""

    def __init__(self, type_: str, store: Store, environ: Mapping[str, str]) -> None:
        self.type = type_
        self.store = store
        self.host: WorkspaceHost | None = store if isinstance(store, WorkspaceHost) else None
        """The same store, if workspaces exist in it on their own."""
        self._pause = pause_between(environ)
        self.has_workspaces: bool = store.has_workspaces
        self.keeps_empty_states: bool = store.has_workspaces and self.host is None
        self._users = 0
        self._opening: asyncio.Lock | None = None
        self._storages: dict[str, RemoteStorage] = {}

    @property
    def pause_between(self) -> float:
        """The seconds between two writes during an apply."""
        return self._pause if self.host is None else max(self._pause, self.host.pause_between)

    @property
    def has_default(self) -> bool:
        return self.host is None or not self.host.objection(DEFAULT_WORKSPACE)

    async def workspaces(self, diags: Diagnostics) -> Sequence[str]:
        """The default workspace and those that have a state; with a host, those that it has."""
        found: Sequence[str] = ()
        if self.store.has_workspaces or self.host is not None:
            with _Attempt("Cannot list the workspaces", self.type, diags):
                async with self.connected():
                    found = await self.store.names()
        others = sorted(set(found) - {DEFAULT_WORKSPACE})
        has_default = self.host is None or DEFAULT_WORKSPACE in found
        return (DEFAULT_WORKSPACE, *others) if has_default else others

    async def create_workspace(self, name: str, diags: Diagnostics) -> bool:
        """Create a workspace if necessary. Without a host, storing a state creates it."""
        if not self.can_have(name, diags):
            return False
        if self.host is None:
            return True
        with _Attempt("Cannot create the workspace", self.store.location(name), diags) as attempt:
            async with self.connected():
                await self.host.create(name)
        return attempt.succeeded

    async def delete_workspace(
        self, name: str, diags: Diagnostics, is_forced: bool = False
    ) -> bool:
        """Delete the state of a workspace; a host may look whether it is in use."""
        if name == DEFAULT_WORKSPACE:
            diags.append(default_workspace_stays())
            return False
        if not self.can_have(name, diags):
            return False
        self._storages.pop(name, None)
        with _Attempt("Cannot delete the workspace", self.store.location(name), diags) as attempt:
            async with self.connected():
                if self.host is None or is_forced:
                    await self.store.delete(name)
                else:
                    await self.host.delete_unused(name)
        return attempt.succeeded

    def storage(self, workspace: str) -> RemoteStorage:
        """The state of a workspace; one object for each, because it holds the lock."""
        known = self._storages.get(workspace)
        if known is None:
            known = self._storages[workspace] = RemoteStorage(self, workspace)
        return known

    def can_have(self, name: str, diags: Diagnostics) -> bool:
        """Return whether a workspace can have this name, and report it otherwise."""
        if self.host is not None:
            objection = self.host.objection(name)
            if objection:
                diags.error("Invalid workspace", objection)
            return not objection
        if name == DEFAULT_WORKSPACE or self.store.has_workspaces:
            return True
        diags.append(no_workspaces(self.type))
        return False

    # -- connections ----------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[Store]:
        """The store while it is connected."""
        await self.connect()
        try:
            yield self.store
        finally:
            await self.disconnect()

    async def connect(self) -> None:
        """Be connected until `disconnect` was called as often as this."""
        import asyncio

        # Up to here there need not be an event loop; who runs this makes one now.
        await asyncio.sleep(0)
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            if self._users == 0:
                await self.store.open()
            self._users += 1

    async def disconnect(self) -> None:
        self._users -= 1
        if self._users == 0:
            self._opening = None
            await self.store.close()


class RemoteStorage:
    """The state of one workspace in a store."""

    is_for_people: Final = True
    counts_all: Final = True
    is_copying: Final = False

    def __init__(self, backend: RemoteBackend, workspace: str) -> None:
        self._backend = backend
        self._workspace = workspace
        self._lock: LockInfo | None = None
        self._version: str | None = None
        """The version of the content that was last read or written, if that is known."""
        self.location: str = backend.store.location(workspace)
        self.is_outdated: bool = False
        """True if a conditional write was refused because the state has changed since it was read."""

    @property
    def pause_between(self) -> float:
        return self._backend.pause_between

    @property
    def describe(self) -> Callable[[str], None] | None:
        store, workspace = self._backend.store, self._workspace
        if not isinstance(store, StateViewer) or not store.shows_states:
            return None
        return lambda document: store.describe(workspace, document)

    async def admits(self, operation: str, diags: Diagnostics) -> bool:
        """Ask the host, if there is one."""
        host = self._backend.host
        if host is None:
            return True
        with _Attempt("Cannot run here", self.location, diags) as attempt:
            async with self._backend.connected():
                await host.admit(self._workspace, operation)
        return attempt.succeeded

    async def read(self, diags: Diagnostics) -> bytes | None:
        """The newest content."""
        if not self._is_possible(diags):
            return None
        with _Attempt("Cannot read the state", self.location, diags):
            async with self._backend.connected() as store:
                content = await store.read(self._workspace)
            self._version = ABSENT if content is None else content.version
            return b"" if content is None else content.data
        return None

    async def write(self, data: bytes, diags: Diagnostics) -> bool:
        """Replace the content, unless it has changed since it was read."""
        if not self._is_possible(diags):
            return False
        with _Attempt("State not saved", self.location, diags) as attempt:
            async with self._backend.connected() as store:
                try:
                    self._version = await store.write(self._workspace, data, self._version)
                except ContentChanged:
                    self.is_outdated = True
                    raise
        return attempt.succeeded

    async def write_between(self, data: bytes, lasting: bool, diags: Diagnostics) -> bool:
        """Replace the content for a while."""
        return await self.write(data, diags)

    async def write_backup(self, data: bytes, diags: Diagnostics) -> bool:
        """Do nothing: old versions are the business of the store."""
        return True

    async def lock(self, info: LockInfo, diags: Diagnostics) -> LockInfo | LockConflict | None:
        """Lock the state, and stay connected until it is unlocked."""
        if not self._is_possible(diags):
            return None
        with _Attempt("Cannot lock the state", self.location, diags):
            await self._backend.connect()
            try:
                self._lock = await self._backend.store.lock(self._workspace, info.at(self.location))
                return self._lock
            except StateIsLocked as conflict:
                return LockConflict(conflict.holder)
            finally:
                if self._lock is None:
                    await self._backend.disconnect()
        return None

    async def unlock(self, lock_id: str, diags: Diagnostics) -> bool:
        """Give back the lock."""
        held = self._lock
        if held is None or held.id != lock_id:
            report_wrong_lock(lock_id, "" if held is None else held.id, diags)
            return False
        self._lock = None
        with _Attempt("Cannot unlock the state", self.location, diags) as attempt:
            try:
                await self._backend.store.unlock(self._workspace, held)
            finally:
                await self._backend.disconnect()
        return attempt.succeeded

    async def force_unlock(self, lock_id: str, diags: Diagnostics) -> bool:
        """Remove the lock of another process."""
        if not self._is_possible(diags):
            return False
        with _Attempt("Cannot unlock the state", self.location, diags) as attempt:
            async with self._backend.connected() as store:
                await store.force_unlock(self._workspace, lock_id)
        return attempt.succeeded

    def _is_possible(self, diags: Diagnostics) -> bool:
        return self._backend.can_have(self._workspace, diags)


class _Attempt:
    """Reports a failure of what is done inside, which is over then."""

    def __init__(self, summary: str, where: str, diags: Diagnostics) -> None:
        self._summary = summary
        self._where = where
        self._diags = diags
        self.succeeded = False

    def __enter__(self) -> _Attempt:
        return self

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> bool:
        if isinstance(error, BackendFailure | CloudFailure | NetFailure):
            self._diags.error(self._summary, f"{self._where}: {error.text}")
            return True
        self.succeeded = error is None
        return False


def no_workspaces(type_: str) -> Diagnostic:
    """Another workspace than the default one, where there can be none."""
    return Diagnostic(
        Severity.ERROR,
        "Backend has no workspaces",
        f'The backend "{type_}" stores one state only, that of the workspace '
        f'"{DEFAULT_WORKSPACE}". Use another backend for several workspaces, or select '
        f'"{DEFAULT_WORKSPACE}".',
    )

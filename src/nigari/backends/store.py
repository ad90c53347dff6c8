"""The interface of a remote backend: contents by workspace, and locks on them. Nothing else.

A store keeps bytes and knows nothing of states. It raises a `BackendFailure` (or the network's
`NetFailure`) with sentences for people, and `StateIsLocked` if another process has the lock.
Everything that all of them share is in `nigari.backends.remote`, which works over any store:
connections are opened and closed there, failures become diagnostics, versions are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

from nigari.backends.locking import LockInfo
from nigari.record import record

ABSENT: Final = ""
"""The version of a content that must not exist."""


class BackendFailure(Exception):
    """A failed backend operation; its text says what failed, why, and what to do."""

    @property
    def text(self) -> str:
        """Summary and detail, for people."""
        return str(self)


class ContentChanged(BackendFailure):
    """A write was refused because the stored content is not the one that was read."""


class StateIsLocked(Exception):
    """Another process holds the lock; `None` for an unknown holder."""

    def __init__(self, holder: LockInfo | None) -> None:
        super().__init__()
        self.holder = holder


@record
class Content:
    """The stored content of a workspace."""

    data: bytes
    version: str | None = None
    """Something that is different after every write; `None` where a store has no such thing."""


class Store(Protocol):
    """A place for contents. It is used by one event loop at a time, between `open` and `close`."""

    @property
    def has_workspaces(self) -> bool:
        """Return whether workspaces other than the default one can exist."""
        ...

    def location(self, workspace: str) -> str:
        """The location of a workspace's content, for people to read."""
        ...

    async def open(self) -> None:
        """Connect."""
        ...

    async def close(self) -> None:
        """Disconnect; remaining locks may stay in place."""
        ...

    async def names(self) -> Sequence[str]:
        """The workspaces that have a content, in any order."""
        ...

    async def read(self, workspace: str) -> Content | None:
        """The newest content, `None` if there is none."""
        ...

    async def write(self, workspace: str, data: bytes, expected: str | None) -> str | None:
        """Replace the content, and return its new version.

        If `expected` is a version, and the store can tell, only a content of this version is
        replaced; a `ContentChanged` says that there is another one. `ABSENT` means none at all.
        """
        ...

    async def delete(self, workspace: str) -> None:
        """Remove the content; not an error if there is none."""
        ...

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        """Take the lock, and return it as stored: a store may choose its own IDs."""
        ...

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        """Release a lock that `lock` returned."""
        ...

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        """Remove a lock that another process holds."""
        ...


@runtime_checkable
class WorkspaceHost(Protocol):
    """Additional methods of a store whose workspaces exist independently of their content.

    `names` returns all existing workspaces; the default one need not be among them.
    """

    @property
    def pause_between(self) -> float:
        """The seconds that the host wants between two contents of one run."""
        ...

    def objection(self, workspace: str) -> str:
        """The reason for which there cannot be a workspace of this name, in sentences; empty if
        there can.
        """
        ...

    async def create(self, workspace: str) -> None:
        """Make a workspace, if there is not one already."""
        ...

    async def delete_unused(self, workspace: str) -> None:
        """Delete a workspace, unless the host finds that it is still used."""
        ...

    async def admit(self, workspace: str, operation: str) -> None:
        """Raise a `BackendFailure` if an operation must not run on this machine."""
        ...


@runtime_checkable
class StateViewer(Protocol):
    """The further methods of a store that shows states to people."""

    @property
    def shows_states(self) -> bool:
        """Return whether `describe` is useful."""
        ...

    def describe(self, workspace: str, document: str) -> None:
        """Take the document that `show -json` prints of the content that is written next."""
        ...

"""The protocol of backends: they store named states as bytes, and lock them. Nothing else.

What the bytes mean (encryption, serial, lineage) is the business of `nigari.backends.snapshots`,
which works over any backend. Every operation reports its failures and returns a plain answer, so
that a network backend and a file look the same to everything above. There are two: files
(`nigari.backends.local`), and whatever implements the smaller `nigari.backends.store.Store`
(`nigari.backends.remote`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from nigari.backends.locking import LockConflict, LockInfo
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.record import record
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Final


DEFAULT_WORKSPACE: Final = "default"


@record
class Around:
    """The surroundings of a backend."""

    directory: str | os.PathLike[str]
    environ: Mapping[str, str]


class StateStorage(Protocol):
    """One stored state."""

    @property
    def location(self) -> str:
        """The location of the state, for people to read."""
        ...

    @property
    def is_for_people(self) -> bool:
        """Return whether the stored state should be formatted for people."""
        ...

    @property
    def is_copying(self) -> bool:
        """Return whether the next write goes to another location than the one that was read."""
        ...

    @property
    def is_outdated(self) -> bool:
        """Return whether a conditional write was refused because the state has changed since it was
        read.
        """
        ...

    @property
    def counts_all(self) -> bool:
        """Return whether each write needs a new serial, because servers and other readers compare
        serials.
        """
        ...

    @property
    def pause_between(self) -> float:
        """The seconds that should lie between two uses of `write_between`."""
        ...

    @property
    def describe(self) -> Callable[[str], None] | None:
        """Takes the document that `show -json` prints of the data that is written next; None where
        no service shows states.
        """
        ...

    async def admits(self, operation: str, diags: Diagnostics) -> bool:
        """Return whether an operation may run on this machine, and report it otherwise."""
        ...

    async def read(self, diags: Diagnostics) -> bytes | None:
        """Return the stored content: `b""` if nothing was ever stored, None after an error."""
        ...

    async def write(self, data: bytes, diags: Diagnostics) -> bool:
        """Store the data so that a later read gives it, or what was stored before, whole."""
        ...

    async def write_between(self, data: bytes, lasting: bool, diags: Diagnostics) -> bool:
        """Store data that is soon replaced by other data, at the latest by that of `write`.

        It must survive the end of this process and, if it is lasting, that of the machine.
        """
        ...

    async def write_backup(self, data: bytes, diags: Diagnostics) -> bool:
        """Keep the data beside the state, where a person can find it; may do nothing.

        It is what the next write replaces; where that goes to another place than the one that was
        read, what is in that place is kept instead.
        """
        ...

    async def lock(self, info: LockInfo, diags: Diagnostics) -> LockInfo | LockConflict | None:
        """Take the lock, or say who holds it, or report why neither can be done."""
        ...

    async def unlock(self, lock_id: str, diags: Diagnostics) -> bool:
        """Give back the lock that was taken with this id."""
        ...

    async def force_unlock(self, lock_id: str, diags: Diagnostics) -> bool:
        """Remove a lock that another process left behind."""
        ...


class Backend(Protocol):
    """A place with a state for each workspace."""

    @property
    def has_workspaces(self) -> bool:
        """Return whether workspaces other than the default one can exist."""
        ...

    @property
    def has_default(self) -> bool:
        """Return whether a default workspace always exists."""
        ...

    @property
    def keeps_empty_states(self) -> bool:
        """Return whether a workspace exists only once a state is stored in it, even an empty one."""
        ...

    async def workspaces(self, diags: Diagnostics) -> Sequence[str]:
        """The names of the workspaces, the default one first."""
        ...

    async def create_workspace(self, name: str, diags: Diagnostics) -> bool:
        """Make a workspace, if there is not one already."""
        ...

    async def delete_workspace(
        self, name: str, diags: Diagnostics, is_forced: bool = False
    ) -> bool:
        """Delete a workspace with its state; if that is forced, also one that is in use."""
        ...

    def storage(self, workspace: str) -> StateStorage:
        """The state of a workspace."""
        ...


def default_workspace_stays() -> Diagnostic:
    """An attempt to delete the default workspace."""
    return Diagnostic(
        Severity.ERROR,
        "Cannot delete the default workspace",
        f'The workspace "{DEFAULT_WORKSPACE}" always exists.',
    )

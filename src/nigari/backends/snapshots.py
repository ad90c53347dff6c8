"""State files in a backend: encryption, serial and lineage, backups, and the lock around them.

This is what commands use to read and write a state wherever it is stored. It knows no particular
backend, and nothing of why a state changes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nigari.backends.lock_options import LockOptions
from nigari.backends.locking import (
    LockConflict,
    LockInfo,
    is_left_behind,
    new_lock,
    state_is_locked,
    wait_for_lock,
)
from nigari.backends.protocol import StateStorage
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.diagnostics.advice import advice
from nigari.hcl.quoting import quoted
from nigari.record import replace
from nigari.state.encryption import StateLayer
from nigari.version import OPENTOFU_VERSION

TYPE_CHECKING = False
# A place without a state needs no state model.
if TYPE_CHECKING:
    from nigari.state.formats.write_v4 import Writer
    from nigari.state.model import State, StateFile

Document = Callable[["StateFile"], Awaitable[str | None]]
"""Gives what `show -json` prints of a snapshot; None where that cannot be found out."""


class Snapshots:
    """The snapshots of one state: the newest one, and how to add the next."""

    __slots__ = (
        "_backed_up",
        "_between",
        "_encryption",
        "_lock",
        "_is_settled",
        "_missing",
        "_new_lineage",
        "_storage",
        "_was_read",
        "_writer",
        "document",
        "file",
    )

    def __init__(
        self, storage: StateStorage, encryption: StateLayer, missing: Diagnostic | None = None
    ) -> None:
        """`missing` is what to report if nothing is stored; without it, a first state is created."""
        self._storage = storage
        self._encryption = encryption
        self._missing = missing
        self._lock: LockInfo | None = None
        self._was_read = False
        self._backed_up = False
        self._is_settled = True
        self._writer: Writer | None = None
        self._new_lineage = ""
        self._between: int | None = None
        """The serial of what `write_between` has stored, until `write` ends that."""
        self.file: StateFile | None = None
        """The newest snapshot that was read or written; `None` if there is none."""
        self.document: Document | None = None
        """Gives the document that `show -json` prints of a snapshot, for backends that show it."""

    @property
    def state(self) -> State:
        """The newest state; an empty one if nothing was ever stored."""
        from nigari.state.model import EMPTY_STATE

        return EMPTY_STATE if self.file is None else self.file.state

    @property
    def lineage(self) -> str:
        """That of the newest snapshot, or of the first one to come. A write whose answer was lost
        may have stored it, so it stays the same however often the first write is tried.
        """
        if self.file is not None:
            return self.file.lineage
        self._new_lineage = self._new_lineage or new_lineage()
        return self._new_lineage

    @property
    def is_outdated(self) -> bool:
        """Return whether a conditional write was refused because the state has changed."""
        return self._storage.is_outdated

    @property
    def pause_between(self) -> float:
        """The seconds that should lie between two uses of `write_between`."""
        return self._storage.pause_between

    async def lock(
        self,
        operation: str,
        options: LockOptions,
        diags: Diagnostics,
        takes_over: bool = False,
    ) -> bool:
        """Take the lock for an operation, waiting as long as the options say.

        An operation that goes on where another of its kind was killed takes over the lock that it
        has left, if that was on this machine.
        """
        if not await self._storage.admits(operation, diags):
            return False
        if self._missing is not None and not await self.read(diags):
            # Even a lock would create something.
            return False
        if not options.is_wanted:
            return True
        wanted = new_lock(operation)

        async def take() -> LockInfo | LockConflict | None:
            answer = await self._storage.lock(wanted, diags)
            left = answer.holder if takes_over and isinstance(answer, LockConflict) else None
            if left is not None and left.operation == operation and is_left_behind(left):
                if await self._storage.force_unlock(left.id, Diagnostics()):
                    return await self._storage.lock(wanted, diags)
            return answer

        answer = await wait_for_lock(take, options.timeout_seconds)
        if isinstance(answer, LockConflict):
            diags.append(state_is_locked(answer, self._storage.location))
            return False
        self._lock = answer
        return answer is not None

    async def unlock(self, diags: Diagnostics) -> bool:
        """Give the lock back, if it was taken."""
        if self._lock is None:
            return True
        lock_id, self._lock = self._lock.id, None
        return await self._storage.unlock(lock_id, diags)

    async def begin(self, options: LockOptions, diags: Diagnostics) -> bool:
        """Store an empty state where there is none, by which a new workspace is known."""
        from nigari.state.model import EMPTY_STATE, StateFile

        if not await self.lock("init", options, diags):
            return False
        try:
            if not await self.read(diags):
                return False
            if self.file is not None:
                return True
            return await self._store(StateFile(EMPTY_STATE, self.lineage, 1), diags)
        finally:
            await self.unlock(diags)

    async def read(self, diags: Diagnostics) -> bool:
        """Read the newest snapshot; false after reporting why it cannot be read."""
        data = await self._storage.read(diags)
        if data is None:
            return False
        if not data:
            if self._missing is not None:
                diags.append(self._missing)
                return False
            self.file = None
            self._was_read = True
            return True
        decrypted = self._encryption.decrypt(data, diags)
        if decrypted is None:
            return False
        from nigari.state.files import parse_state

        file = parse_state(decrypted.data, diags, self._storage.location)
        if file is None:
            return False
        self.file = file
        self._is_settled = decrypted.is_as_configured
        self._was_read = True
        return True

    async def prepare_to_write(self, diags: Diagnostics) -> bool:
        """Make sure that nothing but the storage itself can prevent later writes."""
        return self._encryption.prepare(diags)

    async def write(self, state: State, diags: Diagnostics) -> bool:
        """Store a state as the next snapshot; the same state again keeps its serial."""
        file = await self._next(state, diags)
        if file is None:
            return False
        self._between = None
        if file is self.file and self._is_settled and not self._storage.is_copying:
            return True
        return await self._store(file, diags)

    async def write_between(self, state: State, lasting: bool, diags: Diagnostics) -> bool:
        """Store a state that is soon followed by another, at the latest by that of `write`."""
        file = await self._next(state, diags)
        if file is None:
            return False
        if file is self.file:
            return True
        data = self._encode(file, diags)
        await self._describe(file)
        if data is None or not await self._storage.write_between(data, lasting, diags):
            return False
        self.file = file
        self._is_settled = False
        # Only a reader without a lock could see more than one state of an apply.
        self._between = None if self._storage.counts_all else file.serial
        return True

    async def _next(self, state: State, diags: Diagnostics) -> StateFile | None:
        """The snapshot to be stored, with a backup of the one that it replaces."""
        from nigari.state.model import StateFile

        if not self._was_read and not await self.read(diags):
            return None
        state = state.to_be_stored()
        known = self.file
        if known is not None and known.state == state:
            return known
        if not await self._back_up(known, diags):
            return None
        if known is None:
            return StateFile(state, self.lineage, 1)
        serial = known.serial + 1 if self._between is None else self._between
        return replace(known, state=state, serial=serial)

    async def put(self, file: StateFile, force: bool, diags: Diagnostics) -> bool:
        """Store a snapshot that came from elsewhere, with its own serial and lineage."""
        if not self._was_read and not await self.read(diags):
            return False
        existing = self.file
        if existing is not None and not force:
            refusal = _why_not_successor(file, existing)
            if refusal is not None:
                diags.append(refusal)
                return False
        if existing is not None and existing.state != file.state:
            if not await self._back_up(existing, diags):
                return False
        return await self._store(file, diags)

    async def _back_up(self, file: StateFile | None, diags: Diagnostics) -> bool:
        """Keep the snapshot that the first write of this run replaces, if there is one."""
        if self._backed_up:
            return True
        data = b"" if file is None else self._encode(file, diags)
        if data is None or not await self._storage.write_backup(data, diags):
            return False
        self._backed_up = True
        return True

    async def _store(self, file: StateFile, diags: Diagnostics) -> bool:
        data = self._encode(file, diags)
        await self._describe(file)
        if data is None or not await self._storage.write(data, diags):
            return False
        self.file = file
        self._is_settled = True
        return True

    def _encode(self, file: StateFile, diags: Diagnostics) -> bytes | None:
        for_people = self._storage.is_for_people
        is_encrypting = self._encryption.is_encrypting
        if self._writer is None:
            from nigari.state.formats.write_v4 import Writer

            self._writer = Writer(for_people and not is_encrypting)
        plain = self._writer.write(file)
        if not is_encrypting:
            return plain
        data = self._encryption.encrypt(plain, file.serial, file.lineage, diags)
        if data is None or not for_people:
            return data
        from nigari.state.json_text import indented

        return indented(data.decode()).encode() + b"\n"

    async def _describe(self, file: StateFile) -> None:
        """Give the document of a state to who shows it, unless it must not be read there."""
        describe = self._storage.describe
        if describe is None or self.document is None or self._encryption.is_encrypting:
            return
        document = await self.document(replace(file, version=OPENTOFU_VERSION))
        if document is not None:
            describe(document)


def new_lineage() -> str:
    """A name that no other state has."""
    from nigari.lang.random_ids import random_uuid

    return random_uuid()


def _why_not_successor(new: StateFile, existing: StateFile) -> Diagnostic | None:
    """The reason for which a snapshot must not replace another, or `None` if it may."""
    if existing.state.is_empty or not new.lineage or not existing.lineage:
        return None
    if new.lineage != existing.lineage:
        return lineages_differ(new, existing)
    if new.serial < existing.serial:
        return serial_is_older(new, existing)
    if new.serial == existing.serial and new.state != existing.state:
        return serial_is_taken(new)
    return None


def lineages_differ(new: StateFile, existing: StateFile) -> Diagnostic:
    """A snapshot of another state."""
    return Diagnostic(
        Severity.ERROR,
        "Unrelated state",
        f"The given state has the lineage {quoted(new.lineage)}, and the stored one has "
        f"{quoted(existing.lineage)}: they are unrelated, so the stored state was not replaced. "
        f"Use {advice().option('-force')} to replace it anyway.",
    )


def serial_is_older(new: StateFile, existing: StateFile) -> Diagnostic:
    """A snapshot that is older than the stored one."""
    return Diagnostic(
        Severity.ERROR,
        "Older snapshot",
        f"The given state has the serial {new.serial}, and the stored one has {existing.serial}, "
        f"which is newer, so it was not replaced. Use {advice().option('-force')} to replace it anyway.",
    )


def serial_is_taken(new: StateFile) -> Diagnostic:
    """A snapshot that has the stored one's serial and is different."""
    return Diagnostic(
        Severity.ERROR,
        "Conflicting state",
        f"The given state and the stored state both have the serial {new.serial}, but they "
        f"differ, so the stored state was not replaced. Use {advice().option('-force')} to replace it "
        "anyway.",
    )

"""Moving the states of all workspaces from one backend to another.

States are moved as they are stored, byte for byte, so that their lineage, serial and encryption
stay. The old place keeps its states, except where that was no configured backend: a state file
that is not used any more would only confuse. Whatever interrupts it, each state is whole in the
old backend or in the new one, and another run goes on from there.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping

from nigari.backends.local import LocalStorage
from nigari.backends.lock_options import LockOptions
from nigari.backends.open_backend import open_backend
from nigari.backends.protocol import DEFAULT_WORKSPACE, Around, Backend, StateStorage
from nigari.backends.snapshots import Snapshots
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.record import record
from nigari.state.encryption import no_encryption
from nigari.workspace.states.backend import SavedBackend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

Confirm = Callable[[str], bool | None]
"""Prompts for yes or no; None if prompting is not possible."""
Decrypt = Callable[[bytes], bytes]
"""Decrypts a state; gives what it cannot decrypt as it is."""


def as_it_is(data: bytes) -> bytes:
    """A state where none is encrypted."""
    return data


@record
class Move:
    """From where to where states are to be moved."""

    source: SavedBackend
    target: SavedBackend
    empties_source: bool
    """True if the old location becomes empty."""


class Migration:
    """The work of moving states."""

    def __init__(
        self,
        move: Move,
        around: Around,
        selected: tuple[str, str],
        lock: LockOptions,
        confirm: Confirm | None,
        decrypt: Decrypt = as_it_is,
    ) -> None:
        """`selected` are the workspaces that are selected in the old and in the new backend. With
        no terminal, everything is confirmed.
        """
        self._move = move
        self._around = around
        self._selected, self._new_selected = selected
        self._lock = lock
        self._question = confirm
        self._decrypt = decrypt
        self.selection: str = self._new_selected
        """The workspace that is to be selected once everything is moved."""

    async def run(self, diags: Diagnostics) -> bool:
        """Move all states that there are; False after reporting why that cannot be."""
        source = self._open(self._move.source, diags)
        if source is None:
            return False
        states = await self._states(source, diags)
        if diags.has_errors or not states:
            return not diags.has_errors
        target = self._open(self._move.target, diags)
        if target is None:
            return False
        wanted = self._wanted(list(states), target, diags)
        missing = {
            old: new
            for old, new in wanted.items()
            if not diags.error_count
            and not self._is_same(states[old], await _content(target, new, diags))
        }
        if diags.error_count or (missing and not self._may_copy(list(missing), diags)):
            return not diags.error_count
        # What has arrived before may still have to be removed from where it was.
        pending = wanted if self._move.empties_source else missing
        for old, new in pending.items():
            if not await self._copy(old, new, source, target, diags):
                return False
        self.selection = wanted.get(self._selected, self._new_selected)
        return True

    async def has_states(self) -> bool:
        """Return whether there is anything to move, as far as it can be read."""
        source = self._open(self._move.source, Diagnostics())
        return source is not None and bool(await self._states(source, Diagnostics()))

    async def _states(self, source: Backend, diags: Diagnostics) -> dict[str, bytes]:
        """The states that are not empty, by workspace."""
        names = await source.workspaces(diags)
        states = {
            name: await _content(source, name, diags) for name in names if not diags.has_errors
        }
        return {name: data for name, data in states.items() if not self._is_empty(data)}

    def _is_empty(self, data: bytes) -> bool:
        return is_empty(self._decrypt(data))

    def _is_same(self, first: bytes, second: bytes) -> bool:
        return first == second or is_same(self._decrypt(first), self._decrypt(second))

    def _confirm(self, question: str) -> bool | None:
        return True if self._question is None else self._question(question)

    def _open(self, saved: SavedBackend, diags: Diagnostics) -> Backend | None:
        return open_backend(saved.type, saved.config, self._around, diags)

    def _wanted(self, names: list[str], target: Backend, diags: Diagnostics) -> Mapping[str, str]:
        """The workspaces to copy, and the names that they get.

        The default one becomes the selected one of a backend that has no default workspace.
        """
        default = DEFAULT_WORKSPACE if target.has_default else self._new_selected
        if target.has_workspaces or names == [DEFAULT_WORKSPACE]:
            return {name: default if name == DEFAULT_WORKSPACE else name for name in names}
        answer = self._confirm(
            "The new backend stores one state only, but the old backend has several workspaces: "
            f"{', '.join(names)}. Copy only the state of the selected workspace "
            f'"{self._selected}"? The others stay where they are.'
        )
        if answer is None:
            self._report_nobody(diags)
        elif not answer:
            _report_several(diags)
        return {self._selected: default} if self._selected in names else {}

    def _may_copy(self, names: list[str], diags: Diagnostics) -> bool:
        what = (
            f'the state of the workspace "{names[0]}"'
            if len(names) == 1
            else (f"the states of {len(names)} workspaces")
        )
        answer = self._confirm(
            f"The old backend has {what}. Copy {'it' if len(names) == 1 else 'them'} to the new "
            f"backend? If you answer no, {'the new backend starts empty' if len(names) == 1 else 'nothing is changed'}."
        )
        if answer is None:
            self._report_nobody(diags)
        elif not answer and len(names) > 1:
            _report_declined(diags)
        return bool(answer)

    def _report_nobody(self, diags: Diagnostics) -> None:
        words = advice()
        next_step = (
            f"Use {words.option('-force-copy')} to copy it without asking, or "
            f"{words.option('-reconfigure')} to leave it there."
        )
        if "cloud" in (self._move.source.type, self._move.target.type):
            next_step = 'Run "nigari init" at a terminal, and without -input=false.'
        diags.error(
            "No answer about moving the state",
            "The old backend has a state, and it is not known whether to copy it. " + next_step,
        )

    async def _copy(
        self, old_name: str, new_name: str, source: Backend, target: Backend, diags: Diagnostics
    ) -> bool:
        """Copy a state that has not arrived yet; where nothing is to be left behind, empty it."""
        old, new = source.storage(old_name), target.storage(new_name)
        if _is_one_file(old, new):
            return True
        if not await target.create_workspace(new_name, diags):
            return False
        # The new one is unlocked before the old one is emptied: who goes on after an interruption
        # finds that by the old one.
        async with self._locked(old, "migration source state", diags) as has_old:
            if not has_old:
                return False
            async with self._locked(new, "migration destination state", diags) as has_new:
                data = await self._replace(new_name, old, new, diags) if has_new else None
            if not data or not self._move.empties_source:
                return data is not None
            return await old.write_backup(data, diags) and await old.write(b"", diags)

    @contextlib.asynccontextmanager
    async def _locked(
        self, storage: StateStorage, operation: str, diags: Diagnostics
    ) -> AsyncIterator[bool]:
        """A state, locked against changes by others; False if it cannot be locked."""
        # Only the lock is used; the content does not matter here.
        snapshots = Snapshots(storage, no_encryption().state)
        if not await snapshots.lock(operation, self._lock, diags, takes_over=True):
            yield False
            return
        try:
            yield True
        finally:
            await snapshots.unlock(diags)

    async def _replace(
        self, name: str, old: StateStorage, new: StateStorage, diags: Diagnostics
    ) -> bytes | None:
        """Store a state in the new backend, if it is not there; what was stored, nothing where
        the user has declined, and None after reporting why it cannot be stored.
        """
        data, present = await old.read(diags), await new.read(diags)
        if data is None or present is None or self._is_same(data, present):
            return None if present is None else data
        if not self._is_empty(present):
            answer = self._may_replace(name, data, present, new.location)
            if answer is None:
                self._report_nobody(diags)
            if not answer:
                return None if answer is None else b""
            if not await new.write_backup(present, diags):
                return None
        return data if await new.write(data, diags) else None

    def _may_replace(self, name: str, data: bytes, present: bytes, location: str) -> bool | None:
        """Ask whether another state may be replaced; people can compare the two meanwhile."""
        if self._question is None:
            return True
        files = {
            f"1-{self._move.source.type}.tfstate": self._decrypt(data),
            f"2-{self._move.target.type}.tfstate": self._decrypt(present),
        }
        with _shown(files) as paths:
            return self._question(
                f'The new backend already has another state for the workspace "{name}", at '
                f"{location}. To compare them, see the old state in {paths[0]} and the one in the "
                f"new backend in {paths[1]}. Replace the one in the new backend?"
            )


@contextlib.contextmanager
def _shown(files: Mapping[str, bytes]) -> Iterator[list[str]]:
    """Files that only their owner can read, while this is open."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="nigari-init-") as directory:
        paths = []
        for name, data in files.items():
            paths.append(os.path.join(directory, name))
            with open(paths[-1], "wb") as file:
                file.write(data)
        yield paths


def _is_one_file(old: StateStorage, new: StateStorage) -> bool:
    """Return whether both are the same local file."""
    if not isinstance(old, LocalStorage) or not isinstance(new, LocalStorage):
        return False
    return os.path.realpath(old.path) == os.path.realpath(new.path)


async def _content(backend: Backend, name: str, diags: Diagnostics) -> bytes:
    return await backend.storage(name).read(diags) or b""


def _report_several(diags: Diagnostics) -> None:
    diags.error(
        "Several workspaces",
        "The new backend stores one state only, and the old one has several. Nothing was moved. "
        "Choose another backend, or leave the states where they are with "
        f"{advice().option('-reconfigure')}.",
    )


def _report_declined(diags: Diagnostics) -> None:
    diags.error(
        "States not moved",
        "The states of all workspaces are moved together or not at all, so init has changed nothing. "
        "To leave them where they are and use the new backend, run init with "
        f"{advice().option('-reconfigure')}.",
    )


_CONTENT: Final = ("lineage", "outputs", "resources", "check_results")


def is_empty(data: bytes) -> bool:
    """Return whether there is nothing worth moving.

    Unreadable content, such as an encrypted state, is worth moving.
    """
    try:
        state = json.loads(data or b"{}")
        return not state.get("encrypted_data") and not (
            state.get("resources") or state.get("outputs")
        )
    except (ValueError, AttributeError):
        return False


def is_same(first: bytes, second: bytes) -> bool:
    """Return whether two texts are the same state of the same lineage, regardless of layout, serial
    and program version.
    """
    try:
        one, other = json.loads(first or b"{}"), json.loads(second or b"{}")
        if one.get("encrypted_data") or other.get("encrypted_data") or not one.get("lineage"):
            return False
        return all((one.get(name) or None) == (other.get(name) or None) for name in _CONTENT)
    except (ValueError, AttributeError):
        return False

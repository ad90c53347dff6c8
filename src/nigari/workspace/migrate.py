"""Moving the states of all workspaces from one backend to another.

States are moved as they are stored, byte for byte, so that their lineage, serial and encryption
stay. The old place keeps its states, except where that was no configured backend: a state file
that nobody would look at any more only confuses.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

from nigari.backends.local import STATE_NAME, WORKSPACE_DIR, LocalBackend, LocalPaths
from nigari.backends.locking import LockOptions
from nigari.backends.protocol import Backend, StateStorage
from nigari.backends.snapshots import Snapshots
from nigari.diagnostics import Diagnostics
from nigari.record import record
from nigari.state.encryption import no_encryption
from nigari.workspace.backend import SavedBackend

DEFAULT_BACKEND: Final = SavedBackend("local", {}, 0)
"""Where states are without any backend in the configuration."""

Confirm = Callable[[str], bool | None]
"""Asks a question that is answered with yes or no; None where nobody can be asked."""


@record
class Move:
    """From where to where states are to be moved."""

    source: SavedBackend
    target: SavedBackend
    empties_source: bool
    """Whether nothing is left in the old place."""


def open_backend(saved: SavedBackend, directory: Path) -> LocalBackend | None:
    """The backend, if it is one that this program can store states in."""
    if saved.type != "local":
        return None
    config = saved.config
    return LocalBackend(
        directory,
        LocalPaths(
            str(config.get("path") or STATE_NAME), str(config.get("workspace_dir") or WORKSPACE_DIR)
        ),
    )


class Migration:
    """The work of moving states."""

    def __init__(
        self,
        move: Move,
        directory: Path,
        lock: LockOptions,
        confirm: Confirm,
    ) -> None:
        self._move = move
        self._lock = lock
        self._confirm = confirm
        self._source = open_backend(move.source, directory)
        self._target = open_backend(move.target, directory)

    async def run(self, diags: Diagnostics) -> bool:
        """Move all states that there are; False after reporting why that cannot be."""
        source, target = self._source, self._target
        if source is None:
            _report_no_storage(self._move.source, diags)
            return False
        names = [name for name in await source.workspaces(diags) if not diags.has_errors]
        states = {name: await _content(source, name, diags) for name in names}
        states = {name: data for name, data in states.items() if not _is_empty(data)}
        if diags.has_errors or not states:
            return not diags.has_errors
        if target is None:
            _report_no_storage(self._move.target, diags)
            return False
        states = {n: d for n, d in states.items() if not _is_same(source, target, n)}
        if not states:
            return True
        if not self._may_copy(list(states), diags):
            return not diags.has_errors
        for name, data in states.items():
            if not await self._copy(name, data, source, target, diags):
                return False
        return True

    def _may_copy(self, names: list[str], diags: Diagnostics) -> bool:
        what = (
            f'the state of the workspace "{names[0]}"'
            if len(names) == 1
            else (f"the states of {len(names)} workspaces")
        )
        answer = self._confirm(
            f"The old backend has {what}. Copy it to the new backend? If you answer no, the new "
            "backend starts empty."
        )
        if answer is None:
            _report_nobody(diags)
        return bool(answer)

    async def _copy(
        self, name: str, data: bytes, source: Backend, target: Backend, diags: Diagnostics
    ) -> bool:
        if not await target.create_workspace(name, diags):
            return False
        old, new = source.storage(name), target.storage(name)
        # Only their locks are used: what is in the states is nobody's affair here.
        locks = [Snapshots(each, no_encryption().state) for each in (old, new)]
        held: list[Snapshots] = []
        try:
            for each in locks:
                if not await each.lock("migrating the state", self._lock, diags):
                    return False
                held.append(each)
            return await self._replace(name, data, old, new, diags)
        finally:
            for each in held:
                await each.unlock(diags)

    async def _replace(
        self, name: str, data: bytes, old: StateStorage, new: StateStorage, diags: Diagnostics
    ) -> bool:
        present = await new.read(diags)
        if present is None:
            return False
        if present and present != data:
            answer = self._confirm(
                f'The new backend already has another state for the workspace "{name}", at '
                f"{new.location}. Replace it?"
            )
            if answer is None:
                _report_nobody(diags)
            if not answer:
                return answer is not None
            if not await new.write_backup(present, diags):
                return False
        if not await new.write(data, diags):
            return False
        if self._move.empties_source:
            return await old.write_backup(data, diags) and await old.write(b"", diags)
        return True


async def _content(backend: Backend, name: str, diags: Diagnostics) -> bytes:
    return await backend.storage(name).read(diags) or b""


def _is_empty(data: bytes) -> bool:
    """Whether there is nothing worth moving. What cannot be read, such as an encrypted state, is."""
    try:
        state = json.loads(data or b"{}")
        return not state.get("encrypted_data") and not (
            state.get("resources") or state.get("outputs")
        )
    except (ValueError, AttributeError):
        return False


def _is_same(source: LocalBackend, target: LocalBackend, name: str) -> bool:
    return source.storage(name).location == target.storage(name).location


def _report_no_storage(saved: SavedBackend, diags: Diagnostics) -> None:
    diags.error(
        "Cannot move the state",
        f'There is a state to move, but this program does not support the backend "{saved.type}" '
        'yet. Move the state with "tofu init -migrate-state", or leave it where it is with '
        '"nigari init -reconfigure".',
    )


def _report_nobody(diags: Diagnostics) -> None:
    diags.error(
        "No answer about moving the state",
        "The old backend has a state, and there is no terminal to ask whether to copy it. Use "
        "-force-copy to copy it without asking, or -reconfigure to leave it where it is.",
    )

"""Moving the states of all workspaces from one backend to another.

States are moved as they are stored, byte for byte, so that their lineage, serial and encryption
stay. The old place keeps its states, except where that was no configured backend: a state file
that nobody would look at any more only confuses.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from nigari.backends.locking import LockOptions
from nigari.backends.opening import Around, open_backend
from nigari.backends.protocol import DEFAULT_WORKSPACE, Backend, StateStorage
from nigari.backends.snapshots import Snapshots
from nigari.diagnostics import Diagnostics
from nigari.record import record
from nigari.state.encryption import no_encryption
from nigari.workspace.states.backend import SavedBackend

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


class Migration:
    """The work of moving states."""

    def __init__(
        self,
        move: Move,
        around: Around,
        selected: tuple[str, str],
        lock: LockOptions,
        confirm: Confirm,
    ) -> None:
        """`selected` are the workspaces that are selected in the old and in the new backend."""
        self._move = move
        self._around = around
        self._selected, self._new_selected = selected
        self._lock = lock
        self._confirm = confirm
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
        wanted = {
            old: new
            for old, new in wanted.items()
            if not diags.error_count and await _content(target, new, diags) != states[old]
        }
        if diags.error_count or not wanted or not self._may_copy(list(wanted), diags):
            return not diags.error_count
        for old, new in wanted.items():
            if not await self._copy(old, new, source, target, diags):
                return False
        self.selection = wanted.get(self._selected, self._new_selected)
        return True

    async def has_states(self) -> bool:
        """Whether there is anything to move, as far as it can be read."""
        source = self._open(self._move.source, Diagnostics())
        return source is not None and bool(await self._states(source, Diagnostics()))

    async def _states(self, source: Backend, diags: Diagnostics) -> dict[str, bytes]:
        """The states that are not empty, by workspace."""
        names = await source.workspaces(diags)
        states = {
            name: await _content(source, name, diags) for name in names if not diags.has_errors
        }
        return {name: data for name, data in states.items() if not _is_empty(data)}

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
            f"The old backend has {what}. Copy it to the new backend? If you answer no, the new "
            "backend starts empty."
        )
        if answer is None:
            self._report_nobody(diags)
        return bool(answer)

    def _report_nobody(self, diags: Diagnostics) -> None:
        advice = "Use -force-copy to copy it without asking, or -reconfigure to leave it there."
        if "cloud" in (self._move.source.type, self._move.target.type):
            advice = 'Run "nigari init" at a terminal, and without -input=false.'
        diags.error(
            "No answer about moving the state",
            "The old backend has a state, and there is no terminal to ask whether to copy it. "
            + advice,
        )

    async def _copy(
        self, old_name: str, new_name: str, source: Backend, target: Backend, diags: Diagnostics
    ) -> bool:
        if not await target.create_workspace(new_name, diags):
            return False
        old, new = source.storage(old_name), target.storage(new_name)
        # Only their locks are used: what is in the states is nobody's affair here.
        locks = {
            "migration source state": Snapshots(old, no_encryption().state),
            "migration destination state": Snapshots(new, no_encryption().state),
        }
        held: list[Snapshots] = []
        try:
            for operation, each in locks.items():
                if not await each.lock(operation, self._lock, diags):
                    return False
                held.append(each)
            return await self._replace(new_name, old, new, diags)
        finally:
            for each in held:
                await each.unlock(diags)

    async def _replace(
        self, name: str, old: StateStorage, new: StateStorage, diags: Diagnostics
    ) -> bool:
        data, present = await old.read(diags), await new.read(diags)
        if data is None or present is None:
            return False
        if not _is_empty(present) and present != data:
            answer = self._confirm(
                f'The new backend already has another state for the workspace "{name}", at '
                f"{new.location}. Replace it?"
            )
            if answer is None:
                self._report_nobody(diags)
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


def _report_several(diags: Diagnostics) -> None:
    diags.error(
        "Several workspaces",
        "The new backend stores one state only, and the old one has several. Nothing was moved. "
        "Choose another backend, or leave the states where they are with -reconfigure.",
    )

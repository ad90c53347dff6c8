"""The stored state of a working directory: its backend, its workspaces and its snapshots.

Connects what the working directory remembers (`.terraform`) and what a command line says with the
backends. How states are encrypted is decided by `nigari.workspace.states.encryption`; what is done to a
state, by commands.
"""

from __future__ import annotations

import os
import time

from nigari.backends.local import BACKUP_SUFFIX, LOCAL, LocalBackend, LocalPaths, LocalStorage
from nigari.backends.protocol import Backend
from nigari.backends.snapshots import Snapshots
from nigari.backends.workspaces import SelectedWorkspace
from nigari.diagnostics import Diagnostic, Diagnostics
from nigari.record import replace
from nigari.state.encryption import StateLayer, no_encryption
from nigari.workspace.context.options import NO_STATE_FILES, StateFiles
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Final

    from nigari.state.model import StateFile
    from nigari.workspace.states.backend import SavedBackend

_BACKEND_MEMORY: Final = "terraform.tfstate"


class WorkingState:
    """The states of a working directory."""

    def __init__(self, where: WorkingDirectory) -> None:
        self.where = where
        self._is_elsewhere = False
        self._elsewhere: SavedBackend | None = None
        self.missing: Diagnostic | None = None
        """The diagnostic for a missing state; None if one may be created."""

    def elsewhere(self, backend: SavedBackend | None) -> WorkingState:
        """The states in another backend than that of the last `init`: that of a plan, or of other
        variables. None is for the usual local file.
        """
        states = WorkingState(self.where)
        states._is_elsewhere, states._elsewhere = True, backend
        return states

    def existing(self, missing: Diagnostic | None) -> WorkingState:
        """The same states, if they exist; otherwise `missing` is reported."""
        states = WorkingState(self.where)
        states._is_elsewhere, states._elsewhere = self._is_elsewhere, self._elsewhere
        states.missing = missing
        return states

    @property
    def data_directory(self) -> Path:
        """Return the directory's data directory, for callers that can afford `pathlib`."""
        return self.where.data_directory

    @property
    def remembers_backend(self) -> bool:
        """Return whether `init` has saved a backend."""
        return os.path.exists(self.where.data(_BACKEND_MEMORY))

    def selected(self, diags: Diagnostics) -> SelectedWorkspace:
        """The workspace that commands work in."""
        return self.where.selected(diags)

    def backend(self, diags: Diagnostics, files: StateFiles = NO_STATE_FILES) -> Backend | None:
        """The configured backend, or `None` after reporting why it cannot be used."""
        problems = Diagnostics()
        saved = self.remembered_backend(problems)
        diags.extend(problems)
        if problems.has_errors:
            return None
        paths = LocalPaths()
        if saved is not None:
            from nigari.backends.local import local_paths
            from nigari.backends.open_backend import open_backend
            from nigari.backends.protocol import Around

            if saved.type != LOCAL:
                around = Around(self.where.path, self.where.environ)
                return open_backend(saved.type, saved.config, around, diags)
            paths = local_paths(saved.config)
        return LocalBackend(
            self.where.path,
            replace(paths, state=files.state, state_out=files.state_out, backup=files.backup),
        )

    def snapshots(
        self, encryption: StateLayer, diags: Diagnostics, files: StateFiles = NO_STATE_FILES
    ) -> Snapshots | None:
        """The snapshots of the selected workspace."""
        backend = self.backend(diags, files)
        selected = self.selected(diags)
        if backend is None or diags.has_errors:
            return None
        return Snapshots(backend.storage(selected.name), encryption, self.missing)

    def edited_snapshots(
        self, encryption: StateLayer, diags: Diagnostics, files: StateFiles = NO_STATE_FILES
    ) -> Snapshots | None:
        """The snapshots for a command that edits them: each run gets a backup of its own.

        A file that the command line names is never encrypted.
        """
        if files.state:
            backup = files.backup if files.backup not in ("", "-") else _dated(files.state)
            storage = LocalStorage(self.where.path, files.state, files.state, backup)
            return Snapshots(storage, no_encryption().state)
        backend = self.backend(diags)
        if backend is None:
            return None
        backup = files.backup
        if backup in ("", "-") and isinstance(backend, LocalBackend):
            backup = _dated(backend.storage(self.selected(diags).name).location)
        return self.snapshots(encryption, diags, StateFiles(backup=backup))

    def remembered_backend(self, diags: Diagnostics) -> SavedBackend | None:
        """Return the backend that the last `init` saved, or its replacement."""
        if self._is_elsewhere or not self.remembers_backend:
            return self._elsewhere
        from nigari.workspace.states.backend import BackendMemory

        return BackendMemory(self.where.data()).load(diags)


def read_state_file(path: str, encryption: StateLayer, diags: Diagnostics) -> StateFile | None:
    """A state file that was given by name."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        diags.error("Cannot read the state file", f"{path}: {error.strerror or error}.")
        return None
    return parse_given_state(data, path, encryption, diags)


def parse_given_state(
    data: bytes, name: str, encryption: StateLayer, diags: Diagnostics
) -> StateFile | None:
    """A state that was given as bytes. It need not be encrypted, even where a stored state must
    be: it may come from another place.
    """
    if not data.strip():
        diags.error("Empty state file", f"{name} is empty, so it is not a state.")
        return None
    from nigari.state.encryption.envelope import is_encrypted
    from nigari.state.files import parse_state

    layer = encryption if is_encrypted(data) else no_encryption().state
    decrypted = layer.decrypt(data, diags)
    if decrypted is None:
        return None
    return parse_state(decrypted.data, diags, name)


def _dated(path: str) -> str:
    return f"{path}.{int(time.time())}{BACKUP_SUFFIX}"

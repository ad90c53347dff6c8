"""Workspaces: which one is selected, and making, selecting and deleting them.

The selection is a file of the data directory that OpenTofu shares, unless `TF_WORKSPACE` says
otherwise. Where a workspace's state is stored is its backend's matter.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from nigari.backends.disk import below, write_beside
from nigari.backends.local import file_problem
from nigari.backends.lock_options import LockOptions
from nigari.backends.protocol import DEFAULT_WORKSPACE, Backend
from nigari.backends.snapshots import Snapshots
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.diagnostics.advice import advice
from nigari.hcl.quoting import quoted
from nigari.record import record
from nigari.state.encryption import StateLayer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


ENVIRONMENT_VARIABLE: Final = "TF_WORKSPACE"
_SELECTION_FILE: Final = "environment"
_KNOWN_FILE: Final = "nigari.workspaces"
_IN_NAMES: Final = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~$&+:=@"
)


@record
class SelectedWorkspace:
    """The selected workspace."""

    name: str
    set_by: str = ""
    """The source that selects the workspace, so that it cannot be changed here; empty if there is
    none.
    """


def selected_workspace(
    data_directory: str | os.PathLike[str], environ: Mapping[str, str], diags: Diagnostics
) -> SelectedWorkspace:
    """The workspace that commands work in."""
    override = environ.get(ENVIRONMENT_VARIABLE, "")
    if override:
        if not is_valid_name(override):
            diags.append(invalid_name(override, ENVIRONMENT_VARIABLE))
        return SelectedWorkspace(override, f"The environment variable {ENVIRONMENT_VARIABLE}")
    path = below(data_directory, _SELECTION_FILE)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            name = file.read().strip()
    except FileNotFoundError:
        name = ""
    except OSError as error:
        diags.append(file_problem("selected workspace", path, error))
        name = ""
    if name and not is_valid_name(name):
        diags.append(invalid_name(name, f"the file {path}"))
        name = ""
    return SelectedWorkspace(name or DEFAULT_WORKSPACE)


def remember_selection(
    data_directory: str | os.PathLike[str], name: str, diags: Diagnostics
) -> bool:
    """Make a workspace the selected one."""
    path = below(data_directory, _SELECTION_FILE)
    try:
        write_beside(path, name.encode(), 0o644)
    except OSError as error:
        diags.append(file_problem("selected workspace", path, error))
        return False
    return True


def is_valid_name(name: str) -> bool:
    """Return whether a workspace may have this name.

    It must be usable unchanged in a path and a URL.
    """
    return name not in ("", ".", "..") and _IN_NAMES.issuperset(name)


@record
class WorkspaceStates:
    """The location of a workspace's state, and its encryption."""

    backend: Backend
    encryption: Callable[[], StateLayer]


def _ignore(_: str) -> None:
    """The place for locations that are not remembered."""


@record
class Workspaces:
    """The workspaces of a working directory."""

    backend: Backend
    """The backend of the selected workspace."""
    data_directory: str | os.PathLike[str]
    selected: Callable[[Diagnostics], SelectedWorkspace]
    """Finds the workspace that commands work in."""
    open: Callable[[str], WorkspaceStates | None]
    """Finds the states of a workspace by its name; None after reporting why it cannot."""
    are_apart: bool = False
    """True if each workspace may have a backend of its own."""
    set_up: Callable[[str], None] = _ignore
    """Called with a workspace that was created or is selected, before that is remembered."""
    take_down: Callable[[str], None] = _ignore
    """Called with a workspace that was deleted. Both raise an `OSError` where they cannot write."""

    async def names(self, diags: Diagnostics) -> Sequence[str]:
        """All names, the default one first.

        No backend can list workspaces that others store: those that were used here are remembered.
        """
        names = await self.backend.workspaces(diags)
        others = [name for name in self._known() if name not in names]
        found = [name for name in others if name in await self._names_at(name, diags)]
        return names if not found else (names[0], *sorted((*names[1:], *found)))

    async def _names_at(self, name: str, diags: Diagnostics) -> Sequence[str]:
        """The names of the workspaces that the backend of a workspace has."""
        states = self.open(name)
        return () if states is None else await states.backend.workspaces(diags)

    async def create(self, name: str, lock: LockOptions, diags: Diagnostics) -> bool:
        """Create a workspace and select it."""
        selected = self.selected(diags)
        if selected.name != name and not self._may_change(name, diags):
            return False
        if not is_valid_name(name):
            diags.append(invalid_name(name, "the command line"))
            return False
        states = self.open(name)
        if states is None:
            return False
        if name in await states.backend.workspaces(diags):
            diags.append(name_is_taken(name))
            return False
        if diags.has_errors or not await states.backend.create_workspace(name, diags):
            return False
        if states.backend.keeps_empty_states:
            snapshots = Snapshots(states.backend.storage(name), states.encryption())
            if diags.error_count or not await snapshots.begin(lock, diags):
                return False
        return self._use(name, diags)

    async def select(
        self, name: str, or_create: bool, lock: LockOptions, diags: Diagnostics
    ) -> bool:
        """Select a workspace; with `or_create`, one that does not exist is made."""
        if not self._may_change(name, diags):
            return False
        if name not in await self._names_at(name, diags):
            if diags.has_errors:
                return False
            if or_create:
                return await self.create(name, lock, diags)
            new = f"Create it {advice().new_workspace(name)}."
            diags.append(no_such_workspace(name, await self.names(diags), new))
            return False
        if name == self.selected(diags).name:
            return True
        return self._use(name, diags)

    async def delete(self, name: str, lock: LockOptions, force: bool, diags: Diagnostics) -> bool:
        """Delete a workspace that nothing is left in; with `force`, forget what is left."""
        if name == self.selected(diags).name:
            diags.append(cannot_delete_selected(name))
            return False
        states = self.open(name)
        if states is None:
            return False
        if name not in await states.backend.workspaces(diags):
            names = await self.names(diags)
            diags.append(no_such_workspace(name, names, "There is nothing to delete."))
            return False
        snapshots = Snapshots(states.backend.storage(name), states.encryption())
        if diags.has_errors or not await snapshots.lock("workspace-delete", lock, diags):
            return False
        try:
            readable = await snapshots.read(diags)
            is_used = readable and snapshots.state.has_managed_objects
            if is_used and not force:
                diags.append(workspace_in_use(name))
                readable = False
        finally:
            await snapshots.unlock(diags)
        if not readable or not await states.backend.delete_workspace(name, diags, force):
            return False
        if is_used:
            diags.append(objects_left_behind(name))
        return self._noted(self.take_down, name, diags)

    def _noted(self, note: Callable[[str], None], name: str, diags: Diagnostics) -> bool:
        try:
            note(name)
        except OSError as error:
            path = str(error.filename or self.data_directory)
            diags.append(file_problem("list of backend locations", path, error))
            return False
        return True

    def _use(self, name: str, diags: Diagnostics) -> bool:
        """Select a workspace that exists."""
        if not self._noted(self.set_up, name, diags):
            return False
        known = self._known()
        if self.are_apart and name not in known:
            path = below(self.data_directory, _KNOWN_FILE)
            try:
                write_beside(path, "".join(f"{each}\n" for each in (*known, name)).encode(), 0o644)
            except OSError as error:
                diags.append(file_problem("list of workspaces", path, error))
                return False
        return remember_selection(self.data_directory, name, diags)

    def _known(self) -> Sequence[str]:
        """The workspaces that were used here, where each may have a backend of its own."""
        if not self.are_apart:
            return ()
        try:
            with open(below(self.data_directory, _KNOWN_FILE), encoding="utf-8") as file:
                return [name for name in file.read().split() if is_valid_name(name)]
        except (OSError, ValueError):
            return ()

    def _may_change(self, name: str, diags: Diagnostics) -> bool:
        set_by = self.selected(diags).set_by
        if set_by:
            diags.append(selection_is_overridden(set_by))
            return False
        if not is_valid_name(name):
            diags.append(invalid_name(name, "the command line"))
            return False
        return True


def invalid_name(name: str, where: str) -> Diagnostic:
    """A workspace name that cannot be one."""
    return Diagnostic(
        Severity.ERROR,
        "Invalid workspace name",
        f"{quoted(name)}, from {where}, is not a valid workspace name: names become part of "
        "paths and URLs, so they cannot contain slashes, spaces or other special characters.",
    )


def selection_is_overridden(set_by: str) -> Diagnostic:
    """A change of the selection that would have no effect."""
    return Diagnostic(
        Severity.ERROR,
        "Workspace is set by the environment",
        f"{set_by} sets the workspace, so selecting one would have no effect. Run the command "
        "without it to select another.",
    )


def name_is_taken(name: str) -> Diagnostic:
    """A new workspace with the name of another."""
    return Diagnostic(
        Severity.ERROR,
        "Workspace already exists",
        f'There is a workspace named "{name}" already. Choose another name, or switch to it with '
        f'"workspace select {name}".',
    )


def no_such_workspace(name: str, names: Iterable[str], advice: str) -> Diagnostic:
    """A workspace that does not exist."""
    from nigari.hcl.suggestion import did_you_mean

    return Diagnostic(
        Severity.ERROR,
        f'Workspace "{name}" doesn\'t exist',
        f"{advice}{did_you_mean(name, names)}",
    )


def cannot_delete_selected(name: str) -> Diagnostic:
    """An attempt to delete the workspace that is in use."""
    return Diagnostic(
        Severity.ERROR,
        "Workspace is selected",
        f"The workspace {quoted(name)} is currently selected, so it cannot be deleted. Select "
        "another workspace first.",
    )


def objects_left_behind(name: str) -> Diagnostic:
    """A workspace that was deleted although its state still had resources."""
    return Diagnostic(
        Severity.WARNING,
        "Deleted workspace was not empty",
        f"The state of the workspace {quoted(name)} still tracked objects. They may still exist, "
        "but no state tracks them any more.",
    )


def workspace_in_use(name: str) -> Diagnostic:
    """A workspace whose state still has resources."""
    return Diagnostic(
        Severity.ERROR,
        "Workspace is not empty",
        f"The state of the workspace {quoted(name)} still tracks objects. Destroy them first, or "
        f"use {advice().option('-force')} to delete the workspace and leave them behind, unmanaged.",
    )

"""The local backend: states in files of this machine, one per workspace.

Which files: `path` for the default workspace, `WORKSPACE_DIR/NAME/terraform.tfstate` for the
others, each with a backup beside it. What a state is, and when it is backed up, is decided above.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping, Sequence

from nigari.backends.disk import (
    below,
    discard,
    hidden_beside,
    make_directories,
    part_of,
    write_beside,
)
from nigari.backends.locking import LockConflict, LockInfo, parse_lock, report_wrong_lock
from nigari.backends.protocol import DEFAULT_WORKSPACE, default_workspace_stays
from nigari.backends.state_path import AlreadyLocked, FileReplaced, StatePath
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.diagnostics.advice import advice
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


LOCAL: Final = "local"
"""The type of the backend that directories without a backend block use."""
STATE_NAME: Final = "terraform.tfstate"
WORKSPACE_DIR: Final = "terraform.tfstate.d"
BACKUP_SUFFIX: Final = ".backup"
NO_BACKUP: Final = "-"
_NO_LOCKS: Final = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
"""The errors of file systems without locks."""


@record
class LocalPaths:
    """The file arguments of the backend's configuration and of the command line."""

    path: str = STATE_NAME
    workspace_dir: str = WORKSPACE_DIR
    state: str = ""
    """`-state`: read and, unless `state_out` is set, write this file."""
    state_out: str = ""
    """`-state-out`: write this file."""
    backup: str = ""
    """`-backup`: where the backup goes; `-` for nowhere."""


def local_paths(config: Mapping[str, object]) -> LocalPaths:
    """The paths that the arguments of the backend set."""
    path, directory = config.get("path"), config.get("workspace_dir")
    return LocalPaths(str(path or STATE_NAME), str(directory or WORKSPACE_DIR))


class LocalBackend:
    """States in files, all relative to one directory."""

    __slots__ = ("_directory", "_paths", "_storages")

    has_workspaces: Final = True
    has_default: Final = True
    keeps_empty_states: Final = False

    def __init__(self, directory: str | os.PathLike[str], paths: LocalPaths) -> None:
        self._directory = directory
        self._paths = paths
        self._storages: dict[str, LocalStorage] = {}

    async def workspaces(self, diags: Diagnostics) -> Sequence[str]:
        """The default workspace and those that have a directory."""
        return self._list(diags)

    async def create_workspace(self, name: str, diags: Diagnostics) -> bool:
        """Make the directory of a workspace."""
        if name == DEFAULT_WORKSPACE:
            return True
        try:
            make_directories(self._workspace_path(name))
        except OSError as error:
            diags.append(file_problem("workspace directory", self._workspace_path(name), error))
            return False
        return True

    async def delete_workspace(
        self, name: str, diags: Diagnostics, is_forced: bool = False
    ) -> bool:
        """Delete the directory of a workspace with all that is in it."""
        if name == DEFAULT_WORKSPACE:
            diags.append(default_workspace_stays())
            return False
        self._storages.pop(name, None)
        try:
            import shutil

            shutil.rmtree(self._workspace_path(name))
        except FileNotFoundError:
            return True
        except OSError as error:
            diags.append(file_problem("workspace directory", self._workspace_path(name), error))
            return False
        return True

    def storage(self, workspace: str) -> LocalStorage:
        """The state file of a workspace; one object for each, because it holds the lock."""
        known = self._storages.get(workspace)
        if known is None:
            known = self._storages[workspace] = self._storage(workspace)
        return known

    def _list(self, diags: Diagnostics) -> Sequence[str]:
        directory = below(self._directory, self._paths.workspace_dir)
        try:
            with os.scandir(directory) as entries:
                named = sorted(each.name for each in entries if each.is_dir())
        except FileNotFoundError:
            named = []
        except OSError as error:
            diags.append(file_problem("workspace directory", directory, error))
            named = []
        return (DEFAULT_WORKSPACE, *named)

    def _workspace_path(self, name: str) -> str:
        return below(self._directory, self._paths.workspace_dir, name)

    def _storage(self, workspace: str) -> LocalStorage:
        paths = self._paths
        usual = paths.path
        if workspace != DEFAULT_WORKSPACE:
            usual = below(paths.workspace_dir, workspace, STATE_NAME)
        source = paths.state or usual
        target = paths.state_out or source
        backup = paths.backup or target + BACKUP_SUFFIX
        return LocalStorage(self._directory, source, target, "" if backup == NO_BACKUP else backup)


class LocalStorage:
    """One state file with its lock and its backup."""

    __slots__ = ("_backup", "_lock", "_source", "_target", "location", "path")

    is_for_people: Final = True
    counts_all: Final = False
    pause_between: Final = 0.0
    describe: Final = None
    is_outdated: Final = False

    def __init__(
        self, directory: str | os.PathLike[str], source: str, target: str, backup: str
    ) -> None:
        self.location: str = target
        """As the user wrote it, relative to the directory."""
        self.path: str = below(directory, target)
        """The path of the file that is written."""
        self._target = StatePath(self.path)
        self._source = self._target if source == target else StatePath(below(directory, source))
        self._backup = below(directory, backup) if backup else None
        self._lock: LockInfo | None = None

    @property
    def is_copying(self) -> bool:
        """Return whether `-state-out` names another file that was not written yet."""
        return self._source is not self._target

    async def admits(self, operation: str, diags: Diagnostics) -> bool:
        """Everything runs on the machine that has the file."""
        return True

    async def read(self, diags: Diagnostics) -> bytes | None:
        """The content of the file; until the first write that of `-state`."""
        try:
            return self._source.read()
        except OSError as error:
            diags.append(file_problem("state file", self._source.path, error))
            return None

    async def write(self, data: bytes, diags: Diagnostics) -> bool:
        """Replace the content of the file."""
        return self._written(lambda: self._target.write(data), diags)

    async def write_between(self, data: bytes, lasting: bool, diags: Diagnostics) -> bool:
        """Replace the content of the file for a while."""

        def write() -> bool:
            return self._written(lambda: self._target.write_between(data, lasting), diags)

        if not lasting:
            return write()
        import asyncio

        # In a thread, because it waits for the disk.
        return await asyncio.to_thread(write)

    def _written(self, write: Callable[[], None], diags: Diagnostics) -> bool:
        try:
            write()
        except FileReplaced as error:
            diags.append(state_replaced(self._target.path, error))
            return False
        except OSError as error:
            diags.append(state_not_written(self._target.path, error))
            return False
        self._source = self._target
        return True

    async def write_backup(self, data: bytes, diags: Diagnostics) -> bool:
        """Write the backup file, if backups are wanted and there is something to keep."""
        if self._backup is None:
            return True
        try:
            self._target.check_in_place()
            kept = self._target.read() if self.is_copying else data
            if kept:
                write_beside(self._backup, kept, self._target.mode())
        except FileReplaced as error:
            diags.append(state_replaced(self._target.path, error))
            return False
        except OSError as error:
            diags.append(file_problem("backup of the state", self._backup, error))
            return False
        return True

    async def lock(self, info: LockInfo, diags: Diagnostics) -> LockInfo | LockConflict | None:
        """Lock the file that is written, and leave word of who did beside it."""
        try:
            self._target.lock()
        except AlreadyLocked:
            return LockConflict(self._holder())
        except OSError as error:
            diags.append(cannot_lock(self._target.path, error))
            return None
        lock = info.at(self.location)
        try:
            write_beside(self._info_path, lock.to_bytes(), 0o600, survives_power_loss=False)
        except OSError as error:
            self._target.unlock()
            diags.append(cannot_lock(self._info_path, error))
            return None
        self._lock = lock
        self._discard_unfinished_backups()
        try:
            self._target.recover()
        except OSError as error:
            diags.append(state_not_written(self._target.path, error))
            await self.unlock(lock.id, diags)
            return None
        return lock

    def _discard_unfinished_backups(self) -> None:
        """Remove what a killed process has left of its backup, which may have a time in its name:
        each backup is written under the lock.
        """
        if self._backup is not None:
            discard(part_of(self._backup))
        directory, start = os.path.split(hidden_beside(self._target.path, "."))
        end = part_of(BACKUP_SUFFIX)
        try:
            names = os.listdir(directory or ".")
        except OSError:
            return
        for name in names:
            time = name.removeprefix(start).removesuffix(end)
            if name == f"{start}{time}{end}" and time.isascii() and time.isdigit():
                discard(below(directory, name))

    async def unlock(self, lock_id: str, diags: Diagnostics) -> bool:
        """Unlock the file and remove the word of it."""
        held = "" if self._lock is None else self._lock.id
        if held != lock_id:
            report_wrong_lock(lock_id, held, diags)
            return False
        discard(self._info_path)
        self._target.unlock()
        self._lock = None
        return True

    async def force_unlock(self, lock_id: str, diags: Diagnostics) -> bool:
        """Remove what a dead process left; the lock itself ended with that process."""
        holder = self._holder()
        if holder is None or holder.id != lock_id:
            report_wrong_lock(lock_id, "" if holder is None else holder.id, diags)
            return False
        try:
            self._target.lock()
        except AlreadyLocked:
            diags.append(holder_is_alive(holder))
            return False
        except OSError as error:
            diags.append(file_problem("state file", self._target.path, error))
            return False
        discard(self._info_path)
        self._target.unlock()
        return True

    @property
    def _info_path(self) -> str:
        return hidden_beside(self._target.path, ".lock.info")

    def _holder(self) -> LockInfo | None:
        try:
            with open(self._info_path, "rb") as file:
                return parse_lock(file.read())
        except OSError:
            return None


def file_problem(what: str, path: str, error: OSError) -> Diagnostic:
    """The system refuses something about a file."""
    return Diagnostic(
        Severity.ERROR,
        f"No access to the {what}",
        f"{path}: {error.strerror or error}.",
    )


def cannot_lock(path: str, error: OSError) -> Diagnostic:
    """The system refuses what a lock needs: a file that can be written, and be locked."""
    option = advice().option("-lock=false")
    if error.errno in _NO_LOCKS:
        text = (
            "This file system cannot lock files, so nothing would keep other commands from changing "
            f"the state at the same time. If there are none, go on without a lock: use {option}."
        )
    else:
        text = (
            "Locking the state, which keeps other commands from changing it at the same time, "
            "requires write access. A command that only reads, such as plan, can run without a "
            f"lock: use {option}."
        )
    return Diagnostic(
        Severity.ERROR, "Cannot lock the state", f"{path}: {error.strerror or error}. {text}"
    )


def state_not_written(path: str, error: OSError) -> Diagnostic:
    """A state that could not be stored; what was stored before is still there."""
    return Diagnostic(
        Severity.ERROR,
        "State not saved",
        f"{path}: {error.strerror or error}. The state saved before is still there and complete.",
    )


def state_replaced(path: str, error: FileReplaced) -> Diagnostic:
    """The error for a state whose file was removed."""
    return Diagnostic(
        Severity.ERROR,
        "State not saved",
        f"{path}: {error.strerror}. Nothing was written: the new state was made from a file that "
        "is no longer there.",
    )


def holder_is_alive(holder: LockInfo) -> Diagnostic:
    """A lock of the local backend whose process still runs."""
    return Diagnostic(
        Severity.ERROR,
        "Lock in use",
        f"The process that locked the state ({holder.who}, {holder.operation}) is still running. "
        "A lock on a local file ends with its process, so wait for it or stop it.",
    )

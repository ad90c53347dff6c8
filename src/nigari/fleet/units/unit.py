"""Units: a directory with configuration, a workspace and values. What is known of each is data."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from nigari.addrs.keys import InstanceKey
from nigari.cty.values import Value
from nigari.diagnostics import Cause, Diagnostic, Range
from nigari.record import record, replace

FILE_NAME: Final = "fleet.hcl"
"""The file that declares units, in the directory of the fleet."""
HOME: Final = ".nigari"
"""The directory of what is remembered of a fleet."""
RESCUED: Final = "rescued"
"""The directory in it for states that could not be stored."""


@record
class WorkingCopy:
    """The copy of a module from elsewhere that a unit runs."""

    remote: str
    """The address of the module's package; empty for one in a directory of this machine."""
    version: str
    """The version of a module in a registry; empty for the newest."""
    package: str
    """The directory of the package, as an absolute path; one that is downloaded need not exist."""
    subdir: str
    """The directory of the module in its package."""
    own: str
    """The directory with the unit's own files, as an absolute path."""
    home: str
    """The directory of the copy, as an absolute path."""

    @property
    def is_fetched(self) -> bool:
        """Return whether the package is there."""
        return os.path.isdir(self.package)

    @property
    def module(self) -> str:
        """The directory of the module that is copied, as an absolute path."""
        return os.path.normpath(os.path.join(self.package, self.subdir))

    def originals(self, path: str) -> tuple[str, ...]:
        """The paths that one in the copy may come from, or the path itself elsewhere."""
        name = os.path.relpath(path, self.home)
        if name.startswith(".."):
            return (path,)
        below = os.path.relpath(name, self.subdir or ".")
        own = () if below.startswith("..") else (os.path.normpath(os.path.join(self.own, below)),)
        return (*own, os.path.normpath(os.path.join(self.package, name)))


@record
class Unit:
    """One root module with its workspace, variables and settings."""

    name: str
    """The name: the path of its directory, or the name that `fleet.hcl` gives it."""
    directory: str
    """The directory of its configuration, relative to the root of the fleet, with slashes."""
    path: str
    """The same as an absolute path."""
    workspace: str | None = None
    """The workspace that it works in; None for the selected one of its directory."""
    var_files: tuple[str, ...] = ()
    """Files of variables as absolute paths, in their order."""
    labels: tuple[str, ...] = ()
    environ: tuple[tuple[str, str], ...] = ()
    """Environment variables that it has in place of, or beside, those of the program."""
    environment_name: str = ""
    """The environment of the directory's `environments.hcl` that it works in, if it is in one."""
    block: str = ""
    """The name of the `unit` block that declares it; empty for one that was found."""
    range: Range | None = None
    """The range of its declaration."""
    backend: tuple[tuple[str, Value], ...] = ()
    """Arguments of its backend, in place of those in its configuration."""
    fleet_data: str = ""
    """The directory in which the fleet keeps what it has to remember, as an absolute path."""
    copy: WorkingCopy | None = None
    """The copy that `path` is a directory of, if its module comes from a `source`."""
    ignores_undeclared: bool = False
    """True if values for variables that its configuration does not declare are no mistake."""

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The environment of whatever runs for the unit."""
        found = {**environ, **dict(self.environ)}
        if self.workspace is not None:
            found["TF_WORKSPACE"] = self.workspace
        return found

    @property
    def file_name(self) -> str:
        """File name for the unit's files, unique in the fleet."""
        import hashlib

        plain = "".join(each if each.isalnum() or each in "-_." else "_" for each in self.name)
        digest = hashlib.sha256(self.name.encode()).hexdigest()[:8]
        return f"{plain[:80].strip('.') or 'root'}-{digest}"

    @property
    def rescued_states(self) -> tuple[str, ...]:
        """The files that its state is written to if it cannot be stored, the first that can be
        written: in its directory, where the fleet keeps what it has to remember, or, where both
        disks are full, among temporary files. Units that share a directory have some each.
        """
        import hashlib
        import tempfile

        name = f"errored.{self.file_name}"
        digest = hashlib.sha256(self.path.encode(errors="surrogateescape")).hexdigest()[:16]
        found = [os.path.join(self.path, f"{name}.tfstate")]
        if self.fleet_data:
            found.append(os.path.join(self.fleet_data, RESCUED, f"{name}.tfstate"))
        return (*found, os.path.join(tempfile.gettempdir(), f"{name}-{digest}.tfstate"))


def fleet_directory(root: str) -> str:
    """The directory in which a fleet remembers; it need not exist."""
    return os.path.join(root, HOME, "fleet")


def settings_file(root: str, directory: str, path: str) -> str:
    """A file that a unit is given, seen from the directory of the unit; one that is not there is
    looked for in the directory of the fleet.
    """
    inside = os.path.normpath(os.path.join(directory, path))
    beside = os.path.normpath(os.path.join(root, path))
    return beside if not os.path.exists(inside) and os.path.exists(beside) else inside


def instance_name(block: str, key: InstanceKey) -> str:
    """The name of an instance of a block, as in expressions."""
    return block if key is None else f"{block}[{json.dumps(key, ensure_ascii=False)}]"


def seen_from_root(found: Sequence[Diagnostic], unit: Unit) -> list[Diagnostic]:
    """Diagnostics of a unit with the paths of files as they are seen from the root of the fleet."""
    return [_moved(each, lambda path: path_from_root(path, unit)) for each in found]


def seen_from_unit(found: Sequence[Diagnostic], unit: Unit) -> list[Diagnostic]:
    """Diagnostics of the fleet with the paths of files as they are seen from a unit."""
    return [_moved(each, lambda path: _path_from_unit(path, unit)) for each in found]


def path_from_root(path: str, unit: Unit) -> str:
    """The path of a file of a unit, seen from the root of the fleet."""
    if os.path.isabs(path) or unit.directory == "." or path.startswith("<"):
        return path
    return os.path.normpath(f"{unit.directory}/{path}").replace(os.sep, "/")


def _path_from_unit(path: str, unit: Unit) -> str:
    if os.path.isabs(path) or path.startswith("<"):
        return path
    return os.path.relpath(path, unit.directory).replace(os.sep, "/")


def _moved(found: Diagnostic, move: Callable[[str], str]) -> Diagnostic:
    return replace(
        found,
        subject=_moved_range(found.subject, move),
        context=_moved_range(found.context, move),
        causes=tuple(Cause(each.text, _moved_range(each.subject, move)) for each in found.causes),
    )


def _moved_range(place: Range | None, move: Callable[[str], str]) -> Range | None:
    return None if place is None else replace(place, filename=move(place.filename))

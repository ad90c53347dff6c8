"""Working copies: root modules that come from elsewhere, with the unit's own files over them.

A unit with a `source` runs a copy of that module, which is kept below `.nigari/fleet/copies`. It has
all files of the module's package, so that calls of modules beside it work, and the files of the
unit's directory in that of the module: its backend, its providers, its lock file.

`nigari fleet init` downloads packages. From then on each survey brings copies up to date: a local
module that was edited needs no init. Only files that were copied are ever replaced or removed, so
whatever a unit writes there stays.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping

from nigari.addrs.detection import SourceError
from nigari.addrs.module_source import LocalSource, parse_module_source, split_subdir
from nigari.diagnostics import Diagnostic, Diagnostics, Range, Severity
from nigari.fleet.units.unit import Unit, WorkingCopy, fleet_directory
from nigari.lazy import lazy_pattern
from nigari.packages.content.whole_file import write_whole
from nigari.record import replace
from nigari.workspace.configuration.modules import NOT_INSTALLED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_COPIES: Final = "copies"
_SOURCES: Final = "sources"
_LOCK: Final = ".terraform.lock.hcl"
_STATES: Final = ("terraform.tfstate", "terraform.tfstate.d", "errored.")
"""The prefixes of state files, including those that could not be stored."""
_LOCAL: Final = lazy_pattern(r"\.\.?(/|$)|/")


def own_files(directory: str, inner: Collection[str] = ()) -> Iterator[str]:
    """The files of a directory as paths from it: without states, what is hidden (except for the lock
    file), and the directories `inner`.
    """
    for current, directories, names in os.walk(directory):
        directories[:] = sorted(
            each
            for each in directories
            if not each.startswith(".")
            and each not in _STATES
            and os.path.join(current, each) not in inner
        )
        for name in sorted(names):
            if name == _LOCK or not name.startswith((".", *_STATES)):
                yield os.path.relpath(os.path.join(current, name), directory)


def with_copy(
    unit: Unit, root: str, source: str, version: str, place: Range | None, diags: Diagnostics
) -> Unit:
    """A unit that runs a copy of the module which a source names; unchanged after an error."""
    data = fleet_directory(root)
    if _LOCAL.match(source):
        try:
            base, subdir = split_subdir(source)
        except SourceError as error:
            diags.error("Invalid source", str(error), place)
            return unit
        package = os.path.normpath(os.path.join(root, base))
        if not os.path.isdir(os.path.join(package, subdir)):
            diags.error(
                "No such directory",
                f'There is no directory "{source}", seen from the directory of fleet.hcl.',
                place,
            )
            return unit
        remote = ""
    else:
        found = parse_module_source(source, diags, place)
        if found is None or isinstance(found, LocalSource):
            return unit
        remote = found.package
        digest = hashlib.sha256(f"{found.package} {version}".encode()).hexdigest()[:16]
        package, subdir = os.path.join(data, _SOURCES, digest), found.subdir
    home = os.path.join(data, _COPIES, unit.file_name)
    copy = WorkingCopy(remote, version, package, subdir, unit.path, home)
    path = os.path.normpath(os.path.join(home, subdir))
    directory = os.path.relpath(path, root).replace(os.sep, "/")
    return replace(unit, path=path, directory=directory, copy=copy)


def refresh(unit: Unit, others: Collection[str], diags: Diagnostics) -> None:
    """Bring the copy of a unit up to date. `others` are directories that belong to other units."""
    copy = unit.copy
    if copy is None or not copy.is_fetched:
        return
    wanted = {name: os.path.join(copy.package, name) for name in own_files(copy.package)}
    for name in own_files(copy.own, others):
        wanted[os.path.normpath(os.path.join(copy.subdir, name))] = os.path.join(copy.own, name)
    try:
        _replace_files(copy.home, wanted)
    except OSError as error:
        diags.error(
            "Cannot copy a module",
            f"The module of {unit.name} cannot be copied to {copy.home}: "
            f"{error.strerror or error}.",
            unit.range,
        )


def _replace_files(home: str, wanted: Mapping[str, str]) -> None:
    """Make the copied files of a directory be these: for each path the file that is there."""
    listing = f"{home}.json"
    try:
        with open(listing, encoding="utf-8") as file:
            known: list[str] = json.load(file)
    except (FileNotFoundError, ValueError):
        known = []
    for name in known:
        if name not in wanted:
            _remove(os.path.join(home, name))
    for name, source in wanted.items():
        target = os.path.join(home, name)
        if not _is_same(source, target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(source, target)
    if sorted(wanted) != known:
        os.makedirs(home, exist_ok=True)
        write_whole(listing, f"{json.dumps(sorted(wanted))}\n".encode())


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def _is_same(source: str, target: str) -> bool:
    """Return whether a file was copied and has not changed since: it is as long and as old."""
    try:
        one, other = os.stat(source), os.stat(target)
    except FileNotFoundError:
        return False
    return (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)


def keep_lock_file(unit: Unit) -> None:
    """Copy the lock file that init has written beside the unit's own files, to be committed."""
    if unit.copy is not None:
        made = os.path.join(unit.path, _LOCK)
        if os.path.isfile(made) and not _is_same(made, os.path.join(unit.copy.own, _LOCK)):
            shutil.copy2(made, os.path.join(unit.copy.own, _LOCK))


def fetch_source(
    unit: Unit, environ: Mapping[str, str], diags: Diagnostics, upgrade: bool = False
) -> None:
    """Download the package of a unit, unless it is there."""
    from nigari.workspace.setup.from_module import fetch_package

    copy = unit.copy
    if copy is None or not copy.remote or (copy.is_fetched and not upgrade):
        return
    part = f"{copy.package}.{os.getpid()}.part"
    try:
        os.makedirs(part)
        if fetch_package(copy.remote, copy.version, part, environ, diags, unit.range):
            shutil.rmtree(copy.package, ignore_errors=True)
            os.rename(part, copy.package)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def not_fetched(unit: Unit) -> Diagnostic:
    """Report a unit whose module is not downloaded yet."""
    return Diagnostic(
        Severity.ERROR,
        NOT_INSTALLED,
        f'The module that {unit.name} runs is not downloaded yet. Run "nigari fleet init".',
        unit.range,
    )

"""Finds the units that a change of files concerns.

A unit is concerned when a file has changed that it reads: in its directory, in the modules that it
calls, a file that a function reads, a file of variables, or `fleet.hcl` where that says something
else of it now. All that is known from evaluation.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from nigari.diagnostics import Diagnostics
from nigari.fleet.units.definition import FleetDefinition
from nigari.fleet.units.files_read import FilesRead, files_read, reads_files
from nigari.fleet.units.graph_loader import Survey
from nigari.fleet.units.unit import FILE_NAME, Unit
from nigari.workspace.context.git import CommitFiles, git
from nigari.workspace.context.working_directory import WorkingDirectory


def concerned_units(
    found: Survey, changed: Iterable[str], commit: str, environ: Mapping[str, str]
) -> set[str]:
    """The units that a change of these files concerns, without those that depend on them."""
    paths = set(changed)
    concerned: set[str] = set()
    owners, readers, prefixes = _index(found, environ)
    for path in paths:
        concerned |= readers.get(path, set())
        concerned |= owners.get(_owner(os.path.dirname(path), owners), set())
        for prefix, names in prefixes.items():
            if path.startswith(prefix):
                concerned |= names
    definition = os.path.join(os.path.realpath(found.root), FILE_NAME)
    data = found.definition.sources.get(FILE_NAME)
    if definition in paths or (paths and data is not None and reads_files(data)):
        concerned |= _declared_differently(found, commit, environ)
    return concerned


def _index(
    found: Survey, environ: Mapping[str, str]
) -> tuple[dict[str, set[str]], dict[str, set[str]], dict[str, set[str]]]:
    """Units by the directories that are theirs, by the files that they read, and by what the paths
    of files begin with that are not known exactly.
    """
    owners: dict[str, set[str]] = {}
    readers: dict[str, set[str]] = {}
    prefixes: dict[str, set[str]] = {}
    for name, unit in found.units.items():
        read = _files_of(found, unit, environ)
        for directory in _originals(unit, read.directories):
            owners.setdefault(os.path.realpath(directory), set()).add(name)
        for path in _originals(unit, read.files):
            readers.setdefault(os.path.realpath(path), set()).add(name)
        for prefix in read.prefixes:
            prefixes.setdefault(prefix, set()).add(name)
    return owners, readers, prefixes


def _originals(unit: Unit, paths: Iterable[str]) -> Iterable[str]:
    """The paths of files as they are committed: not those in a working copy."""
    for path in paths:
        yield from (path,) if unit.copy is None else unit.copy.originals(path)


def _files_of(found: Survey, unit: Unit, environ: Mapping[str, str]) -> FilesRead:
    values = found.definition.values.variables(unit.name, {}, Diagnostics()).values
    return files_read(unit, environ, values)


def _owner(directory: str, owners: Mapping[str, object]) -> str:
    """The nearest directory above a file that belongs to units."""
    while directory not in owners:
        above = os.path.dirname(directory)
        if above == directory:
            return ""
        directory = above
    return directory


def _declared_differently(found: Survey, commit: str, environ: Mapping[str, str]) -> set[str]:
    """The units of which `fleet.hcl`, with the files that it read then, says something else than it
    did.
    """
    now = found.definition
    data = git(found.root, Diagnostics(), "show", f"{commit}:./{FILE_NAME}")
    if data is None:
        return set(now.declared)
    where = WorkingDirectory(environ, root=found.root)
    then = FleetDefinition(where, Diagnostics(), data, CommitFiles(found.root, commit))
    then.values.know_units([*found.units.values(), *then.declared.values()])
    return {
        name
        for name, unit in now.declared.items()
        if name not in then.declared
        or _settings(unit) != _settings(then.declared[name])
        or now.values.said_of(name) != then.values.said_of(name)
    }


def _settings(unit: Unit) -> tuple[object, ...]:
    return unit.directory, unit.workspace, unit.var_files, unit.environ, unit.backend, unit.copy

"""Finds what has changed since a commit, and which units that concerns.

A unit is concerned when a file has changed that it reads: in its directory, in the modules that it
calls, a file that a function reads, a file of variables, or `fleet.hcl` where that says something
else of it now. All that is known from evaluation.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from nigari.diagnostics import Diagnostics
from nigari.fleet.units.files_read import FilesRead, definition_files, files_read
from nigari.fleet.units.survey import Survey, survey
from nigari.fleet.units.unit import FILE_NAME, Unit
from nigari.programs import wait_for_program


def known_commit(root: str, reference: str, diags: Diagnostics) -> str | None:
    """The commit that a text means; None after reporting that it means none."""
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}")
    if _git(root, diags, "rev-parse", "--show-toplevel") is None:
        return None
    found = _git(root, Diagnostics(), *asked)
    if found is not None:
        return os.fsdecode(found).strip()
    shallow = _git(root, Diagnostics(), "rev-parse", "--is-shallow-repository")
    hint = " Check the name, or fetch it first."
    if shallow is not None and shallow.strip() == b"true":
        hint = (
            " This clone is shallow and may lack it: fetch more of the history, for example with "
            '"git fetch --unshallow".'
        )
    diags.error(
        "No such commit", f'"{reference}" is not a commit that is in this repository.{hint}'
    )
    return None


def changed_files(root: str, commit: str, diags: Diagnostics) -> set[str] | None:
    """The files that differ from a commit, as absolute paths, those of submodules included; None
    after reporting why that cannot be told. Files that git does not know yet have changed, too.
    """
    top = _git(root, diags, "rev-parse", "--show-toplevel")
    if top is None:
        return None
    base = os.path.realpath(os.fsdecode(top).rstrip("\n"))
    compared = ("diff", "--name-only", "--no-renames", "--ignore-submodules=none", "-z", commit)
    differing = _git(base, diags, *compared, "--")
    new = _git(base, diags, "ls-files", "--others", "--exclude-standard", "-z")
    if differing is None or new is None:
        return None
    found: set[str] = set()
    for name in _names(differing + new):
        path = os.path.join(base, name)
        if os.path.isdir(path) and not os.path.islink(path):
            found |= _changed_below(base, name, commit)
        else:
            found.add(path)
    return found


def _changed_below(base: str, name: str, commit: str) -> set[str]:
    """The files of a submodule that differ from what it was then; all of them where that is not
    known.
    """
    path = os.path.join(base, name)
    entry = _git(base, Diagnostics(), "ls-tree", "-z", commit, "--", name)
    then = entry.split()[2] if entry and entry.split()[1] == b"commit" else b""
    found = changed_files(path, os.fsdecode(then), Diagnostics()) if then else None
    if found is not None:
        return found
    tracked = _git(path, Diagnostics(), "ls-files", "--cached", "--others", "-z") or b""
    return {os.path.join(path, each) for each in _names(tracked)}


def _names(listed: bytes) -> list[str]:
    return [os.fsdecode(each) for each in listed.split(b"\0") if each]


def concerned_units(
    found: Survey, changed: Iterable[str], reference: str, environ: Mapping[str, str]
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
    if definition in paths:
        concerned |= _declared_differently(found, reference, environ)
    if _reads_changed(found, paths):
        concerned.update(name for name, unit in found.units.items() if unit.block)
    return concerned


def _reads_changed(found: Survey, paths: set[str]) -> bool:
    """Whether `fleet.hcl` reads a file that has changed, or may: what it said before is not known
    then.
    """
    data = found.definition.sources.get(FILE_NAME)
    read = set[str]() if data is None else definition_files(data, found.root)
    if read is None:
        return bool(paths)
    return any(path in paths or _is_below(paths, path) for path in read)


def _is_below(paths: set[str], directory: str) -> bool:
    return any(path.startswith(os.path.join(directory, "")) for path in paths)


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
        for directory in read.directories:
            owners.setdefault(os.path.realpath(directory), set()).add(name)
        for path in read.files:
            readers.setdefault(os.path.realpath(path), set()).add(name)
        for prefix in read.prefixes:
            prefixes.setdefault(prefix, set()).add(name)
    return owners, readers, prefixes


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


def _declared_differently(found: Survey, reference: str, environ: Mapping[str, str]) -> set[str]:
    """The units of which `fleet.hcl` says something else than it did."""
    before = _git(found.root, Diagnostics(), "show", f"{reference}:./{FILE_NAME}")
    if before is None:
        return {name for name, unit in found.units.items() if unit.block}
    old = survey(found.root, environ, before)
    concerned: set[str] = set()
    for name, unit in found.units.items():
        known = old.units.get(name)
        is_same = known is not None and _settings(unit) == _settings(known)
        values = found.definition.values.variables(name, {}, Diagnostics())
        was = old.definition.values.variables(name, {}, Diagnostics())
        if not is_same or values != was:
            concerned.add(name)
    return concerned


def _settings(unit: Unit) -> tuple[object, ...]:
    return unit.directory, unit.workspace, unit.var_files, unit.environ


def _git(directory: str, diags: Diagnostics, *arguments: str) -> bytes | None:
    try:
        done = wait_for_program(("git", "-C", directory, *arguments))
    except OSError as error:
        diags.error("Cannot run git", f"git cannot be started: {error.strerror}.")
        return None
    if done.status:
        said = done.errors.decode(errors="replace").strip().removeprefix("fatal: ")
        diags.error("Cannot compare with a commit", f"git {arguments[0]} failed: {said}")
        return None
    return done.output

"""The project: open documents, files on disk, the modules they form and who calls which.

Everything follows from the content of files: a file that changes replaces what is known of it, and
nothing else is worked out again. Which values things have is in `nigari.language.evaluation`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from nigari.config.file_names import config_files
from nigari.language.document import Document, Kind, kind_of, module_directory, read_document
from nigari.language.occurrences import (
    DECLARED,
    MODULE,
    FileNames,
    Occurrence,
    names_in,
)
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_SKIPPED: Final = frozenset((".git", ".terraform", ".terragrunt-cache", "node_modules", ".venv"))
_READ: Final = frozenset(
    (
        Kind.CONFIGURATION,
        Kind.VALUES,
        Kind.TESTS,
        Kind.QUERIES,
        Kind.ENVIRONMENTS,
        Kind.FLEET,
    )
)
_MOST_FILES: Final = 50_000
_LOCAL: Final = ("./", "../")


Calls = Mapping[str, Mapping[str, tuple[str, ...]]]
"""The modules of calls, by directory and name."""


@record
class Symbol:
    """Something that has a name, and the directory of the module that it is declared in."""

    kind: str
    directory: str
    name: str


@record
class Place:
    """The ranges at which a symbol is named."""

    path: str
    occurrence: Occurrence

    @property
    def span(self) -> tuple[int, int]:
        return self.occurrence.start, self.occurrence.end


class Project:
    """Folders that are worked in, with the unsaved changes of open documents."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders: tuple[str, ...] = tuple(folders)
        self.documents: dict[str, Document] = {}
        """The open documents, by absolute path."""
        self._names: dict[str, FileNames] = {}
        self._stamps: dict[str, tuple[int, int]] = {}
        self._directories: dict[str, set[str]] = {}
        self._calls: dict[str, Calls] = {}
        """Directories that calls lead to, as far as evaluating has shown, by root module."""
        self._callers: dict[str, set[tuple[str, str]]] | None = None

    # -- contents ---------------------------------------------------------------------------------

    def open(self, path: str, text: str) -> Document:
        """Take the text of a document in place of the file on disk."""
        document = self.documents[path] = Document(path, text)
        self._put(path, document)
        return document

    def close(self, path: str) -> None:
        """Take what is on disk again."""
        self.documents.pop(path, None)
        self.changed(path)

    def changed(self, path: str) -> None:
        """Read a file again that may have changed on disk, or may exist no more."""
        if path in self.documents:
            return
        self._stamps.pop(path, None)
        document = read_document(path) if kind_of(path) in _READ else None
        self._put(path, document)

    def document(self, path: str) -> Document | None:
        """A document, open or on disk."""
        return self.documents.get(path) or read_document(path)

    def texts(self) -> dict[str, bytes]:
        """The contents of all open documents."""
        return {path: each.text.encode("utf-8", "replace") for path, each in self.documents.items()}

    def adopt(self, found: Iterable[FileNames]) -> None:
        """Take over what has been read in the background, unless something newer is known."""
        for names in found:
            if names.path not in self._names:
                self._names[names.path] = names
                self._directories.setdefault(names.directory, set()).add(names.path)
        self._callers = None

    def resolve(self, root: str, calls: Calls | None) -> None:
        """Take over where the calls of a root module lead; None forgets it."""
        self._calls.pop(root, None)
        if calls is not None:
            self._calls[root] = calls
        self._callers = None

    def _put(self, path: str, document: Document | None) -> None:
        directory = module_directory(path)
        before = self._names.pop(path, None)
        self._directories.setdefault(directory, set()).discard(path)
        sources: Mapping[str, str] = {}
        if document is not None and document.kind in _READ:
            names = self._names[path] = names_in(document)
            self._directories[directory].add(path)
            sources = names.sources
        if sources != ({} if before is None else before.sources):
            self._callers = None

    # -- files and modules ------------------------------------------------------------------------

    def files_of(self, directory: str) -> list[FileNames]:
        """The names in the files of a module, as they are now."""
        self._refresh(directory)
        return self._known_files(directory)

    def _known_files(self, directory: str) -> list[FileNames]:
        """The same without looking at the disk. Of `a.tf` and `a.tofu` only the latter counts."""
        paths = sorted(self._directories.get(directory, ()))
        names = [os.path.basename(each) for each in paths]
        primary, override = config_files(names)
        counted = {*primary, *override}
        return [
            self._names[path]
            for path, name in zip(paths, names, strict=True)
            if name in counted or kind_of(path) is not Kind.CONFIGURATION
        ]

    def _refresh(self, directory: str) -> None:
        """Read files again that have changed on disk since."""
        stamps = dict(_stamped_files(directory))
        for path in self._directories.get(directory, ()):
            if path not in stamps and (stamp := _stamp(path)) is not None:
                stamps[path] = stamp
        for path, stamp in stamps.items():
            if path not in self.documents and self._stamps.get(path) != stamp:
                self._put(path, read_document(path))
                self._stamps[path] = stamp
        for path in [*self._directories.get(directory, ())]:
            if path not in stamps and path not in self.documents:
                self._put(path, None)

    def stamp(self, path: str) -> tuple[int, int] | None:
        """The signature by which a changed file on disk is recognised."""
        return self._stamps.get(path)

    @property
    def directories(self) -> list[str]:
        """The directories of all modules that are known."""
        return sorted(each for each, paths in self._directories.items() if paths)

    def all_files(self) -> Iterator[FileNames]:
        """The names in all files that are known."""
        for directory in self.directories:
            yield from self._known_files(directory)

    def called(self, directory: str, calls: Sequence[str]) -> tuple[str, ...]:
        """The directories that calls lead to from a module, one call after the other."""
        found: tuple[str, ...] = (directory,)
        for call in calls:
            found = tuple(dict.fromkeys(to for each in found for to in self._called(each, call)))
        return found

    def _called(self, directory: str, call: str) -> tuple[str, ...]:
        for names in self._known_files(directory) or self.files_of(directory):
            source = names.sources.get(call)
            if source is not None and source.startswith(_LOCAL):
                return (os.path.normpath(os.path.join(directory, source)),)
        found = (each.get(directory, {}).get(call, ()) for each in self._calls.values())
        return tuple(sorted({to for each in found for to in each}))

    def callers(self, directory: str) -> list[tuple[str, str]]:
        """The modules that call a module, each with the name of the call."""
        if self._callers is None:
            self._callers = {}
            for caller in self.directories:
                names = {
                    each.name
                    for file in self._known_files(caller)
                    for each in file.occurrences
                    if each.kind == MODULE and each.role == DECLARED
                }
                for call in names:
                    for called in self._called(caller, call):
                        self._callers.setdefault(called, set()).add((caller, call))
        return sorted(self._callers.get(directory, ()))

    def roots_of(self, directory: str, most: int) -> list[str]:
        """The modules at the top of the calls that lead to a module, so many at most."""
        found: dict[str, None] = {}
        seen = {directory}
        pending = [directory]
        while pending and len(found) < most:
            current = pending.pop(0)
            callers = [caller for caller, _ in self.callers(current) if caller not in seen]
            if not callers and (current == directory or not self.callers(current)):
                found[current] = None
            seen.update(callers)
            pending.extend(dict.fromkeys(callers))
        return [*found] or [directory]

    # -- symbols ----------------------------------------------------------------------------------

    def symbols_of(self, directory: str, occurrence: Occurrence) -> list[Symbol]:
        """The symbols of a name in a file of a module: several if a call leads to several modules."""
        return [
            Symbol(occurrence.kind, each, occurrence.name)
            for each in self.called(directory, occurrence.calls)
        ]

    def occurrence_at(self, path: str, offset: int) -> Occurrence | None:
        """The name at an offset of a file."""
        names = self._names.get(path)
        if names is None:
            return None
        touching = [each for each in names.occurrences if each.start <= offset <= each.end]
        return touching[-1] if touching else None

    def names_in(self, path: str) -> FileNames | None:
        """The names in a file."""
        return self._names.get(path)

    def declarations(self, symbols: Collection[Symbol]) -> list[Place]:
        """The ranges of the declarations of symbols."""
        return [
            Place(names.path, each)
            for symbol in symbols
            for names in self.files_of(symbol.directory)
            for each in names.occurrences
            if each.role == DECLARED and each.kind == symbol.kind and each.name == symbol.name
        ]

    def places(self, symbols: Collection[Symbol]) -> list[Place]:
        """Everywhere that symbols are named, in their modules and in those that call them."""
        wanted = set(symbols)
        kinds = {(each.kind, each.name) for each in wanted}
        for directory in {each.directory for each in wanted}:
            self._refresh(directory)
        return [
            Place(names.path, each)
            for names in self.all_files()
            for each in names.occurrences
            if (each.kind, each.name) in kinds
            and any(each in wanted for each in self.symbols_of(names.directory, each))
        ]


def survey(folders: Sequence[str]) -> list[FileNames]:
    """The names in all files below folders, read from disk."""
    found: list[FileNames] = []
    for folder in folders:
        for path in files_below(folder):
            document = read_document(path)
            if document is not None:
                found.append(names_in(document))
            if len(found) >= _MOST_FILES:
                return found
    return found


def files_below(folder: str) -> Iterator[str]:
    """The files below a folder that are part of modules, without what tools have put there."""
    for directory, inner, names in os.walk(folder):
        inner[:] = sorted(each for each in inner if each not in _SKIPPED)
        for name in sorted(names):
            if kind_of(name) in _READ:
                yield os.path.join(directory, name)


def _stamped_files(directory: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The files of a module on disk, and what tells whether they have changed."""
    for place in (directory, os.path.join(directory, "tests")):
        try:
            entries = list(os.scandir(place))
        except OSError:
            continue
        for entry in entries:
            if kind_of(entry.name) in _READ and module_directory(entry.path) == directory:
                stamp = _stamp(entry.path)
                if stamp is not None:
                    yield entry.path, stamp


def _stamp(path: str) -> tuple[int, int] | None:
    """The signature by which a changed file is recognised; None if there is no file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None

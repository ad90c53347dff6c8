"""Reads directories of configuration files. One directory is one module.

Which files count is decided in `nigari.config.file_names`. A file is read and parsed once, a
directory decoded once, however many calls use it. Nothing is evaluated, and nothing is known of the
tree that modules form.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from os import PathLike, fspath

from nigari.config.blocks.language import only_incompatible
from nigari.config.file_names import config_files, is_mock_file, test_files
from nigari.config.kept_modules import KEPT, ReadModule
from nigari.config.merge import merge_files
from nigari.config.module import Module, decode_module
from nigari.diagnostics import Diagnostic, Diagnostics, Range
from nigari.hcl.binary import without_binary
from nigari.hcl.body import Block, Body
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parser import parse_body
from nigari.hcl.source import Source
from nigari.lang.files import DiskFiles, Files
from nigari.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.config.test_files import TestFile
    from nigari.config.test_mocks import MockProvider
    from nigari.hcl.json_body import JsonBody

_USUAL_TESTS = "tests"


def load_module(path: str | PathLike[str] = ".", diags: Diagnostics | None = None) -> Module:
    """What the files of one directory declare, override files included.

    Nothing is evaluated, and no other directory is read. What is wrong is added to `diags`, and as
    much as could be read is returned. Without `diags` an error is an `HclError`; a directory that
    cannot be read always is.
    """
    found = Diagnostics()
    loader = ModuleLoader(DiskFiles())
    module = loader.load(fspath(path), found)
    if module is None or (diags is None and found.has_errors):
        from nigari.diagnostics import to_text
        from nigari.hcl.errors import HclError

        raise HclError(list(found), to_text(found.in_order(), loader.sources))
    if diags is not None:
        diags.adopt(found)
    return module


class ModuleLoader:
    """Reads modules, and remembers what it has read."""

    __slots__ = ("_files", "_modules", "_roots", "sources")

    def __init__(self, files: Files) -> None:
        self.sources: dict[str, bytes] = {}
        """The content of every file that has been read, by its name in diagnostics."""
        self._files = files
        self._roots: dict[str, NativeBody | JsonBody] = {}
        self._modules: dict[str, tuple[Module, list[Diagnostic]]] = {}

    def load(self, directory: str, diags: Diagnostics) -> Module | None:
        """The module in a directory; None where that cannot be read.

        What is wrong with the module is reported each time that it is asked for.
        """
        directory = posixpath.normpath(directory or ".")
        known = self._modules.get(directory)
        if known is None:
            try:
                entries = self._files.entries(directory)
            except OSError as error:
                _report_directory(directory, error, diags)
                return None
            names = [entry.name for entry in entries if not entry.is_directory]
            read = self._read(directory, names)
            self._roots.update(read.roots)
            known = self._modules[directory] = read.module, list(read.problems)
        module, problems = known
        diags.extend(problems)
        return module

    def tests(self, directory: str, tests: str, diags: Diagnostics) -> list[TestFile]:
        """The test files of a module, beside it and in the directory `tests` below it, in the
        order in which they run.
        """
        directory = posixpath.normpath(directory or ".")
        names = sorted(self._test_files(directory, tests, diags))
        if not names:
            return []
        from nigari.config.test_files import decode_test_file

        found: list[TestFile] = []
        for name in names:
            body = self._parse(_path(directory, name), diags)
            if body is not None:
                file = decode_test_file(name, body, diags)
                mocks = {
                    key: self._whole(each, directory, diags) for key, each in file.mocks.items()
                }
                found.append(replace(file, mocks=mocks))
        return found

    def _whole(self, mock: MockProvider, directory: str, diags: Diagnostics) -> MockProvider:
        """A mock with what the directory says that it names, if it names one."""
        if not mock.source:
            return mock
        from nigari.config.test_mocks import MOCK_FILE, decode_mocks

        path = posixpath.normpath(posixpath.join(directory, mock.source))
        try:
            names = [each.name for each in self._files.entries(path) if not each.is_directory]
        except OSError as error:
            diags.error(
                "Cannot read mocks",
                f"The directory {path} cannot be read: {_reason(error)}.",
                mock.source_range,
            )
            return mock
        for name in sorted(names):
            if is_mock_file(name):
                body = self._parse(_path(path, name), diags)
                if body is not None:
                    content = body.content(MOCK_FILE, diags)
                    more = decode_mocks(content, content.missing_item_range, diags)
                    mock = mock.with_more(replace(mock, defaults=more[0], resources=more[1]))
        return mock

    def _test_files(self, directory: str, tests: str, diags: Diagnostics) -> list[str]:
        """The names of the test files of a module, from its directory on."""
        found: list[str] = []
        inner = posixpath.normpath(tests)
        for prefix in ("",) if inner == "." else ("", f"{inner}/"):
            try:
                entries = self._files.entries(posixpath.normpath(posixpath.join(directory, prefix)))
            except OSError as error:
                if prefix and inner != _USUAL_TESTS:
                    _warn_of_tests(inner, error, diags)
                continue
            names = [each.name for each in entries if not each.is_directory]
            found += [f"{prefix}{name}" for name in test_files(names)]
        return found

    def context_of(self, place: Range) -> str:
        """The block that a place is in, as it is called in diagnostics; empty outside of any.

        A block is not in itself: what is wrong with its header is in nothing.
        """
        root = self._roots.get(place.filename)
        if root is None:
            return ""
        byte = place.start.byte - 1
        if not isinstance(root, NativeBody):
            from nigari.hcl.json_navigation import context_name

            return context_name(root.value, byte)
        at = bisect_right(root.blocks, byte, key=_start_byte) - 1
        if at < 0:
            return ""
        block = root.blocks[at]
        if byte >= block.source.pos(block.end).byte:
            return ""
        return " ".join([block.type, *[f'"{label}"' for label in block.labels]])

    def _read(self, directory: str, names: list[str]) -> ReadModule:
        """The module that files make, from those that are kept or decoded now."""
        primary, override = config_files(names)
        found = Diagnostics()
        paths = [_path(directory, name) for name in primary + override]
        contents = [self._content(path, found) for path in paths]
        kept = KEPT.get()
        key = (
            directory,
            tuple((p, c) for p, c in zip(paths, contents, strict=True) if c is not None),
        )
        # What is wrong with a file that cannot be read is told here, and not by what is kept.
        known = None if kept is None or len(key[1]) < len(paths) else kept.find(key)
        if known is None:
            known = _decoded(directory, paths, contents, len(primary), found)
            if kept is not None and None not in contents:
                kept.keep(key, known)
        return known

    def _parse(self, path: str, diags: Diagnostics) -> Body | None:
        content = self._content(path, diags)
        if content is None:
            return None
        body = self._roots[path] = _parsed(path, content, diags)
        return body

    def _content(self, path: str, diags: Diagnostics) -> bytes | None:
        try:
            content = self._files.read(path)
        except OSError as error:
            _report_file(path, error, diags)
            return None
        self.sources[path] = content
        return content


def _decoded(
    directory: str,
    paths: list[str],
    contents: list[bytes | None],
    primary: int,
    diags: Diagnostics,
) -> ReadModule:
    """The module in files with these contents, of which those after the primary ones override."""
    roots: dict[str, NativeBody | JsonBody] = {}
    for path, content in zip(paths, contents, strict=True):
        if content is not None:
            roots[path] = _parsed(path, content, diags)
    declarations = merge_files(
        [roots[path] for path in paths[:primary] if path in roots],
        [roots[path] for path in paths[primary:] if path in roots],
        diags,
    )
    module = decode_module(directory, paths, declarations, diags)
    return ReadModule(module, only_incompatible(diags), roots)


def _parsed(path: str, content: bytes, diags: Diagnostics) -> NativeBody | JsonBody:
    source = without_binary(Source.from_bytes(path, content), diags)
    if not path.endswith(".json"):
        return parse_body(source, diags)
    from nigari.hcl.json_body import parse_json_body

    return parse_json_body(source, diags)


def _path(directory: str, name: str) -> str:
    return name if directory == "." else f"{directory}/{name}"


def _start_byte(block: Block) -> int:
    return block.source.pos(block.start).byte


def _report_directory(directory: str, error: OSError, diags: Diagnostics) -> None:
    # What everything is relative to is written as a dot, which says nothing to the reader.
    shown = posixpath.normpath(error.filename or ".") if directory == "." else directory
    diags.error(
        "Cannot read the module directory",
        f"The directory {shown} cannot be read: {_reason(error)}.",
    )


def _warn_of_tests(directory: str, error: OSError, diags: Diagnostics) -> None:
    diags.warning(
        "No test directory",
        f"The directory {directory}, which -test-directory selects, cannot be read: "
        f"{_reason(error)}. Only the test files next to the configuration are used.",
    )


def _report_file(path: str, error: OSError, diags: Diagnostics) -> None:
    diags.error(
        "Cannot read a file", f"The configuration file {path} cannot be read: {_reason(error)}."
    )


def _reason(error: OSError) -> str:
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]

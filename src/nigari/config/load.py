"""Module loader for directories of configuration files.

`nigari.config.file_names` selects the files. A file is parsed once and a directory decoded once,
however many calls use it. Nothing is evaluated. Deliberately unknown here: the module tree.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from collections.abc import Mapping
from os import PathLike, fspath

from nigari.config.blocks.language import only_incompatible
from nigari.config.file_names import (
    config_files,
    is_mock_file,
    is_query_file,
    is_symbol_file,
    test_files,
)
from nigari.config.merge import merge_files
from nigari.config.module import Module, decode_module
from nigari.config.module_cache import MODULE_CACHE, ReadModule
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
    from nigari.config.symbol_files import LibraryDeclarations
    from nigari.config.test_files import TestFile
    from nigari.config.test_mocks import MockProvider
    from nigari.hcl.json_body import JsonBody

_USUAL_TESTS = "tests"


def load_module(path: str | PathLike[str] = ".", diags: Diagnostics | None = None) -> Module:
    """Load the declarations in one directory, including override files.

    Nothing is evaluated, and no other directory is read. Mistakes are added to `diags`, and the
    result has every valid part. Without `diags` an error raises `HclError`, as does an unreadable
    directory in any case.
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
    """Loads modules, and caches them."""

    __slots__ = ("_files", "_modules", "_roots", "query_directory", "sources")

    def __init__(self, files: Files) -> None:
        self.sources: dict[str, bytes] = {}
        """Content of every file that has been read, by its name in diagnostics."""
        self.query_directory: str | None = None
        """The directory whose query files are read; most commands read none."""
        self._files = files
        self._roots: dict[str, NativeBody | JsonBody] = {}
        self._modules: dict[str, tuple[Module, list[Diagnostic]]] = {}

    @property
    def trees(self) -> Mapping[str, NativeBody | JsonBody]:
        """The bodies of all files that have been read, by their names in diagnostics."""
        return self._roots

    def load(self, directory: str, diags: Diagnostics) -> Module | None:
        """Load the module in a directory; None if it cannot be read.

        Its diagnostics are reported on every call.
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
            read = self._read(directory, names, directory == self.query_directory)
            self._roots.update(read.roots)
            known = self._modules[directory] = read.module, list(read.problems)
        module, problems = known
        diags.extend(problems)
        return module

    def library(self, directory: str, diags: Diagnostics) -> LibraryDeclarations | None:
        """Load the symbol library in a directory; None if there is none."""
        from nigari.config.symbol_files import decode_library

        directory = posixpath.normpath(directory or ".")
        try:
            names = [each.name for each in self._files.entries(directory)]
        except OSError as error:
            _report_directory(directory, error, diags)
            return None
        paths = [_path(directory, name) for name in sorted(filter(is_symbol_file, names))]
        bodies = [self._parse(path, diags) for path in paths]
        return decode_library(paths, [body for body in bodies if body is not None], diags)

    def tests(self, directory: str, tests: str, diags: Diagnostics) -> list[TestFile]:
        """Load the test files of a module, beside it and in its directory `tests`, in the order in
        which they run.
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
        """Complete a mock with the directory that it names, if it names one."""
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
        """List the test files of a module, relative to its directory."""
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
        """Name the block that contains a range, for diagnostics; empty outside of any.

        The header of a block is not inside it.
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

    def _read(self, directory: str, names: list[str], has_queries: bool) -> ReadModule:
        """Read the module in files, from the cache if possible."""
        primary, override = config_files(names)
        queries = sorted(filter(is_query_file, names)) if has_queries else []
        found = Diagnostics()
        groups = [
            [_path(directory, name) for name in each] for each in (primary, override, queries)
        ]
        paths = [path for group in groups for path in group]
        contents = [self._content(path, found) for path in paths]
        cache = MODULE_CACHE.get()
        key = (
            directory,
            tuple((p, c) for p, c in zip(paths, contents, strict=True) if c is not None),
        )
        # An unreadable file is reported here and never cached.
        known = None if cache is None or len(key[1]) < len(paths) else cache.find(key)
        if known is None:
            known = _decoded(directory, groups, dict(zip(paths, contents, strict=True)), found)
            if cache is not None and None not in contents:
                cache.add(key, known)
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
    groups: list[list[str]],
    contents: Mapping[str, bytes | None],
    diags: Diagnostics,
) -> ReadModule:
    """Decode the module in files with these contents: primary ones, override files, query files."""
    roots: dict[str, NativeBody | JsonBody] = {}
    for path, content in contents.items():
        if content is not None:
            roots[path] = _parsed(path, content, diags)
    primary, override, queries = (
        [roots[path] for path in group if path in roots] for group in groups
    )
    declarations = merge_files(primary, override, queries, diags)
    module = decode_module(directory, [*contents], declarations, diags)
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
    # The base directory is called ".", which would mean nothing to a reader.
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

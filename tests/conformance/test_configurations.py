"""Configurations of others that must load, or must be refused at the right place.

Levels: one file, one directory, or the whole tree of local modules as the static phase finds it.
What is wrong only once something has been validated or planned is judged elsewhere.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

import pytest

from nigari.addrs.module_source import LocalSource
from nigari.config.blocks.module_call import parse_source
from nigari.config.file_names import has_module
from nigari.config.load import ModuleLoader
from nigari.config.module import Module
from nigari.config.symbol_files import LibraryDeclarations
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.eval.core.compile import CompiledModule
from nigari.eval.core.module_tree import InstallModule, ModuleInstance
from nigari.eval.static.run import StaticSettings, run_static
from nigari.eval.tree.placement_rules import check_places
from nigari.eval.tree.provider_iteration import check_provider_iteration
from nigari.eval.tree.provider_rules import check_providers
from nigari.lang.files import DiskFiles, Files, MemoryFiles
from nigari.lang.functions.table import function_table
from tests.conformance import CONFORMANCE, Row, needs_conformance, rows
from tests.conformance.not_applicable import configuration_reason, line_reason

_DATA = CONFORMANCE / "configurations" / "data"
_LEVELS = (
    "load_file",
    "load_dir",
    "build_config",
    "provider_requirements",
    "module_install",
    "init",
)


class _LocalModules:
    """Modules that are called by a path, which is relative to the caller or to the root module."""

    def __init__(self, loader: ModuleLoader, base: str | None) -> None:
        self._loader = loader
        self._base = base

    def load_all(
        self, wanted: Sequence[tuple[InstallModule, ModuleInstance]], diags: Diagnostics
    ) -> list[CompiledModule | None]:
        return [self._load(effect, caller, diags) for effect, caller in wanted]

    def library_at(self, directory: str, diags: Diagnostics) -> LibraryDeclarations | None:
        """None of the configurations has symbol libraries."""
        return None

    def _load(
        self, effect: InstallModule, caller: ModuleInstance, diags: Diagnostics
    ) -> CompiledModule | None:
        name, _ = effect.addr.steps[-1]
        where = caller.module.calls[name].source.range
        source = parse_source(effect.source, effect.version is not None, where, diags)
        if not isinstance(source, LocalSource):
            return None
        start = caller.module.directory if self._base is None else self._base
        directory = posixpath.join(start, source.path)
        if not has_module(DiskFiles(), posixpath.normpath(directory)):
            return None
        module = self._loader.load(directory, diags)
        return None if module is None else CompiledModule(module)


def _cases() -> list[Row]:
    found = rows("configurations/manifest.jsonl")
    return [row for row in found if str(row["level"]).startswith(_LEVELS)]


def _grow(
    root: Module, loader: ModuleLoader, files: Files, base: str | None, diags: Diagnostics
) -> ModuleInstance:
    """The tree of modules that a root module makes."""
    functions = function_table(files, root.directory)
    static_settings = StaticSettings({}, functions, _LocalModules(loader, base))
    run = run_static(CompiledModule(root), static_settings)
    diags.extend(run.diags)
    return run.root.instance


def _load(files: Files, directory: str, level: str) -> list[Diagnostic]:
    """Everything that is wrong with a configuration at a level."""
    diags = Diagnostics()
    loader = ModuleLoader(files)
    module = loader.load(directory, diags)
    if module is not None and level not in ("load_file", "load_dir"):
        base = directory if "relative to the root" in level else None
        root = _grow(module, loader, files, base, diags)
        if not level.startswith("load_file"):
            check_places(root, diags)
            check_providers(root, diags)
            check_provider_iteration(root, diags)
    return diags.in_order()


def _is_at(line: int, found: Diagnostic, row: Row) -> bool:
    """Whether a diagnostic is at a line; another program may point elsewhere in the same range."""
    if found.subject is None:
        return False
    first, last = found.subject.start.line, found.subject.end.line
    is_from_other = "line_source" in row or "diag_source" in row
    return first <= line <= last if is_from_other else line == first


def _told(found: list[Diagnostic]) -> str:
    return "\n".join(f"{each.severity.value} {each.subject} {each.summary}" for each in found)


def _check_each(expected: list[Row], found: list[Diagnostic]) -> None:
    """Every expected diagnostic is there: its severity and, as far as they are known, its place."""
    left = list(found)
    for wanted in expected:
        match = next((each for each in left if _fits(wanted, each)), None)
        assert match is not None, f"nothing like {wanted} in\n{_told(found)}"
        left.remove(match)


def _fits(wanted: Row, found: Diagnostic) -> bool:
    if wanted.get("severity") not in (None, found.severity.value):
        return False
    if wanted.get("line") is None:
        return True
    if found.subject is None or found.subject.start.line != wanted["line"]:
        return False
    file = wanted.get("file")
    return not isinstance(file, str) or found.subject.filename.endswith(file)


@needs_conformance
@pytest.mark.parametrize("row", _cases(), ids=lambda row: str(row["path"]))
def test_configuration(row: Row) -> None:
    reason = configuration_reason(row)
    if reason is not None:
        pytest.skip(reason)
    path, level = _DATA / str(row["path"]), str(row["level"])
    if row["kind"] == "file":
        found = _load(MemoryFiles({path.name: path.read_bytes()}), ".", level)
    else:
        found = _load(DiskFiles(), str(path), level)
    errors = [each for each in found if each.severity is Severity.ERROR]
    assert bool(errors) is (row["expect"] == "error"), _told(found)
    if row["expect"] == "warning":
        assert found
    expected = row.get("diags") or []
    assert isinstance(expected, list)
    _check_each([each for each in expected if isinstance(each, dict)], found)
    if row.get("exact"):
        assert len(found) == len(expected), _told(found)
    if "exact_count" in row:
        assert len(found) == row["exact_count"], _told(found)
    line = row["line"]
    if isinstance(line, int) and errors and line_reason(row) is None:
        assert any(_is_at(line, each, row) for each in errors), _told(found)

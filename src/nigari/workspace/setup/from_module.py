"""Copying modules: `init -from-module`, which begins a configuration with one, and whole packages.

What becomes of the copy is for the caller to say.
"""

from __future__ import annotations

import os
import posixpath
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from nigari.addrs.module_source import (
    LocalSource,
    ModuleSource,
    RegistrySource,
    RemoteSource,
    parse_module_source,
)
from nigari.config.blocks.module_call import ModuleCall
from nigari.config.load import ModuleLoader
from nigari.cty.types import STRING
from nigari.diagnostics import Diagnostics, Range
from nigari.diagnostics.secret_urls import hidden_url
from nigari.hcl.scope import Scope
from nigari.lang.files import DiskFiles
from nigari.packages.content.module_fetch import FetchError
from nigari.packages.content.package_tree import Found
from nigari.packages.content.subdirectories import find_subdir
from nigari.packages.hosts.cli_config import CliConfig
from nigari.packages.hosts.cli_config_files import load_cli_config
from nigari.packages.modules.module_download import ModuleDownloads
from nigari.packages.modules.module_registry import ModuleRegistries
from nigari.packages.modules.module_store import ModuleStore
from nigari.workspace.setup.install import directory_package
from nigari.workspace.setup.module_sources import ModuleSources

_IGNORED = frozenset((".git", ".terraform"))


def shown_source(text: str) -> str:
    """A source for people, without the secrets that it may hold."""
    source = parse_module_source(text, Diagnostics())
    return hidden_url(text) if source is None else source.display


def copy_module(
    text: str, directory: str, environ: Mapping[str, str], may_ask: bool, diags: Diagnostics
) -> bool:
    """Copy the module that a source names into an empty directory; False after an error."""
    if any(name not in _IGNORED for name in os.listdir(directory)):
        _report_not_empty(diags)
        return False
    source = _parsed(text, diags)
    config = load_cli_config(environ, diags)
    if source is None or diags.has_errors:
        return False
    try:
        if isinstance(source, LocalSource):
            _copy(Path(directory, source.path), Path(directory))
        else:
            _copy_package(source, directory, config, environ, may_ask)
    except FetchError as error:
        _report_failure(source.display, str(error), diags)
        return False
    except OSError as error:
        _report_failure(source.display, f"{error.strerror or error}.", diags)
        return False
    return _stays_inside(source, directory, diags)


def fetch_package(
    text: str,
    version: str,
    directory: str,
    environ: Mapping[str, str],
    diags: Diagnostics,
    subject: Range | None = None,
) -> bool:
    """Copy a whole remote package into an empty directory; False after an error."""
    problems = Diagnostics()
    source = parse_module_source(text, problems)
    config = load_cli_config(environ, problems)
    if source is None or isinstance(source, LocalSource) or problems.has_errors:
        diags.extend(problems)
        return False
    try:
        _copy_package(source, directory, config, environ, False, version)
    except FetchError as error:
        diags.error(
            "Cannot fetch the module", f"{source.display} cannot be fetched. {error}", subject
        )
        return False
    return True


def _parsed(text: str, diags: Diagnostics) -> ModuleSource | None:
    """A source of the command line, where a directory needs no "./" to be recognised."""
    problems = Diagnostics()
    source = parse_module_source(f"{text}/" if text in (".", "..") else text, problems)
    for problem in problems:
        diags.error(problem.summary, problem.detail)
    return source


def _copy_package(
    source: RegistrySource | RemoteSource,
    directory: str,
    config: CliConfig,
    environ: Mapping[str, str],
    may_ask: bool,
    version: str = "",
) -> None:
    with tempfile.TemporaryDirectory(prefix="nigari-module-") as temporary:
        sources = ModuleSources(config, environ, may_ask, ModuleStore(Path(temporary, "modules")))
        try:
            found = directory_package(source) or sources.run(
                _get(sources.registries(), sources.downloads(), source, version)
            )
            place = found.package.path
            for subdir in (found.origin.subdir, source.subdir):
                place = place / find_subdir(place, subdir) if subdir else place
            _copy(place, Path(directory))
        finally:
            sources.close()


async def _get(
    registries: ModuleRegistries,
    downloads: ModuleDownloads,
    source: RegistrySource | RemoteSource,
    version: str,
) -> Found:
    if isinstance(source, RemoteSource):
        return await downloads.remote(source)
    if version:
        return await downloads.registry(source, version)
    newest = (await registries.versions(source)).newest(None)
    if newest is None:
        raise FetchError("The registry has no released version of it.")
    return await downloads.registry(source, str(newest))


def _stays_inside(source: ModuleSource, directory: str, diags: Diagnostics) -> bool:
    """Return whether the copied module calls no module beside its directory, which is not copied."""
    module = ModuleLoader(DiskFiles()).load(directory, Diagnostics())
    is_fine = True
    for call in module.calls.values() if module is not None else ():
        problems = Diagnostics()
        value = call.source.value(Scope(), problems)
        if problems.has_errors or value.type is not STRING or not value.is_known or value.is_null:
            continue
        called = parse_module_source(value.as_string(), problems)
        if isinstance(called, LocalSource) and called.path.startswith("../"):
            _report_parent(call, called, _beside(source, called.path), diags)
            is_fine = False
    return is_fine


def _beside(source: ModuleSource, path: str) -> str:
    """The source of a module beside the one that was copied; empty if it is in no package."""
    if isinstance(source, LocalSource):
        return posixpath.normpath(posixpath.join(source.path, path))
    subdir = posixpath.normpath(posixpath.join(source.subdir, path))
    if subdir.startswith(".."):
        return ""
    subdir = "" if subdir == "." else subdir
    if isinstance(source, RemoteSource):
        return RemoteSource(source.package, subdir).display
    return RegistrySource(
        source.hostname, source.namespace, source.name, source.target_system, subdir
    ).display


def _report_parent(call: ModuleCall, called: LocalSource, instead: str, diags: Diagnostics) -> None:
    advice = f' Change the source to "{instead}" and run init again.' if instead else ""
    diags.error(
        "Module outside the copied directory",
        f"The copied configuration calls module.{call.name} with the source {called.path}, which is "
        f"outside the directory that was copied.{advice}",
        call.source.range,
    )


def _copy(source: Path, target: Path) -> None:
    """Copy everything but what begins with a dot: that is for the repository it comes from."""
    here = target.resolve()
    for entry in sorted(source.resolve().iterdir()):
        if entry.name.startswith(".") or entry == here:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.copytree(
                entry, target / entry.name, symlinks=True, ignore=shutil.ignore_patterns(".*")
            )
        else:
            shutil.copy2(entry, target / entry.name, follow_symlinks=False)


def _report_not_empty(diags: Diagnostics) -> None:
    diags.error(
        "Directory is not empty",
        "The option -from-module copies a module into an empty directory, but this one contains "
        "files.",
    )


def _report_failure(source: str, reason: str, diags: Diagnostics) -> None:
    diags.error("Cannot copy the module", f"{source} cannot be copied here. {reason}")

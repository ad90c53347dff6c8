"""Saving a plan and taking it up again: the configuration it was made from, and what it read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from nigari.eval.inputs import InputKind, Inputs, InputValue
from nigari.lang.files import Entry, Files, MemoryFiles
from nigari.lang.marks import EPHEMERAL
from nigari.packages.lockfile import FILE_NAME
from nigari.plan.changes import Plan
from nigari.plan.plan_file import Data, SavedPlan, checksum, plan_header, value_to_data
from nigari.workspace.planning import Planning

_MANIFEST: Final = os.path.join("modules", "modules.json")


class ReadFiles:
    """Files of which it is noted what was read."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.checksums: dict[str, str] = {}

    def read(self, path: str, limit: int | None = None) -> bytes:
        content = self._files.read(path, limit)
        self.checksums[os.path.normpath(path)] = checksum(content)
        return content

    def entries(self, path: str) -> list[Entry]:
        return self._files.entries(path)

    def is_file(self, path: str) -> bool:
        return self._files.is_file(path)

    def is_directory(self, path: str) -> bool:
        return self._files.is_directory(path)


class UnchangedFiles:
    """Files that must still have the content that a plan was made with."""

    def __init__(self, files: Files, checksums: Mapping[str, str]) -> None:
        self._files = files
        self._checksums = checksums

    def read(self, path: str, limit: int | None = None) -> bytes:
        content = self._files.read(path, limit)
        known = self._checksums.get(os.path.normpath(path))
        if known is not None and known != checksum(content):
            raise OSError(0, f"{path} has changed since the plan was made", path)
        return content

    def entries(self, path: str) -> list[Entry]:
        return self._files.entries(path)

    def is_file(self, path: str) -> bool:
        return self._files.is_file(path)

    def is_directory(self, path: str) -> bool:
        return self._files.is_directory(path)


def lock_checksum(directory: str = ".") -> str:
    """What the lock file is known by; empty where there is none."""
    try:
        return checksum(Path(directory, FILE_NAME).read_bytes())
    except OSError:
        return ""


def saved_plan(
    planning: Planning,
    plan: Plan,
    sources: Mapping[str, bytes],
    read: Mapping[str, str],
    data_directory: Path,
    snapshot: tuple[str, int],
) -> SavedPlan:
    """Everything that applying a plan later needs."""
    kept = dict(sources)
    manifest = data_directory / _MANIFEST
    if manifest.is_file():
        kept[os.path.normpath(manifest)] = manifest.read_bytes()
    variables: Data = {}
    assert planning.planner is not None
    assert planning.planner.host is not None
    for name, node in planning.planner.host.root.variables.items():
        value = node.value
        if EPHEMERAL not in value.marks:
            variables[name] = value_to_data(value)
    extra: Data = {
        "workspace": planning.workspace,
        "timestamp": planning.timestamp,
        "lineage": snapshot[0],
        "serial": snapshot[1],
        "lock": lock_checksum(),
        "files": dict(read),
        "variables": variables,
    }
    header = plan_header(plan, planning.graph(plan), extra)
    return SavedPlan(header, kept, plan.previous_state, plan.refreshed_state)


def saved_inputs(saved: SavedPlan) -> Inputs:
    """The values of variables that a plan was made with."""
    return {
        name: InputValue(InputKind.CALLER, "the plan", value=value.unmark_deep()[0])
        for name, value in saved.variables.items()
    }


def saved_files(saved: SavedPlan) -> Files:
    """The configuration that a plan was made from."""
    return MemoryFiles(saved.sources)

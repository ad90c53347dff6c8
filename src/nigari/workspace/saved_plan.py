"""Saving a plan and taking it up again: the configuration it was made from, and what it read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from nigari.config.variable import Variable
from nigari.cty.errors import CtyError
from nigari.diagnostics import Diagnostics
from nigari.eval.inputs import InputKind, Inputs, InputValue
from nigari.eval.variable import fitted
from nigari.events import Listener
from nigari.lang.files import DiskFiles, Entry, Files, MemoryFiles
from nigari.lang.marks import EPHEMERAL
from nigari.packages.lockfile import FILE_NAME
from nigari.plan.changes import Plan
from nigari.plan.plan_file import Data, SavedPlan, checksum, plan_header, value_to_data
from nigari.workspace.directory import Workspace
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


def lock_checksum() -> str:
    """What the lock file is known by; empty where there is none."""
    try:
        return checksum(Path(FILE_NAME).read_bytes())
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


async def restored(
    saved: SavedPlan,
    environ: Mapping[str, str],
    listener: Listener,
    diags: Diagnostics,
    give: Callable[[Mapping[str, Variable]], Inputs] | None = None,
    working_path: str = "",
) -> tuple[Planning, Plan] | None:
    """A plan that was saved, ready to be shown or applied; None after reporting why it is not.

    What runs for it must be ended by whoever asked for it. To be applied it needs the values of
    its ephemeral variables, which are given once more.
    """
    inputs = saved_inputs(saved)
    workspace = Workspace(files=saved_files(saved), environ=environ, working_path=working_path)
    static, told = workspace.static(inputs, saved.workspace)
    diags.extend(told)
    if static is None or diags.has_errors:
        return None
    if give is not None:
        variables = static.root.module.variables
        again = _given_again(variables, inputs, give(variables), diags)
        if again is None:
            return None
        inputs = again
    planning = Planning(
        static,
        inputs,
        UnchangedFiles(DiskFiles(), saved.files),
        saved.previous,
        environ,
        saved.workspace,
        listener=listener,
    )
    plan = await planning.restore(saved)
    diags.extend(planning.diags)
    planning.diags = Diagnostics()
    if plan is None:
        await planning.close()
        return None
    return planning, plan


def saved_inputs(saved: SavedPlan) -> Inputs:
    """The values of variables that a plan was made with."""
    return {
        name: InputValue(InputKind.CALLER, "the plan", value=value.unmark_deep()[0])
        for name, value in saved.variables.items()
    }


def _given_again(
    variables: Mapping[str, Variable], saved: Inputs, given: Inputs, diags: Diagnostics
) -> Inputs | None:
    """The values of all variables: those of the plan, and those of the ephemeral variables.

    Others need not be given again, and must not contradict the plan where they are. What is wrong
    is reported.
    """
    found = dict(saved)
    for name, variable in variables.items():
        value = given.get(name)
        if variable.ephemeral:
            if value is not None:
                found[name] = value
            elif variable.default is None:
                diags.error(
                    "No value for an ephemeral variable",
                    f"The plan needs var.{name}, whose values are not stored, so that it must be "
                    f"given again to apply the plan: with -var {name}=..., in a .tfvars file, or "
                    f"as TF_VAR_{name} in the environment.",
                    variable.range,
                )
        elif value is not None and name in saved and not _agrees(variable, value, saved[name]):
            diags.error(
                "Value contradicts the plan",
                f"var.{name} is given another value by {value.origin} than the one that the plan was "
                "made with. Leave it out, or make a new plan.",
                value.range,
            )
    return None if diags.has_errors else found


def _agrees(variable: Variable, given: InputValue, saved: InputValue) -> bool:
    unheard = Diagnostics()
    value = given.resolve(variable, unheard)
    if value is None:
        return False
    if value.is_null and not variable.nullable:
        return True
    try:
        return fitted(variable, value) == saved.value
    except CtyError:
        return False


def saved_files(saved: SavedPlan) -> Files:
    """The configuration that a plan was made from."""
    return MemoryFiles(saved.sources)

"""The journal of the last apply in a directory: its operations and events, in order.

It is for showing an apply from another process, during or after it, and for finding the variables
that have changed since. Nothing depends on it, so whatever cannot be written is left out. It is one
file for each workspace, of a limited size, that only its owner may read. It contains neither values
of objects nor the output of provisioners, and of variables only those that are not sensitive. The
file is locked until the apply ends.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress

from nigari.cty.errors import CtyError
from nigari.diagnostics import Diagnostics
from nigari.eval.core.inputs import InputKind, Inputs, InputValue
from nigari.file_lock import FileLock, take_lock
from nigari.packages.content.whole_file import make_directories
from nigari.system_calls import NO_LINK, NOT_INHERITED
from nigari.version import VERSION
from nigari.workspace.session.apply_events import OUTPUT, ApplyEvents, Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.plan.engine import PlanOutcome

FORMAT: Final = 1
_MODE: Final = 0o600
_MOST_BYTES: Final = 8 * 1024 * 1024
_MOST_OPERATIONS: Final = 20_000
"""With more, it does not say what waits for what."""
_LONGEST_VALUE: Final = 8 * 1024
_TRIES: Final = 5
_MOMENT: Final = 0.005
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ALWAYS: Final = ("end", "diagnostic")
"""Kinds of records that are written even if the journal is full."""


class ApplyJournal:
    """The journal of one apply, in place of that of an earlier one."""

    def __init__(self, data_directory: str, outcome: PlanOutcome) -> None:
        self.events: ApplyEvents = ApplyEvents(self._write)
        self._file: int | None = None
        self._size = 0
        self._is_whole = False
        workspace = outcome.inputs.run_settings.workspace
        with suppress(OSError):
            self._file = opened_journal(journal_path(data_directory, workspace))
        self.events.add(
            "apply",
            format=FORMAT,
            version=VERSION,
            workspace=workspace,
            mode=outcome.plan.mode.value,
            variables=_variables(outcome),
        )
        graph = outcome.graph
        total = len(graph.operations)
        self.events.plan(graph.to_json() if total <= _MOST_OPERATIONS else [], total)

    def __enter__(self) -> ApplyJournal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self.events.end(self._is_whole)
            os.close(self._file)
            self._file = None

    def done(self, diags: Diagnostics, is_stored: bool) -> None:
        """Note what was found wrong with a plan that was carried out."""
        self.events.problems(diags.in_order())
        self._is_whole = is_stored and not diags.has_errors

    def _write(self, entry: Entry) -> None:
        if self._file is None or entry["type"] == OUTPUT:
            return
        data = f"{_ENCODER.encode(entry)}\n".encode("utf-8", "replace")
        if self._size + len(data) > _MOST_BYTES and entry["type"] not in _ALWAYS:
            return
        self._size += len(data)
        os.write(self._file, data)


def opened_journal(path: str) -> int:
    """An empty journal that is locked; `OSError` where it cannot be written, or another has it."""
    make_directories(os.path.dirname(path))
    file = os.open(path, os.O_WRONLY | os.O_CREAT | NOT_INHERITED | NO_LINK, _MODE)
    try:
        _lock(file)
        os.ftruncate(file, 0)
    except OSError:
        # Another apply goes on, of another state.
        os.close(file)
        raise
    return file


def _lock(file: int) -> None:
    """Lock a journal, waiting briefly: a process that checks the lock holds it for a moment."""
    import time

    for _ in range(_TRIES):
        if take_lock(file) is not FileLock.TAKEN:
            return
        time.sleep(_MOMENT)
    raise BlockingIOError(errno.EAGAIN, "another apply goes on")


def _variables(outcome: PlanOutcome) -> Entry:
    """Return the values of the root module's variables that are not sensitive."""
    from nigari.cty.json import value_to_json
    from nigari.cty.type_json import type_to_json

    declared = outcome.inputs.static.root.module.variables
    found: Entry = {}
    for name, value in outcome.variables.items():
        variable = declared.get(name)
        if variable is None or variable.sensitive or variable.ephemeral:
            continue
        if value.contains_marked or not value.is_wholly_known:
            continue
        text = value_to_json(value, value.type)
        if len(text) <= _LONGEST_VALUE:
            type = json.loads(type_to_json(value.type))
            found[name] = {"type": type, "value": json.loads(text)}
    return found


# -- for readers ------------------------------------------------------------------------------


def journal_path(data_directory: str, workspace: str) -> str:
    """Return the journal's path, whether it exists or not. A workspace's name may be part of it."""
    return os.path.join(data_directory, f"nigari.apply.{workspace}.jsonl")


def journal_entries(path: str) -> list[Entry]:
    """The journal of the last apply; empty if there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            return list(_read(lines))
    except OSError:
        return []


def _read(lines: Iterator[str]) -> Iterator[Entry]:
    first = parsed(next(lines, ""))
    if first is None or first.get("format") != FORMAT:
        return
    yield first
    for line in lines:
        entry = parsed(line)
        if entry is not None:
            yield entry


def parsed(line: str) -> Entry | None:
    """The entry in a line; None where it was not written to its end."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "type" in found and "at" in found else None


def is_going_on(path: str) -> bool:
    """Return whether the journal's apply is still running."""
    try:
        with open(path, "rb") as file:
            return take_lock(file.fileno(), shared=True) is FileLock.TAKEN
    except OSError:
        return False


def applied_inputs(path: str) -> Inputs:
    """The values that variables had at the last apply from this directory, as far as they are known."""
    from nigari.cty.json import value_from_json
    from nigari.cty.type_json import type_from_json

    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            entry = next(_read(lines), None)
    except OSError:
        return {}
    variables = None if entry is None else entry.get("variables")
    found: dict[str, InputValue] = {}
    for name, each in variables.items() if isinstance(variables, Mapping) else ():
        with suppress(ValueError, KeyError, TypeError, CtyError):
            type = type_from_json(json.dumps(each["type"]))
            value = value_from_json(json.dumps(each["value"]), type)
            found[name] = InputValue(InputKind.REMEMBERED, "the last apply", value=value)
    return found

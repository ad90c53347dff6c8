"""Saved fleet plans: one file with the plans of all units and a summary of each.

The plans of units are in it as they would be saved one by one, encrypted where their configurations
say so. The summary has addresses and actions, and no values.
"""

from __future__ import annotations

import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from nigari.diagnostics import Diagnostics
from nigari.fleet.runs.plan_fleet import FleetPlan, PlannedUnit
from nigari.fleet.runs.results import UnitResult, UnitStatus
from nigari.fleet.units.graph_loader import Survey
from nigari.fleet.work.tasks import ChangeLine, Changes
from nigari.plan.model.changes import PlanMode
from nigari.plan.model.plan_file import unreadable_plan
from nigari.record import record, replace
from nigari.system_calls import NOT_INHERITED

T = TypeVar("T")

_VERSION: Final = 1
_SUMMARY: Final = "fleet.json"
_PLANS: Final = "units"
_PRIVATE: Final = 0o600
_MOST: Final = 2**53
_DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    EOFError,
    OverflowError,
    # A password that was not set, an unknown method, and JSON that is too deep.
    RuntimeError,
)
"""The exceptions of reading a damaged archive or JSON."""
_NUMBERS: Final = ("add", "change", "destroy", "import_", "forget", "outputs")


@record
class SavedFleetPlan:
    """A fleet plan that was saved, with what the fleet was like then."""

    plan: FleetPlan
    fingerprints: Mapping[str, str]
    """For each unit what it was: its directory, its state, and what it needs."""


def fingerprint(found: Survey, name: str) -> str:
    """The identity of a unit, as far as a plan of it depends on that."""
    unit, graph = found.units[name], found.graph
    needs = ",".join(sorted(graph.needs[name]))
    return f"{unit.directory} {unit.workspace or ''} {needs}"


def write_fleet_plan(plan: FleetPlan, found: Survey, path: str, diags: Diagnostics) -> bool:
    """Save a plan; False after reporting why that cannot be done."""
    units = {name: _unit_data(each) for name, each in plan.units.items()}
    for name, data in units.items():
        data["fingerprint"] = fingerprint(found, name)
    summary = {
        "version": _VERSION,
        "id": plan.id,
        "mode": plan.mode.value,
        "created": plan.created,
        "units": units,
    }
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NOT_INHERITED, _PRIVATE)
        with (
            os.fdopen(descriptor, "wb") as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
        ):
            archive.writestr(_SUMMARY, json.dumps(summary, indent=1, ensure_ascii=False))
            for each in plan.units.values():
                if each.path and os.path.exists(each.path):
                    archive.write(each.path, f"{_PLANS}/{os.path.basename(each.path)}")
    except OSError as error:
        diags.error("Cannot save the plan", f"{path}: {error.strerror}.")
        return False
    return True


def read_fleet_plan(path: str, diags: Diagnostics) -> SavedFleetPlan | None:
    """A plan that was saved, without the plans of its units; None after reporting why not."""
    return _read(path, _saved_plan, diags)


def _saved_plan(archive: zipfile.ZipFile) -> SavedFleetPlan:
    data = _object(json.loads(_member(archive, _SUMMARY)), "the summary")
    if data.get("version") != _VERSION:
        raise ValueError("it was written by another version of this program")
    members = {os.path.basename(each) for each in archive.namelist()}
    units, prints = dict[str, PlannedUnit](), dict[str, str]()
    for name, each in _object(data.get("units"), "the list of units").items():
        unit = _object(each, f"what is said of {_text(name, 'a name')}")
        units[name] = _unit_from(name, unit, members)
        prints[name] = _text(unit.get("fingerprint"), "a fingerprint")
    id_ = _text(data.get("id"), "its identifier")
    if not id_.isalnum() or not id_.isascii():
        # It is the name of a directory.
        raise ValueError("its identifier is not valid")
    created = _text(data.get("created"), "its time")
    return SavedFleetPlan(FleetPlan(id_, PlanMode(data.get("mode")), created, units), prints)


def extract_plans(
    plan: FleetPlan, path: str, directory: str, diags: Diagnostics
) -> FleetPlan | None:
    """The plan with the plans of its units in a directory, which may have some of them already; None
    after reporting which cannot be read. An `OSError` says why one cannot be written.
    """
    os.makedirs(directory, mode=0o700, exist_ok=True)
    units: dict[str, PlannedUnit] = {}
    for name, each in plan.units.items():
        target = os.path.join(directory, each.path) if each.path else ""
        if target and not os.path.exists(target):
            data = _unit_plan(path, each.path, diags)
            if data is None:
                return None
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | NOT_INHERITED, _PRIVATE)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
        units[name] = replace(each, path=target)
    return replace(plan, units=units)


def unit_plan(saved: SavedFleetPlan, name: str, path: str, diags: Diagnostics) -> bytes | None:
    """The plan of one unit, as it would be saved by itself; None if there is none, or after
    reporting why it cannot be read.
    """
    unit = saved.plan.units.get(name)
    return None if unit is None or not unit.path else _unit_plan(path, unit.path, diags)


def _unit_plan(path: str, member: str, diags: Diagnostics) -> bytes | None:
    return _read(path, lambda archive: _member(archive, f"{_PLANS}/{member}"), diags)


def _read(path: str, read: Callable[[zipfile.ZipFile], T], diags: Diagnostics) -> T | None:
    """Something in a plan; None after reporting that the file is no plan, or a damaged one."""
    try:
        with zipfile.ZipFile(path) as archive:
            return read(archive)
    except OSError as error:
        diags.error("Plan cannot be read", unreadable_plan(path, error))
    except _DAMAGE as error:
        diags.error(
            "Unusable plan file",
            f"{path} is not a plan of a fleet, or it is damaged: {error}. Make one with "
            '"nigari fleet plan -out=FILE".',
        )
    return None


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    """One of the files in a plan. Plans are stored as they are, so that none is larger than the plan."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise ValueError(f"{name} is missing") from None
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise ValueError(f"{name} is compressed")
    return archive.read(info)


def _unit_data(planned: PlannedUnit) -> dict[str, object]:
    result, changes = planned.result, planned.result.changes
    found: dict[str, object] = {
        "status": result.status.value,
        "because_of": result.because_of,
        "inputs": planned.inputs,
        "plan": os.path.basename(planned.path) if result.is_done else "",
        "seconds": round(result.seconds, 3),
    }
    if changes is not None:
        found["changes"] = {
            **{name: getattr(changes, name) for name in _NUMBERS},
            "lines": [[each.address, each.action, each.why] for each in changes.lines],
            "drift": list(changes.drift),
            "is_empty": changes.is_empty,
            "is_news": changes.is_news,
            "invoke": changes.invoke,
        }
    return found


def _unit_from(name: str, data: Mapping[str, object], members: set[str]) -> PlannedUnit:
    path = _text(data.get("plan"), f"the plan of {name}")
    if path and (path not in members or path in (".", "..")):
        raise ValueError(f"the plan of {name} is missing")
    changes = data.get("changes")
    result = UnitResult(
        name,
        UnitStatus(data.get("status")),
        None if changes is None else _changes_from(_object(changes, "its changes")),
        because_of=_text(data.get("because_of"), "a reason"),
    )
    return PlannedUnit(result, _text(data.get("inputs"), "its inputs"), path)


def _changes_from(data: Mapping[str, object]) -> Changes:
    numbers = [_number(data.get(name)) for name in _NUMBERS]
    add, change, destroy, imported, forgotten, outputs = numbers
    lines: list[ChangeLine] = []
    for each in _array(data.get("lines")):
        address, action, why = (_text(text, "a change") for text in _array(each, 3))
        lines.append(ChangeLine(address, action, why))
    return Changes(
        add=add,
        change=change,
        destroy=destroy,
        import_=imported,
        forget=forgotten,
        outputs=outputs,
        lines=tuple(lines),
        drift=tuple(_text(each, "a drifted object") for each in _array(data.get("drift"))),
        is_empty=data.get("is_empty") is True,
        is_news=data.get("is_news") is not False,
        invoke=_number(data.get("invoke", 0)),
    )


# -- the shape of what was read --------------------------------------------------------------------


def _object(data: object, what: str) -> Mapping[str, object]:
    if not isinstance(data, dict):
        raise ValueError(f"{what} is not an object")
    return data


def _array(data: object, count: int | None = None) -> list[object]:
    if not isinstance(data, list) or count not in (None, len(data)):
        raise ValueError("a list in it does not have the expected form")
    return data


def _text(data: object, what: str) -> str:
    if not isinstance(data, str):
        raise ValueError(f"{what} is not a text")
    # JSON can have halves of characters, which no terminal and no file takes.
    data.encode()
    return data


def _number(data: object) -> int:
    if not isinstance(data, int) or isinstance(data, bool) or not 0 <= data <= _MOST:
        raise ValueError("a number in it is out of range")
    return data

"""Saved fleet plans: one file with the plans of all units and a summary of each.

The plans of units are in it as they would be saved one by one, encrypted where their configurations
say so. The summary has addresses and actions, and no values.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from typing import Final

from nigari.diagnostics import Diagnostics
from nigari.fleet.runs.planning import FleetPlan, PlannedUnit
from nigari.fleet.runs.results import UnitResult, UnitStatus
from nigari.fleet.units.survey import Survey
from nigari.fleet.work.tasks import ChangeLine, Changes
from nigari.plan.model.changes import PlanMode
from nigari.record import record, replace

_VERSION: Final = 1
_SUMMARY: Final = "fleet.json"
_PRIVATE: Final = 0o600
_NUMBERS: Final = ("add", "change", "destroy", "import_", "forget", "outputs")


@record
class SavedFleetPlan:
    """A fleet plan that was saved, with what the fleet was like then."""

    plan: FleetPlan
    fingerprints: Mapping[str, str]
    """For each unit what it was: its directory, its state, and what it needs."""


def fingerprint(found: Survey, name: str) -> str:
    """What a unit is, as far as a plan of it depends on that."""
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
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _PRIVATE)
        with (
            os.fdopen(descriptor, "wb") as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
        ):
            archive.writestr(_SUMMARY, json.dumps(summary, indent=1, ensure_ascii=False))
            for each in plan.units.values():
                if each.path and os.path.exists(each.path):
                    archive.write(each.path, f"units/{os.path.basename(each.path)}")
    except OSError as error:
        diags.error("Cannot save the plan", f"{path}: {error.strerror}.")
        return False
    return True


def read_fleet_plan(path: str, diags: Diagnostics) -> SavedFleetPlan | None:
    """A plan that was saved, without the plans of its units; None after reporting why not."""
    try:
        with zipfile.ZipFile(path) as archive:
            data = json.loads(archive.read(_SUMMARY))
            if data["version"] != _VERSION:
                raise ValueError("it was written by another version of this program")
            members = {os.path.basename(each) for each in archive.namelist()}
        units = {name: _unit_from(name, each, members) for name, each in data["units"].items()}
        plan = FleetPlan(str(data["id"]), PlanMode(data["mode"]), str(data["created"]), units)
        prints = {name: str(each["fingerprint"]) for name, each in data["units"].items()}
    except OSError as error:
        diags.error("Plan cannot be read", f"{path}: {error.strerror}.")
        return None
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
        diags.error(
            "Unusable plan file",
            f"{path} is not a plan of a fleet: {error}. Make one with "
            '"nigari fleet plan -out=FILE".',
        )
        return None
    return SavedFleetPlan(plan, prints)


def extract_plans(plan: FleetPlan, path: str, directory: str) -> FleetPlan:
    """The plan with the plans of its units in a directory, which may have some of them already."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    units: dict[str, PlannedUnit] = {}
    with zipfile.ZipFile(path) as archive:
        for name, each in plan.units.items():
            target = os.path.join(directory, each.path) if each.path else ""
            if target and not os.path.exists(target):
                descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, _PRIVATE)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(archive.read(f"units/{each.path}"))
            units[name] = replace(each, path=target)
    return replace(plan, units=units)


def unit_plan(path: str, name: str) -> bytes | None:
    """The plan of one unit, as it would be saved by itself."""
    with zipfile.ZipFile(path) as archive:
        data = json.loads(archive.read(_SUMMARY))["units"].get(name)
        member = "" if data is None else data["plan"]
        return archive.read(f"units/{member}") if member else None


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
        }
    return found


def _unit_from(name: str, data: Mapping[str, object], members: set[str]) -> PlannedUnit:
    changes = data.get("changes")
    found: Changes | None = None
    if isinstance(changes, dict):
        add, change, destroy, imported, forgotten, outputs = (int(changes[e]) for e in _NUMBERS)
        found = Changes(
            add,
            change,
            destroy,
            imported,
            forgotten,
            outputs,
            tuple(ChangeLine(*each) for each in changes["lines"]),
            tuple(changes["drift"]),
            bool(changes["is_empty"]),
            bool(changes["is_news"]),
        )
    path = str(data["plan"])
    if path and path not in members:
        raise ValueError(f"the plan of {name} is missing")
    result = UnitResult(name, UnitStatus(data["status"]), found, because_of=str(data["because_of"]))
    return PlannedUnit(result, str(data["inputs"]), path)

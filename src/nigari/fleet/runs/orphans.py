"""Orphans: units that are not declared any more and whose objects still exist.

Known are those that were applied from this directory, and the workspaces of backends that instances
of a `unit` block would have. Only the first can be destroyed from here: with values that are not
known, a provider might look for their objects elsewhere and report them as gone.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from typing import Final

from nigari.cty.json import value_to_json
from nigari.diagnostics import Diagnostic, JsonValue, Severity
from nigari.fleet.runs.journal import make_private
from nigari.fleet.units.graph import Graph
from nigari.fleet.units.graph_loader import Survey
from nigari.fleet.units.inspection import apply_journal
from nigari.fleet.units.known_units import KnownUnit, as_unit, undeclared
from nigari.fleet.units.unit import FILE_NAME, Unit, fleet_directory, instance_name
from nigari.fleet.work.tasks import Kind, Task, TaskOptions, TaskStatus
from nigari.fleet.work.workers import Workers
from nigari.hcl.suggestion import listed
from nigari.packages.content.whole_file import write_whole
from nigari.record import record, replace
from nigari.workspace.session.apply_journal import applied_inputs

_VALUES: Final = "orphans"
_PRIVATE: Final = 0o600
_NO_DIRECTORY: Final = "its directory is gone"


@record
class Orphan:
    """A unit that is not declared any more."""

    name: str
    directory: str
    workspace: str
    objects: int | None
    """The number of objects in its state; None if the state cannot be read."""
    problem: str = ""
    """The reason for which it cannot be destroyed from here, if any."""

    def __str__(self) -> str:
        workspace = f", workspace {self.workspace}" if self.workspace else ""
        what = {None: "its state cannot be read", 1: "1 object"}.get(
            self.objects, f"{self.objects} objects"
        )
        problem = (
            f"; it cannot be destroyed from here, because {self.problem}" if self.problem else ""
        )
        return f"{self.name} (directory {self.directory}{workspace}): {what}{problem}"


def orphan_warning(orphans: Sequence[Orphan], known_file: str) -> Diagnostic:
    """Explain which there are, and what to do about them."""
    lines = "".join(f"\n  - {each}" for each in orphans)
    what_to_do = "To keep them, declare them again."
    if any(not each.problem for each in orphans):
        what_to_do += ' To destroy them, run "nigari fleet destroy -orphans".'
    if any(each.problem for each in orphans):
        what_to_do += (
            ' A unit that cannot be destroyed from here can be once it is declared again: "nigari fleet '
            f'destroy -only=UNIT". To forget one that you look after otherwise, remove it from '
            f"{known_file}."
        )
    return Diagnostic(
        Severity.WARNING,
        "Units that are no longer declared",
        f"{FILE_NAME} and the directories of the fleet have no such units any more, but their states "
        f"still have objects, which nothing here manages now:{lines}\n{what_to_do}",
    )


def undeclared_warning(orphans: Sequence[Orphan]) -> Diagnostic:
    """Mention units whose states were not read."""
    is_one = len(orphans) == 1
    return Diagnostic(
        Severity.WARNING,
        "Units that are no longer declared",
        f"{listed([each.name for each in orphans])} {'was' if is_one else 'were'} applied from here, "
        f"and {'is' if is_one else 'are'} not declared any more. {'It' if is_one else 'They'} may "
        f'still have objects: "nigari fleet plan" reads {"its state" if is_one else "their states"}.',
    )


def orphan_data(orphan: Orphan) -> dict[str, JsonValue]:
    """An orphan as JSON data."""
    return {
        "name": orphan.name,
        "directory": orphan.directory,
        "workspace": orphan.workspace or None,
        "objects": orphan.objects,
        "problem": orphan.problem or None,
    }


class FleetOrphans:
    """The orphans of a fleet."""

    def __init__(
        self, found: Survey, known: Mapping[str, KnownUnit], environ: Mapping[str, str]
    ) -> None:
        self._found = found
        self._environ = environ
        self._known = known
        self._undeclared = undeclared(found, known)

    @property
    def candidates(self) -> list[Orphan]:
        """The units that were applied from here and are not declared; their states are not read."""
        return [
            Orphan(each.name, each.directory, each.workspace, None, self._unit(each)[1])
            for each in self._undeclared
        ]

    async def find(self, workers: Workers, options: TaskOptions) -> list[Orphan]:
        """All that have objects; their states are read, and the workspaces of backends listed."""
        known = [self._look(each, workers, options) for each in self._undeclared]
        first: dict[str, Unit] = {}
        for unit in self._found.units.values():
            if unit.workspace is not None and unit.name == instance_name(
                unit.block, unit.workspace
            ):
                first.setdefault(unit.block, unit)
        others = [self._beside(each, workers, options) for each in first.values()]
        looked, beside = await asyncio.gather(asyncio.gather(*known), asyncio.gather(*others))
        found = [each for each in looked if each is not None]
        return [*found, *(each for several in beside for each in several)]

    async def _look(
        self, known: KnownUnit, workers: Workers, options: TaskOptions
    ) -> Orphan | None:
        unit, problem = self._unit(known)
        objects: int | None = None
        if problem != _NO_DIRECTORY:
            objects, error = await self._objects(unit, workers, options)
            problem = error or problem
        if objects == 0:
            return None
        return Orphan(known.name, known.directory, known.workspace, objects, problem)

    async def _objects(
        self, unit: Unit, workers: Workers, options: TaskOptions
    ) -> tuple[int | None, str]:
        outcome = await workers.run(lambda: Task(Kind.OUTPUT, unit, options))
        count = outcome.report.get("objects", 0)
        if outcome.status is TaskStatus.DONE:
            return (count if isinstance(count, int) else 0), ""
        error = next((each.summary for each in outcome.diagnostics), outcome.status.value)
        return None, f'its state cannot be read ("{error}")'

    async def _beside(self, unit: Unit, workers: Workers, options: TaskOptions) -> list[Orphan]:
        """The workspaces beside that of an instance which nothing declares, and which have objects."""
        values = self._found.known_values(unit.name)
        listed = await workers.run(lambda: Task(Kind.WORKSPACES, unit, options, values))
        names = listed.report.get("workspaces", ())
        found: list[Orphan] = []
        for name in names if isinstance(names, tuple) else ():
            other = replace(unit, name=instance_name(unit.block, name), workspace=name)
            if name == "default" or other.name in self._known or self._is_declared(other):
                continue
            objects, _ = await self._objects(other, workers, options)
            if objects:
                problem = "it was not applied from here, so that its values are not known"
                found.append(Orphan(other.name, unit.directory, name, objects, problem))
        return found

    def _is_declared(self, other: Unit) -> bool:
        return any(
            each.path == other.path and each.workspace in (None, other.workspace)
            for each in self._found.units.values()
        )

    # -- destroying them ------------------------------------------------------------------------

    def _unit(self, known: KnownUnit) -> tuple[Unit, str]:
        """A unit as it was, and why it cannot be destroyed, if it cannot."""
        root = self._found.root
        unit = as_unit(root, known)
        if not os.path.isdir(unit.path):
            return unit, _NO_DIRECTORY
        if known.env:
            return unit, f"fleet.hcl set {', '.join(known.env)} for it, which is not remembered"
        values = {
            name: each.value
            for name, each in applied_inputs(apply_journal(unit, self._environ)).items()
            if each.value is not None
        }
        missing = [name for name in known.variables if name not in values]
        if missing:
            names = ", ".join(missing)
            return unit, f"the values that it had for {names} are secret or were not stored here"
        lost = [each for each in unit.var_files if not os.path.exists(each)]
        if lost:
            return unit, f"the file {os.path.relpath(lost[0], root)} is gone"
        if not values:
            return unit, ""
        directory = os.path.join(fleet_directory(root), _VALUES)
        make_private(directory)
        path = os.path.join(directory, f"{unit.file_name}.tfvars.json")
        data = {name: json.loads(value_to_json(each, each.type)) for name, each in values.items()}
        write_whole(path, json.dumps(data).encode(), _PRIVATE)
        return as_unit(root, known, (path,)), ""

    def survey(self) -> Survey:
        """A fleet of those orphans that can be destroyed, with the values that they had."""
        units: dict[str, Unit] = {}
        problems: list[Diagnostic] = []
        for each in self._undeclared:
            unit, problem = self._unit(each)
            if problem:
                problems.append(_not_destroyed(each.name, problem))
            else:
                units[each.name] = unit
        needs = {
            name: tuple(one for one in self._known[name].needs if one in units) for name in units
        }
        needed_by = {name: tuple(one for one in units if name in needs[one]) for name in units}
        graph = Graph(
            units=units,
            edges=(),
            foreign=(),
            cycles=(),
            states={},
            needs=needs,
            needed_by=needed_by,
            edges_of={},
        )
        return replace(
            self._found,
            graph=graph,
            inspections={},
            diagnostics=tuple(problems),
            modules=frozenset(),
        )


def _not_destroyed(name: str, problem: str) -> Diagnostic:
    return Diagnostic(
        Severity.WARNING,
        "Unit not destroyed",
        f"{name} cannot be destroyed from here, because {problem}. Declare it again, and run "
        f"\"nigari fleet destroy -only='{name}'\".",
    )

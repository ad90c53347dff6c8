"""The survey of a fleet: its units, what is known of each, and how they depend on each other.

Everything comes from files and evaluation; nothing runs, and nothing is connected to.
Hidden directories are skipped, so `.terraform` and `.git` are, and links to directories are not
followed: their targets are found in their own place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from nigari.config.file_names import is_config_file
from nigari.config.module_cache import caching_modules
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.diagnostics.advice import advising
from nigari.fleet.units.advice import FLEET_ADVICE
from nigari.fleet.units.definition import FleetDefinition
from nigari.fleet.units.graph import Graph, build_graph
from nigari.fleet.units.inspection import Inspection, inspect
from nigari.fleet.units.patterns import path_matcher
from nigari.fleet.units.unit import FILE_NAME, Unit, fleet_directory, seen_from_root
from nigari.fleet.units.working_copy import not_fetched, refresh
from nigari.hcl.suggestion import listed
from nigari.record import record, replace
from nigari.workspace.configuration.modules import NOT_INSTALLED
from nigari.workspace.context.environments import FILE_NAME as ENVIRONMENTS
from nigari.workspace.context.environments import VARIABLE
from nigari.workspace.context.working_directory import WorkingDirectory

DATA_VARIABLE = "TF_DATA_DIR"
_UNIT_DATA = ".terraform/units"


@record
class Survey:
    """A fleet as it is found."""

    root: str
    """The directory of the fleet, as an absolute path."""
    definition: FleetDefinition
    graph: Graph
    inspections: Mapping[str, Inspection]
    diagnostics: tuple[Diagnostic, ...]
    """The diagnostics of the fleet as a whole."""
    sources: Mapping[str, bytes]
    """The files that diagnostics are about, by their paths from the root."""
    modules: frozenset[str] = frozenset()
    """The directories that were found and are no units, because units call them as modules."""

    @property
    def units(self) -> Mapping[str, Unit]:
        """The units by name, in order."""
        return self.graph.units

    @property
    def has_errors(self) -> bool:
        """Return whether the fleet as a whole cannot be used."""
        return any(each.severity is Severity.ERROR for each in self.diagnostics)

    def warnings(self, names: Collection[str]) -> list[Diagnostic]:
        """Warnings about these units, which prevent nothing."""
        found = [each for each in self.diagnostics if each.severity is Severity.WARNING]
        return [*found, *self.graph.warnings(names)]

    def uninstalled(self, names: Sequence[str]) -> list[Diagnostic]:
        """Mention the units that call modules which are not installed yet, if there are any."""
        found = [name for name in names if any(map(_is_uninstalled, self.problems(name)))]
        if not found:
            return []
        units = "unit calls" if len(found) == 1 else "units call"
        return [
            Diagnostic(
                Severity.WARNING,
                "Modules not installed",
                f"{len(found)} {units} modules that are not installed: {listed(found)}. Their "
                'contents, such as the states that they read, are known once "nigari fleet init" has '
                "installed them.",
            )
        ]

    def known_values(self, name: str) -> Mapping[str, Value]:
        """The values of a unit's variables, as far as they do not come from other units."""
        return self.definition.values.variables(name, {}, Diagnostics()).values

    def mistakes(self, name: str) -> list[Diagnostic]:
        """Errors in the configuration of one unit that init would not correct."""
        return [each for each in self.problems(name) if not _is_uninstalled(each)]

    def problems(self, name: str) -> list[Diagnostic]:
        """The diagnostics of the configuration of one unit."""
        unit = self.units[name]
        found = self.inspections[name].diagnostics
        errors = [each for each in found if each.severity is Severity.ERROR]
        return seen_from_root(errors, unit)


def survey(root: str, environ: Mapping[str, str]) -> Survey:
    """The fleet below a directory."""
    where = WorkingDirectory(environ, root=os.path.abspath(root))
    diags = Diagnostics()
    definition = FleetDefinition(where, diags, _read_definition(where, diags))
    declared = [*definition.declared.values()]
    taken = {unit.block: unit for unit in declared}
    found = _candidates(where, definition, diags)
    candidates = [each for each in found if each.name not in taken]
    everything = _with_own_data(_in_environment([*declared, *candidates], environ))
    definition.values.know_units(everything)
    places = {each.path if each.copy is None else each.copy.own for each in everything}
    for unit in everything:
        refresh(unit, places, diags)
    inspections: dict[str, Inspection] = {}
    with caching_modules(), advising(FLEET_ADVICE):
        for unit in everything:
            variables = _known_variables(definition, unit, diags)
            if unit.copy is None or unit.copy.is_fetched:
                inspections[unit.name] = inspect(unit, environ, variables)
            else:
                inspections[unit.name] = Inspection(None, None, (), (), (not_fetched(unit),))
    called = _called(everything, inspections)
    units = [each for each in everything if each.block or not _is_among(called, each.path)]
    for each in found:
        if each.name in taken and not _is_among(called, each.path):
            diags.append(_name_taken(each, taken[each.name]))
    names = {unit.name for unit in units}
    needs = {unit.name: definition.values.needs(unit.name, diags) for unit in units}
    for name, wanted in needs.items():
        for missing in [each for each in wanted if each not in names]:
            _, place = wanted.pop(missing)
            diags.error(
                "No such unit",
                f"{name} refers to {missing}, which other configurations call as a module, so it "
                "is not a unit.",
                place,
            )
    kept = {unit.name: inspections[unit.name] for unit in units}
    graph = build_graph(units, kept, needs, diags)
    sources = FleetSources(where.root, definition.sources)
    modules = frozenset(each.name for each in candidates if each.name not in names)
    return Survey(
        root=where.root,
        definition=definition,
        graph=graph,
        inspections=kept,
        diagnostics=_once(diags),
        sources=sources,
        modules=modules,
    )


def _read_definition(where: WorkingDirectory, diags: Diagnostics) -> bytes | None:
    try:
        return where.files.read(FILE_NAME)
    except FileNotFoundError:
        return None
    except OSError as error:
        diags.error("Cannot read a file", f"{FILE_NAME} cannot be read: {error.strerror}.")
        return None


def _candidates(
    where: WorkingDirectory, definition: FleetDefinition, diags: Diagnostics
) -> list[Unit]:
    """The candidate units beside the declared ones."""
    if not definition.discovers:
        return []
    units = definition.declared.values()
    declared = {os.path.realpath(each.copy.own if each.copy else each.path) for each in units}
    excluded = path_matcher(definition.exclude)
    return [
        Unit(
            directory,
            directory,
            os.path.normpath(where.at(directory)),
            fleet_data=fleet_directory(where.root),
        )
        for directory in _named_as_text(find_directories(where.root, excluded), diags)
        if not _is_among(declared, where.at(directory))
    ]


def _named_as_text(directories: Sequence[str], diags: Diagnostics) -> Iterator[str]:
    """The directories that a unit can be called by; the others are reported. Plans, journals and
    reports are UTF-8.
    """
    for directory in directories:
        name = os.fsencode(directory).decode(errors="replace")
        if "\ufffd" not in name:
            yield directory
        else:
            diags.warning(
                "Directory left out",
                f"The name of the directory {name} is not UTF-8, so it cannot be a unit. Rename it.",
            )


def _in_environment(units: Sequence[Unit], environ: Mapping[str, str]) -> list[Unit]:
    """Units in the environment that is chosen for all, where their directories have environments
    and nothing else is said of them.
    """
    chosen = environ.get(VARIABLE)
    if not chosen:
        return list(units)
    return [
        replace(unit, environment_name=chosen)
        if not unit.environment_name and os.path.exists(os.path.join(unit.path, ENVIRONMENTS))
        else unit
        for unit in units
    ]


def _with_own_data(units: Sequence[Unit]) -> list[Unit]:
    """Units of which those that share a directory have a data directory each: what `init` makes of
    one of them, such as its backend, is not what another needs. Environments have theirs anyhow.
    A unit that has one keeps it, even if the others that it shared its directory with are gone.
    """
    count: dict[str, int] = {}
    for unit in units:
        count[unit.directory] = count.get(unit.directory, 0) + 1
    found: list[Unit] = []
    for unit in units:
        own = f"{_UNIT_DATA}/{unit.file_name}"
        is_shared = count[unit.directory] > 1 or os.path.isdir(os.path.join(unit.path, own))
        if is_shared and not unit.environment_name:
            found.append(replace(unit, environ=(*unit.environ, (DATA_VARIABLE, own))))
        else:
            found.append(unit)
    return found


def _known_variables(
    definition: FleetDefinition, unit: Unit, diags: Diagnostics
) -> Mapping[str, Value]:
    return definition.values.variables(unit.name, MappingProxyType({}), diags).values


def _called(units: Sequence[Unit], inspections: Mapping[str, Inspection]) -> set[str]:
    """The directories that units call as modules; those are no units unless they are declared."""
    return {
        os.path.realpath(directory)
        for unit in units
        for directory in (
            *inspections[unit.name].called,
            *(() if unit.copy is None else (unit.copy.module,)),
        )
        if directory != unit.path
    }


def _is_among(directories: Collection[str], path: str) -> bool:
    # To resolve a path takes a system call for each of its parts.
    return bool(directories) and os.path.realpath(path) in directories


def _name_taken(found: Unit, declared: Unit) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "Duplicate unit",
        f"This name stands for the directory {declared.directory}, but there is also a unit in the "
        f"directory {found.directory}, which has the same name. Choose another one here, or leave "
        f'that directory out: fleet {{ exclude = ["{found.directory}"] }}.',
        declared.range,
    )


def _is_uninstalled(found: Diagnostic) -> bool:
    return found.summary == NOT_INSTALLED


def _once(diags: Diagnostics) -> tuple[Diagnostic, ...]:
    return tuple(dict.fromkeys(diags.in_order()))


class FleetSources(Mapping[str, bytes]):
    """The files of a fleet by their paths from the root, read when one is shown: a
    large fleet has more of them than a process should keep.
    """

    def __init__(self, root: str, known: Mapping[str, bytes]) -> None:
        self._root = root
        self._known = known

    def __getitem__(self, path: str) -> bytes:
        found = self._known.get(path)
        if found is not None:
            return found
        try:
            with open(os.path.join(self._root, path), "rb") as file:
                return file.read()
        except OSError:
            raise KeyError(path) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


_NOT_OURS = frozenset(("node_modules", "__pycache__"))


def find_directories(root: str, excluded: re.Pattern[str]) -> list[str]:
    """The directories with configuration, as paths from the root with slashes, in order; those that
    are excluded are left out with all that is below them.
    """
    found: list[str] = []
    pending = ["."]
    while pending:
        directory = pending.pop()
        inner: list[str] = []
        has_configuration = False
        try:
            entries = list(os.scandir(os.path.join(root, directory)))
        except OSError:
            # Who may not look into a directory has no unit there.
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                path = entry.name if directory == "." else f"{directory}/{entry.name}"
                is_hidden = entry.name.startswith(".") or entry.name in _NOT_OURS
                if not is_hidden and not excluded.fullmatch(path):
                    inner.append(path)
            elif is_config_file(entry.name):
                has_configuration = True
        if has_configuration:
            found.append(directory)
        pending.extend(inner)
    return sorted(found)

"""Writing the units of a fleet as plain configurations, a directory for each.

Nothing runs a fleet elsewhere, so each unit has to stand alone: with the values of its variables in a
file that every command reads, and data sources for those that come from outputs of other units.
"""

from __future__ import annotations

import os
import posixpath
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.fleet.runs.plain_inputs import PlainInputs, StatePlace
from nigari.fleet.units.graph_loader import DATA_VARIABLE, Survey
from nigari.fleet.units.inspection import open_session
from nigari.fleet.units.unit import FILE_NAME, Unit, seen_from_root
from nigari.plain.names import free_name, identifier
from nigari.plain.target import Target
from nigari.record import record
from nigari.workspace.session.plain_copy import PlainOptions, is_free, write_plain


@record
class PlainUnit:
    """A unit that was written, or could not be."""

    name: str
    directory: str
    """The written directory, relative to the output directory."""
    is_written: bool
    diagnostics: Sequence[Diagnostic]
    sources: Mapping[str, bytes]


def write_plain_units(
    found: Survey,
    names: Sequence[str],
    out: str,
    environ: Mapping[str, str],
    target: Target,
    is_partial: bool,
    diags: Diagnostics,
) -> list[PlainUnit]:
    """Write units into directories below `out`, all of them or none."""
    if not is_free(out, diags):
        return []
    out = os.path.abspath(out)
    parent, name = os.path.split(out)
    made = os.path.join(parent, f".{name}.{os.getpid()}.part")
    places = _places(found)
    apart = {os.path.realpath(unit.path) for unit in found.units.values()}
    apart |= {os.path.realpath(made), os.path.realpath(out)}
    severity = Severity.WARNING if is_partial else Severity.ERROR
    done: list[PlainUnit] = []
    try:
        os.makedirs(made)
        for each in names:
            unit = found.units[each]
            own = frozenset(apart - {os.path.realpath(unit.path)})
            state_of = partial(_state_place, found, places, each)
            inputs = PlainInputs(found.definition.values, each, state_of, severity)
            options = PlainOptions(
                target=target,
                is_partial=is_partial,
                name="fleet",
                var_files=unit.var_files,
                variables={k: v for k, v in found.known_values(each).items() if v.is_wholly_known},
                inputs=inputs.passed(),
                apart=own,
            )
            path = os.path.join(made, places[each])
            refused = [*inputs.diags, *_refusals(unit)]
            done.append(_written(found, unit, path, places[each], environ, options, refused))
        if all(each.is_written for each in done):
            if os.path.isdir(out):
                os.rmdir(out)
            os.rename(made, out)
    except OSError as error:
        diags.error("Cannot write the configurations", f"{out}: {error.strerror}.")
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return done


def _places(found: Survey) -> dict[str, str]:
    """A directory for each unit: its own, unless it shares that with others."""
    users = Counter(unit.directory for unit in found.units.values())
    places: dict[str, str] = {}
    taken = set(users)
    for name, unit in found.units.items():
        place = unit.directory if unit.copy is None else os.path.relpath(unit.copy.own, found.root)
        if users[place] > 1:
            own = name.removeprefix(unit.block).strip('[]"') or name
            place = free_name(f"{place}-{identifier(own)}", taken)
            taken.add(place)
        places[name] = place
    return places


def _state_place(found: Survey, places: Mapping[str, str], reader: str, unit: str) -> StatePlace:
    """The state of a unit, as another one finds it."""
    directory = posixpath.relpath(places[unit], places[reader])
    return StatePlace(unit, found.inspections[unit].written, directory)


def _written(
    found: Survey,
    unit: Unit,
    path: str,
    place: str,
    environ: Mapping[str, str],
    options: PlainOptions,
    refused: Sequence[Diagnostic],
) -> PlainUnit:
    session = open_session(unit, environ, found.known_values(unit.name))
    is_written = write_plain(session, path, options)
    is_refused = any(each.severity is Severity.ERROR for each in refused)
    diagnostics = [*refused, *seen_from_root([*session.diags], unit)]
    sources = {**found.sources, **session.sources}
    return PlainUnit(unit.name, place, is_written and not is_refused, diagnostics, sources)


def _refusals(unit: Unit) -> list[Diagnostic]:
    """Return the unit's fleet settings that no configuration can express."""
    names = ", ".join(name for name, _ in unit.environ if name != DATA_VARIABLE)
    if not names:
        return []
    return [
        Diagnostic(
            Severity.WARNING,
            "Environment variables of a unit",
            f"{FILE_NAME} sets environment variables for {unit.name}, which a configuration cannot do. "
            f"Set them when you run it: {names}.",
            unit.range,
        )
    ]

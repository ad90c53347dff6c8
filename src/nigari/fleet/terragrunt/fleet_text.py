"""The text of a `fleet.hcl` for imported units.

Values that all units below a directory have in common are written once, as a local for the directory.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from nigari.hcl.formatter import format
from nigari.hcl.quoting import quoted
from nigari.hcl.render import render_key
from nigari.plain.names import free_name, identifier
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_FEWEST: Final = 2
"""Units that have a value in common, for it to be written once."""


@record
class ImportedUnit:
    """A unit with the texts of its arguments."""

    name: str
    directory: str
    """From the directory of the fleet, with slashes."""
    source: str
    """Empty for a unit whose directory is its module."""
    version: str
    variables: Mapping[str, str]
    weaker: Sequence[str]
    """Objects with further variables, which `variables` override."""
    stronger: Sequence[str]
    """Objects with further variables, which override `variables`."""
    is_literal: frozenset[str]
    """The names of variables whose texts refer to no unit."""
    var_files: Sequence[str]
    depends_on: Sequence[str]
    env: Mapping[str, str]
    backend_config: Mapping[str, str]


def fleet_text(units: Sequence[ImportedUnit]) -> str:
    """The text of the file."""
    shared = _shared_values(units)
    names: dict[str, str] = {}
    for directory in shared:
        plain = "all" if directory == "." else directory.replace("/", "_")
        names[directory] = free_name(identifier(plain), names.values())
    parts = []
    if shared:
        lines = [f"{names[directory]} = {_object(values)}" for directory, values in shared.items()]
        parts.append("locals {\n" + "\n\n".join(lines) + "\n}\n")
    parts += [_unit(each, shared, names) for each in units]
    parts.append("fleet {\n  # Every unit is declared here.\n  discover = false\n}\n")
    return format("\n".join(parts))


def _shared_values(units: Sequence[ImportedUnit]) -> dict[str, dict[str, str]]:
    """The values that are the same in all units below a directory, at the highest such directory."""
    below: dict[str, list[ImportedUnit]] = {}
    for unit in units:
        for directory in _above(unit):
            below.setdefault(directory, []).append(unit)
    found: dict[str, dict[str, str]] = {}
    for directory in sorted(below, key=lambda each: (each.count("/") if each != "." else -1, each)):
        members = below[directory]
        if len(members) < _FEWEST:
            continue
        taken = {name for above in _ancestors(directory) for name in found.get(above, ())}
        first = members[0]
        common = {
            name: text
            for name, text in first.variables.items()
            if name not in taken
            and all(
                name in each.is_literal and each.variables.get(name) == text for each in members
            )
        }
        if common:
            found[directory] = common
    return found


def _above(unit: ImportedUnit) -> list[str]:
    """The directories above that of a unit."""
    return [*_ancestors(unit.directory)]


def _ancestors(directory: str) -> list[str]:
    found: list[str] = []
    while directory not in ("", "."):
        directory = posixpath.dirname(directory) or "."
        found.append(directory)
    return found


def _unit(
    unit: ImportedUnit, shared: Mapping[str, Mapping[str, str]], names: Mapping[str, str]
) -> str:
    used = [each for each in reversed(_above(unit)) if each in shared]
    taken = {name for each in used for name in shared[each]}
    own = {name: text for name, text in unit.variables.items() if name not in taken}
    lines = [f"directory = {quoted(unit.directory)}"]
    if unit.source:
        lines.append(f"source = {quoted(unit.source)}")
    if unit.version:
        lines.append(f"version = {quoted(unit.version)}")
    if unit.var_files:
        lines.append(f"var_files = [{', '.join(map(quoted, unit.var_files))}]")
    if unit.variables or unit.weaker or unit.stronger:
        lines.append("ignore_undeclared = true")
        parts = [*unit.weaker, *(f"local.{names[each]}" for each in used)]
        parts += [_object(own)] if own else []
        parts += unit.stronger
        joined = ", ".join(parts)
        lines.append(f"variables = {joined if len(parts) == 1 else f'merge({joined})'}")
    if unit.env:
        lines.append(f"env = {_object(unit.env)}")
    if unit.backend_config:
        lines.append(f"backend_config = {_object(unit.backend_config)}")
    if unit.depends_on:
        listed = ", ".join(f"unit[{quoted(each)}]" for each in unit.depends_on)
        lines.append(f"depends_on = [{listed}]")
    return f"unit {quoted(unit.name)} {{\n" + "\n".join(lines) + "\n}\n"


def _object(values: Mapping[str, str]) -> str:
    lines = [f"{render_key(name)} = {text}\n" for name, text in values.items()]
    return "{\n" + "".join(lines) + "}"

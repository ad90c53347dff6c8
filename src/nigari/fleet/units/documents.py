"""Fleets as JSON documents, for programs."""

from __future__ import annotations

from collections.abc import Collection

from nigari.diagnostics import Diagnostic, JsonValue, Range
from nigari.fleet.units.graph import Edge, ForeignState
from nigari.fleet.units.graph_loader import Survey

FORMAT_VERSION = "1.0"


def units_document(found: Survey, names: Collection[str]) -> dict[str, JsonValue]:
    """The units and what is known of each."""
    units: list[JsonValue] = [_unit(found, name) for name in names]
    shared: list[JsonValue] = [
        {"state": str(each.state), "units": [*each.units]} for each in found.graph.shared
    ]
    return {"format_version": FORMAT_VERSION, "units": units, "shared_states": shared}


def _unit(found: Survey, name: str) -> dict[str, JsonValue]:
    unit, graph = found.units[name], found.graph
    state = graph.states.get(name)
    problems: list[JsonValue] = [_problem(each) for each in found.problems(name)]
    return {
        "name": name,
        "directory": unit.directory,
        "workspace": unit.workspace,
        "labels": list(unit.labels),
        "var_files": list(unit.var_files),
        "declared_at": place(unit.range),
        "state": None if state is None else str(state),
        "needs": list(graph.needs[name]),
        "needed_by": list(graph.needed_by[name]),
        "problems": problems,
    }


def graph_document(found: Survey, names: Collection[str]) -> dict[str, JsonValue]:
    """The units, their edges, cycles, and the states that come from elsewhere."""
    kept, graph = set(names), found.graph
    return {
        **units_document(found, names),
        "edges": [_edge(each) for each in graph.edges if each.unit in kept and each.needs in kept],
        "layers": _layers(found, kept),
        "cycles": [list(each) for each in graph.cycles],
        "foreign_states": [_foreign(each) for each in graph.foreign if each.unit in kept],
    }


def _layers(found: Survey, kept: set[str]) -> list[JsonValue]:
    chosen = ([name for name in layer if name in kept] for layer in found.graph.layers())
    return [[*layer] for layer in chosen if layer]


def _edge(edge: Edge) -> dict[str, JsonValue]:
    return {
        "unit": edge.unit,
        "needs": edge.needs,
        "reason": edge.reason.value,
        "address": edge.address,
        "at": place(edge.range),
    }


def _foreign(state: ForeignState) -> dict[str, JsonValue]:
    return {
        "unit": state.unit,
        "address": state.address,
        "state": state.state or None,
        "why_unknown": state.why or None,
        "at": place(state.range),
    }


def _problem(found: Diagnostic) -> dict[str, JsonValue]:
    return {"summary": found.summary, "detail": found.detail, "at": place(found.subject)}


def place(where: Range | None) -> str | None:
    """A location as it is written in messages."""
    return None if where is None else f"{where.filename}:{where.start.line}"

"""The graph of a fleet as text, in Graphviz format, and as a page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape

from nigari.fleet.units.documents import place
from nigari.fleet.units.graph import Edge, ForeignState
from nigari.fleet.units.graph_loader import Survey

_WIDTH, _HEIGHT, _ACROSS, _BETWEEN = 220, 26, 300, 12


def graph_text(found: Survey, names: Sequence[str]) -> str:
    """Layer by layer, each unit with what it needs and where that is written."""
    kept, graph = set(names), found.graph
    lines: list[str] = []
    for number, layer in enumerate(_layers(found, kept), 1):
        lines.append(f"Layer {number}")
        for name in layer:
            lines.append(f"  {name}")
            edges = graph.edges_of.get(name, ())
            lines += [f"    needs {edge.needs} ({_reason(edge)})" for edge in edges]
        lines.append("")
    for cycle in graph.cycles:
        lines += [f"Cycle: {' → '.join([*cycle, cycle[0]])}", ""]
    foreign = [each for each in graph.foreign if each.unit in kept]
    if foreign:
        lines.append("States that no unit writes")
        lines += [f"  {_foreign(each)}" for each in foreign]
    return "\n".join(lines).rstrip() or "There are no units here."


def graph_dot(found: Survey, names: Sequence[str]) -> str:
    """In Graphviz format; an arrow leads to what is needed."""
    kept = set(names)
    lines = ["digraph {", "  rankdir = LR;", "  node [shape = box];"]
    lines += [f"  {_quoted(name)};" for name in names]
    for unit, needs, edges in _pairs(found, kept):
        label = ", ".join(dict.fromkeys(each.reason.value for each in edges))
        lines.append(f"  {_quoted(unit)} -> {_quoted(needs)} [label = {_quoted(label)}];")
    for each in found.graph.foreign:
        if each.unit in kept and each.state:
            lines.append(f"  {_quoted(each.state)} [style = dashed];")
            lines.append(f"  {_quoted(each.unit)} -> {_quoted(each.state)} [style = dashed];")
    return "\n".join([*lines, "}"])


def graph_page(found: Survey, names: Sequence[str]) -> str:
    """A page with a drawing that needs nothing else: layers from left to right."""
    kept = set(names)
    places: dict[str, tuple[int, int]] = {}
    layers = _layers(found, kept)
    left = [name for name in names if all(name not in layer for layer in layers)]
    for column, layer in enumerate([*layers, left] if left else layers):
        for row, name in enumerate(layer):
            places[name] = (20 + column * _ACROSS, 20 + row * (_HEIGHT + _BETWEEN))
    shapes: list[str] = []
    for unit, needs, edges in _pairs(found, kept):
        (x1, y1), (x2, y2) = places[needs], places[unit]
        reasons = escape("; ".join(_reason(each) for each in edges))
        start, end, half = x1 + _WIDTH, x2, _HEIGHT // 2
        curve = f"M{start},{y1 + half} C{start + 40},{y1 + half} {end - 40},{y2 + half} {end},{y2 + half}"
        shapes.append(f'<path d="{curve}"><title>{escape(unit)}: {reasons}</title></path>')
    for name, (x, y) in places.items():
        shapes.append(
            f"<g><title>{escape(found.units[name].directory)}</title>"
            f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4"/>'
            f'<text x="{x + 8}" y="{y + 17}">{escape(name[:32])}</text></g>'
        )
    width = max([x for x, _ in places.values()], default=0) + _WIDTH + 20
    height = max([y for _, y in places.values()], default=0) + _HEIGHT + 20
    return _PAGE.format(width=width, height=height, shapes="\n".join(shapes))


_PAGE = """<!doctype html>
<meta charset="utf-8">
<title>Fleet</title>
<style>
body {{ font: 13px sans-serif; margin: 0; }}
rect {{ fill: #f4f6f8; stroke: #557; }}
path {{ fill: none; stroke: #99a; }}
path:hover {{ stroke: #c33; stroke-width: 3; }}
text {{ font-family: monospace; font-size: 11px; }}
</style>
<svg width="{width}" height="{height}" xmlns="http://www.w3.org/2000/svg">
{shapes}
</svg>
"""


def _layers(found: Survey, kept: set[str]) -> list[list[str]]:
    chosen = ([name for name in layer if name in kept] for layer in found.graph.layers())
    return [layer for layer in chosen if layer]


def _pairs(found: Survey, kept: set[str]) -> Iterator[tuple[str, str, list[Edge]]]:
    """Pairs of units that need each other, with all the reasons."""
    pairs: dict[tuple[str, str], list[Edge]] = {}
    for edge in found.graph.edges:
        if edge.unit in kept and edge.needs in kept:
            pairs.setdefault((edge.unit, edge.needs), []).append(edge)
    for (unit, needs), edges in pairs.items():
        yield unit, needs, edges


def _reason(edge: Edge) -> str:
    where = place(edge.range)
    return edge.address if where is None else f"{edge.address}, {where}"


def _foreign(state: ForeignState) -> str:
    what = (
        f"reads {state.state}" if state.state else f"reads a state that is not known: {state.why}"
    )
    return f"{state.unit}: {state.address} {what} ({place(state.range)})"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

"""Names of positions in a JSON file, for the header of a diagnostic.

The name is the path from the root: `resource.null_resource.web`. Deliberately unknown here: the
meaning of the properties on that path.
"""

from __future__ import annotations

from bisect import bisect_right

from nigari.hcl.json_expressions import JsonArray, JsonExpression, JsonObject


def context_name(root: JsonExpression, byte: int) -> str:
    """Name the objects and arrays around a position, outermost first; empty at the root."""
    steps: list[str] = []
    node: JsonExpression | None = root
    while node is not None:
        node = _step_inside(node, byte, steps)
    return "".join(steps).removeprefix(".")


def _step_inside(node: JsonExpression, byte: int, steps: list[str]) -> JsonExpression | None:
    """Find the child object or array that contains the position, and append the step to it."""
    names: list[str] = []
    values: list[JsonExpression] = []
    if isinstance(node, JsonObject):
        for item in node.properties:
            names.append(f".{item.name}")
            values.append(item.value)
    elif isinstance(node, JsonArray):
        values = node.elements
    at = bisect_right(values, byte, key=_start_byte) - 1
    if at < 0 or not isinstance(values[at], JsonObject | JsonArray):
        return None
    if byte >= node.source.pos(values[at].end).byte:
        return None
    steps.append(names[at] if names else f"[{at}]")
    return values[at]


def _start_byte(node: JsonExpression) -> int:
    return node.source.pos(node.start).byte

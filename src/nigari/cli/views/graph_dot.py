"""Graphs for Graphviz and Mermaid: the operations of a plan, and the blocks of a configuration.

An arrow leads from what needs something to what it needs. One that follows from others is left
out, so that a picture shows what matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nigari.addrs.module import ROOT_MODULE
from nigari.plan.model.execution_graph import ExecutionGraph, Operation, OperationKind
from nigari.plan.order.block_graph import BlockGraph
from nigari.plan.order.block_references import Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeVar

    T = TypeVar("T")


_COLOURS: Final = {
    OperationKind.CREATE: "palegreen",
    OperationKind.UPDATE: "khaki",
    OperationKind.DELETE: "lightcoral",
    OperationKind.READ: "lightblue",
    OperationKind.CHECK: "lightblue",
    OperationKind.FORGET: "lightgrey",
}
_ROOT: Final = (ROOT_MODULE, "(instances)")
"""The root module has one instance, for which nothing is needed."""
_MOST_REDUCED: Final = 20_000
"""The most nodes of a graph with arrows; beyond it the picture is useless."""


def operations_dot(graph: ExecutionGraph) -> str:
    """The operations of a plan, in the colours of what they do."""
    lines = ["digraph {", "  rankdir = BT", '  node [shape = "box", style = "rounded,filled"]']
    lines += [f"  {_quoted(str(each))} [{_looks(each)}]" for each in graph.operations]
    needs = _reduced([operation.after for operation in graph.operations], graph.in_order())
    for number, operation in enumerate(graph.operations):
        name = _quoted(str(operation))
        lines += [f"  {name} -> {_quoted(str(graph.operations[each]))}" for each in needs[number]]
    return "\n".join([*lines, "}"])


def operations_mermaid(graph: ExecutionGraph) -> str:
    """The operations of a plan as a Mermaid flowchart, in the same colours."""
    shapes: dict[object, str] = {}
    lines: list[str] = []
    for number, operation in enumerate(graph.operations):
        colour = _COLOURS.get(operation.kind)
        if colour is not None:
            lines.append(f"  style n{number} fill:{colour},color:black")
        else:
            shapes[number] = "ellipse" if operation.kind is OperationKind.SETTLE else "diamond"
    needs = _reduced([operation.after for operation in graph.operations], graph.in_order())
    labels = {number: str(operation) for number, operation in enumerate(graph.operations)}
    return "\n".join([_flowchart(labels, shapes, dict(enumerate(needs))), *lines])


_MERMAID_SHAPES: Final = {
    "box": '["{}"]',
    "diamond": '{{{{"{}"}}}}',
    "ellipse": '(["{}"])',
    "note": '>"{}"]',
}


def _flowchart(
    labels: Mapping[T, str], shapes: Mapping[object, str], needs: Mapping[T, Sequence[T]]
) -> str:
    """Draw nodes, boxes if they have no other shape, and the arrows between them."""
    numbers = {node: f"n{number}" for number, node in enumerate(labels)}
    lines = ["flowchart BT"]
    for node, label in labels.items():
        # In Mermaid's texts, quotes and number signs are entities.
        escaped = label.replace("#", "#35;").replace('"', "#quot;")
        lines.append(f"  {numbers[node]}{_MERMAID_SHAPES[shapes.get(node, 'box')].format(escaped)}")
    for node in labels:
        lines += [f"  {numbers[node]} --> {numbers[need]}" for need in needs[node]]
    return "\n".join(lines)


def _looks(operation: Operation) -> str:
    if operation.kind in (OperationKind.OPEN, OperationKind.CLOSE):
        return 'shape = "diamond", style = "solid"'
    if operation.kind is OperationKind.SETTLE:
        return 'shape = "ellipse", style = "dashed"'
    return f'fillcolor = "{_COLOURS[operation.kind]}"'


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _reduced(after: Sequence[Sequence[int]], order: Sequence[int]) -> list[list[int]]:
    """For each node what it needs, without what those need that it needs."""
    if len(after) > _MOST_REDUCED or len(order) < len(after):
        return [list(each) for each in after]
    # For each node a number whose bits say which nodes can be reached from it.
    reached = [0] * len(after)
    kept: list[list[int]] = [[] for _ in after]
    for node in order:
        beyond = 0
        for each in after[node]:
            beyond |= reached[each]
        kept[node] = [each for each in after[node] if not beyond >> each & 1]
        reached[node] = beyond
        for each in after[node]:
            reached[node] |= 1 << each
    return kept


# -- configurations ---------------------------------------------------------------------------


def blocks_dot(graph: BlockGraph) -> str:
    """The blocks of a configuration, under the names that `tofu graph` gives them."""
    needs = _needs(graph)
    lines = ["digraph {", '\tcompound = "true"', '\tnewrank = "true"', '\tsubgraph "root" {']
    for block in sorted(needs, key=_node):
        shape = _shape(graph, block)
        if shape:
            label = _quoted(_label(block))
            lines.append(f'\t\t{_quoted(_node(block))} [label = {label}, shape = "{shape}"]')
    for block in sorted(needs, key=_node):
        name = _quoted(_node(block))
        lines += [f"\t\t{name} -> {_quoted(need)}" for need in sorted(map(_node, needs[block]))]
    return "\n".join([*lines, "\t}", "}"])


def blocks_mermaid(graph: BlockGraph) -> str:
    """The blocks of a configuration as a Mermaid flowchart."""
    needs = {block: sorted(each, key=_label) for block, each in _needs(graph).items()}
    labels = {block: _label(block) for block in sorted(needs, key=_label)}
    return _flowchart(labels, {block: _shape(graph, block) or "ellipse" for block in labels}, needs)


def blocks_data(graph: BlockGraph) -> list[dict[str, object]]:
    """The same as JSON data."""
    return [
        {"address": _label(block), "needs": sorted(map(_label, needs))}
        for block, needs in sorted(_needs(graph).items(), key=lambda item: _label(item[0]))
    ]


def _needs(graph: BlockGraph) -> dict[Block, list[Block]]:
    """Every block with what it needs, without what follows from other needs."""
    pending: list[Block] = [
        *graph.resources(),
        *graph.final_values(),
    ]
    numbers = {block: number for number, block in enumerate(dict.fromkeys(pending))}
    blocks = list(numbers)
    after: list[list[int]] = []
    # The list grows during the loop by the dependencies of its blocks.
    for block in blocks:
        found: list[int] = []
        for need in graph.needs(block):
            if need == _ROOT:
                continue
            if need not in numbers:
                numbers[need] = len(blocks)
                blocks.append(need)
            found.append(numbers[need])
        after.append(found)
    steps = tuple(Operation(OperationKind.SETTLE, "", tuple(each)) for each in after)
    kept = _reduced(after, ExecutionGraph(steps).in_order())
    return {block: [blocks[each] for each in kept[number]] for number, block in enumerate(blocks)}


def _label(block: Block) -> str:
    module, name = block
    return ".".join(_parts(str(module), name)) or "root"


def _parts(module: str, name: str) -> Iterator[str]:
    if module:
        yield module
    if name not in _WHOLES:
        yield name


_WHOLES: Final = {"*": " (close)", "(instances)": " (expand)"}


def _node(block: Block) -> str:
    """The name of a block as OpenTofu prints it."""
    module, name = block
    if name in _WHOLES:
        return f"[root] {_label(block)}{_WHOLES[name]}"
    is_plain = name.startswith("provider[") or (name.startswith("var.") and not str(module))
    return f"[root] {_label(block)}{'' if is_plain else ' (expand)'}"


def _shape(graph: BlockGraph, block: Block) -> str:
    if graph.is_resource(block):
        return "box"
    if block[1].startswith("provider["):
        return "diamond"
    return "note" if block[1].startswith("var.") and not str(block[0]) else ""

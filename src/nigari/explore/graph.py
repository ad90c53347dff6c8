"""Graphs as data for the page: blocks of a configuration, and operations of a plan."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.eval.static.run import StaticRun
from nigari.explore.sources import Place
from nigari.plan.model.execution_graph import ExecutionGraph, OperationKind
from nigari.workspace.explain.uses import written_blocks

Data = dict[str, object]

_PROVIDER = 'provider["'


def blocks_data(run: StaticRun, places: Mapping[str, Place]) -> list[Data]:
    """Every block with the numbers of those that it needs."""
    found: list[Data] = []
    for block in written_blocks(run):
        node: Data = {"address": block.address, "kind": block.kind, "needs": list(block.needs)}
        if block.module:
            node["module"] = block.module
        if block.address in places:
            node["at"] = places[block.address]
        found.append(node)
    return found


def operations_data(graph: ExecutionGraph, modules: Mapping[str, str]) -> list[Data]:
    """Every operation with the numbers of those that must be done before it.

    `modules` has the modules of the resources that change.
    """
    found: list[Data] = []
    for each in graph.operations:
        node: Data = {"address": each.address, "kind": each.kind.value, "needs": list(each.after)}
        module = modules.get(each.address) or _module(each.address, each.kind)
        if module:
            node["module"] = module
        if each.deposed:
            node["deposed"] = each.deposed
        found.append(node)
    return found


def _module(address: str, kind: OperationKind) -> str:
    """The module that an address begins with."""
    if kind in (OperationKind.OPEN, OperationKind.CLOSE) and _PROVIDER in address:
        return address.partition(f".{_PROVIDER}")[0] if not address.startswith(_PROVIDER) else ""
    end = at = 0
    while address.startswith("module.", at):
        at = _end_of_step(address, at + len("module."))
        end = at
        at += 1
    return address[:end]


def _end_of_step(address: str, at: int) -> int:
    """Find the end of a module's name and its key."""
    while at < len(address) and address[at] not in ".[":
        at += 1
    if at < len(address) and address[at] == "[":
        is_quoted = address.startswith('["', at)
        close = address.find('"]' if is_quoted else "]", at + 2)
        at = len(address) if close < 0 else close + (2 if is_quoted else 1)
    return at

"""The operations on blocks, by the module instances that they are in.

Order is known for blocks. Between two blocks of one module it holds within each instance of the
module and not across, so that instances neither wait for each other nor suffer from each other's
failures.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.plan.order.block_graph import Block


class OperationsOf:
    """Numbers of operations, by block and by every module instance that they are inside of."""

    def __init__(self) -> None:
        self._numbers: dict[Block, dict[ModuleAddr, list[int]]] = {}

    def add(self, block: Block, module: ModuleAddr, number: int) -> None:
        """Note an operation on an object of a block, in a module instance."""
        inside = self._numbers.setdefault(block, {})
        at: ModuleAddr | None = module
        while at is not None:
            inside.setdefault(at, []).append(number)
            at = at.parent

    def __contains__(self, block: Block) -> bool:
        return block in self._numbers

    def __iter__(self) -> Iterator[Block]:
        return iter(self._numbers)

    def of(self, block: Block, module: ModuleAddr = ROOT_MODULE) -> list[int]:
        """The operations on a block inside a module instance, or anywhere."""
        return self._numbers.get(block, {}).get(module, [])

    def modules(self, block: Block, depth: int) -> Iterator[ModuleAddr]:
        """The module instances at some depth in which there are operations on a block."""
        return (each for each in self._numbers.get(block, ()) if each.depth == depth)

    def all(self) -> list[int]:
        """All operations."""
        return [number for inside in self._numbers.values() for number in inside[ROOT_MODULE]]


def shared_depth(one: ModuleAddr, other: ModuleAddr) -> int:
    """How many calls two modules have in common on the way to them, whatever the keys."""
    depth = 0
    for name, its in zip(one.names, other.names, strict=False):
        if name != its:
            break
        depth += 1
    return depth

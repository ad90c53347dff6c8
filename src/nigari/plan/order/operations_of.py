"""The operations on blocks, by the module instances that they are in.

Order is known for blocks. Between two blocks of one module it holds within each instance of the
module and not across, so that instances neither wait for each other nor suffer from each other's
failures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.plan.order.block_references import Block
from nigari.record import ReadOnly, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Placed: TypeAlias = tuple[ModuleAddr, Block]
"""A block in one instance of its module."""

_NOWHERE: Mapping[ModuleAddr, list[int]] = ReadOnly({})


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

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._numbers)

    def inside(self, block: Block) -> Mapping[ModuleAddr, list[int]]:
        """The operations on a block, by every module instance that they are inside of."""
        return self._numbers.get(block, _NOWHERE)

    def of(self, block: Block, module: ModuleAddr = ROOT_MODULE) -> list[int]:
        """The operations on a block inside a module instance, or anywhere."""
        return self._numbers.get(block, _NOWHERE).get(module, [])

    def modules(self, block: Block, depth: int) -> Iterator[ModuleAddr]:
        """The module instances at some depth in which there are operations on a block."""
        return (each for each in self._numbers.get(block, ()) if each.depth == depth)

    def all(self) -> list[int]:
        """All operations."""
        return [number for inside in self._numbers.values() for number in inside[ROOT_MODULE]]


@record
class Endings:
    """The endings of one block's objects, by every module instance that they are inside of."""

    early: Mapping[ModuleAddr, list[int]]
    late: Mapping[ModuleAddr, list[int]]

    def modules(self, depth: int) -> Iterable[ModuleAddr]:
        """The module instances at some depth."""
        found = [each for each in self.early if each.depth == depth]
        if self.late:
            found += [each for each in self.late if each.depth == depth and each not in self.early]
        return found

    def of(self, module: ModuleAddr) -> list[int]:
        """Those inside a module instance."""
        early = self.early.get(module, [])
        return early + self.late.get(module, []) if self.late else early


def ancestor(module: ModuleAddr, depth: int) -> ModuleAddr:
    """The module instance at some depth that another is in."""
    while module.depth > depth and module.parent is not None:
        module = module.parent
    return module


def shared_depth(one: ModuleAddr, other: ModuleAddr) -> int:
    """Count the common calls on the way to two variants of modules."""
    if one is other:
        return one.depth
    depth = 0
    for step, its in zip(one.steps, other.steps, strict=False):
        if step != its:
            break
        depth += 1
    return depth

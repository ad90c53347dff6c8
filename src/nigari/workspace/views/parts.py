"""Parts of a loaded configuration: which of them are the same, and the way to each of them.

A part that is pickled takes the whole configuration along, and is found in it again by that way.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping

from nigari.addrs.keys import InstanceKey
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import InstanceData
from nigari.typed import Generic, cast
from nigari.workspace.explain.queries import ValueQueries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias, TypeVar

    T = TypeVar("T")

Step: TypeAlias = tuple[str, object] | tuple[str]
"""An attribute of a part, and the key of an element of it."""


class Part:
    """A part of a loaded configuration. It never changes, and it is equal to another object that
    stands for the same part of the same loaded configuration.
    """

    __slots__ = ()

    @abstractmethod
    def _identity(self) -> object:
        """The same for what stands for the same part."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Part) or type(other) is not type(self):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __copy__(self) -> Part:
        return self

    def __deepcopy__(self, memo: object) -> Part:
        return self


class InnerPart(Part):
    """A part that is found again from the configuration it belongs to."""

    __slots__ = ()

    @abstractmethod
    def _way(self) -> tuple[ValueQueries, tuple[Step, ...]]:
        """Return the queries that the part belongs to, and the steps from the configuration to it."""

    def __reduce__(self) -> tuple[object, ...]:
        evaluation, steps = self._way()
        if evaluation.configuration is None:
            raise TypeError(
                f"a {type(self).__name__} that belongs to no loaded configuration cannot be pickled"
            )
        return follow, (evaluation.configuration, steps)


def follow(start: object, steps: Iterable[Step]) -> object:
    """The part that steps lead to."""
    for name, *key in steps:
        start = getattr(start, name)
        if key:
            start = cast(Mapping[object, object], start)[key[0]]
    return start


def way_to_module(frame: Frame) -> tuple[Step, ...]:
    """The steps from a configuration to a module instance."""
    steps: list[Step] = [("root",)]
    for name, key in frame.instance.addr.steps:
        steps += (("calls", name), ("instances", key), ("module",))
    return tuple(steps)


class RepeatedPart(InnerPart, Generic["T"]):
    """A block that may have `count` or `for_each`: the block itself, which stands for all of its
    instances, or one of them.
    """

    __slots__ = ("_data", "_declaration", "_evaluation", "_frame", "key")

    def __init__(
        self,
        evaluation: ValueQueries,
        frame: Frame,
        declaration: T,
        key: InstanceKey = None,
        data: InstanceData | None = None,
    ) -> None:
        self._evaluation = evaluation
        self._frame = frame
        self._data = data
        self._declaration = declaration
        self.key: InstanceKey = key
        """The key of the instance; None for the block, and where the block is not repeated."""

    @abstractmethod
    def _among(self) -> Step:
        """The step from its module to the block."""

    def _way(self) -> tuple[ValueQueries, tuple[Step, ...]]:
        steps = (*way_to_module(self._frame), self._among())
        if self._data is not None:
            steps += (("instances", self.key),)
        return self._evaluation, steps

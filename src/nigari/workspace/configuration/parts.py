"""Parts of a loaded configuration: which of them are the same, and that they stay where they are."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, TypeVar

from nigari.addrs.keys import InstanceKey
from nigari.eval.base.expansion import InstanceData
from nigari.eval.base.instances import Frame
from nigari.workspace.configuration.asked import Evaluation

T = TypeVar("T")


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

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled, since it refers to a whole configuration: "
            "load that again, or pickle the values, which are Known objects"
        )


class RepeatedPart(Part, Generic[T]):
    """A block that may have `count` or `for_each`: the block itself, which stands for all of its
    instances, or one of them.
    """

    __slots__ = ("_data", "_declaration", "_evaluation", "_frame", "key")

    def __init__(
        self,
        evaluation: Evaluation,
        frame: Frame,
        declaration: T,
        key: InstanceKey = None,
        data: InstanceData | None = None,
    ) -> None:
        self._evaluation = evaluation
        self._frame = frame
        self._data = data
        self._declaration = declaration
        self.key = key
        """The key of the instance; None for the block, and where the block is not repeated."""

"""Parts of a loaded configuration: which of them are the same, and that they stay where they are."""

from __future__ import annotations

from abc import abstractmethod


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

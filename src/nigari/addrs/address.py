"""Base class of all addresses: frozen, hashable, ordered, and compared by their text.

Addresses are keys of the largest tables of a plan, so each one builds its text once and uses that
text's hash and equality, which Python computes in C and caches. Deliberately unknown here: the
kinds of addresses.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


SortKey: TypeAlias = tuple[int | str, ...]


class Address:
    """An address.

    Two addresses are equal if they have the same class and text, so the text of a subclass must
    contain every distinguishing part. Addresses are immutable after `__init__`.
    """

    __slots__ = ("text",)

    text: str

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Address)
            and other.__class__ is self.__class__
            and other.text == self.text
        )

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.__class__.__name__} {self.text}>"

    def sort_key(self) -> SortKey:
        """Return a key that sorts addresses of one kind in the order users expect."""
        return (self.text,)

    def __lt__(self, other: Address) -> bool:
        return self.sort_key() < other.sort_key()

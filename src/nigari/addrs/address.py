"""The base of every address: frozen, hashable, ordered, and equal to what it prints.

Addresses are keys of the largest tables of a plan, so each one works out its text when it is
built and borrows hash and equality from that text, which Python strings compute in C and
remember. This module deliberately knows no kind of address.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


SortKey: TypeAlias = tuple[int | str, ...]


class Address:
    """The name of a thing.

    Two addresses are equal when they are of one class and print the same, so a subclass must
    put everything that tells it apart into its text. Nobody assigns to an address after its
    `__init__`.
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
        """Orders addresses of one kind the way people expect to read them."""
        return (self.text,)

    def __lt__(self, other: Address) -> bool:
        return self.sort_key() < other.sort_key()

"""A provider whose objects can be listed: books on a shelf, sorted by title."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Annotated

from nigari.providers.python import IDENTITY, Computed, Listed, Provider, ProviderError, warn

TITLES = ("Emma", "Middlemarch", "Persuasion", "Villette")


def shelf_provider() -> Provider:
    provider = Provider("shelf")

    @provider.resource("book")
    @dataclass
    class Book:
        title: Annotated[str, IDENTITY]
        pages: Computed[int] = 0

        def create(self, config: object) -> None:
            self.pages = len(self.title)

        def read(self, config: object) -> bool:
            self.pages = len(self.title)
            return self.title in TITLES

        def delete(self, config: object) -> None: ...

        @classmethod
        def import_identity(cls, config: object, title: str) -> Book:
            return cls(title)

    @provider.list_resource("book")
    @dataclass
    class Books:
        containing: str = ""
        stumbles_at: str | None = None
        doubts: bool = False

        def validate(self) -> None:
            if self.containing == "?":
                raise ProviderError("No question marks", attribute="containing")

        def list(self, config: object) -> Iterator[object]:
            for title in TITLES:
                if title == self.stumbles_at:
                    raise ProviderError("Dropped", f"{title} fell off the shelf.")
                if self.containing in title:
                    if self.doubts:
                        warn("Dusty", title)
                    yield Listed(Book(title, len(title)), f"The novel {title}")

    @provider.resource("lamp")
    @dataclass
    class Lamp:
        place: Annotated[str, IDENTITY]

        def create(self, config: object) -> None: ...

        def delete(self, config: object) -> None: ...

    @provider.list_resource("lamp")
    @dataclass
    class Lamps:
        async def list(self, config: object) -> AsyncIterator[object]:
            for place in ("left", "right"):
                yield Lamp(place)

    return provider

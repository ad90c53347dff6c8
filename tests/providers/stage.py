"""A provider with actions: props on a stage, cues that are spoken, and bows. It writes what it does
into a file.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from nigari.providers.python import (
    UNKNOWN,
    WRITE_ONLY,
    Computed,
    Provider,
    ProviderError,
    warn,
)


def stage_provider(log: Path) -> Provider:
    provider = Provider("stage")

    def note(*words: object) -> None:
        with log.open("a") as file:
            file.write(" ".join(map(str, words)) + "\n")

    @provider.resource("prop")
    @dataclass
    class Prop:
        name: str
        id: Computed[str] = ""

        def create(self, config: object) -> None:
            note("create", self.name)
            self.id = f"id-{self.name}"

        def update(self, config: object, prior: Prop) -> None:
            note("update", self.name)

        def delete(self, config: object) -> None:
            note("delete", self.name)

    @provider.action("cue")
    @dataclass
    class Cue:
        text: str
        fails: bool = False
        secret: Annotated[str | None, WRITE_ONLY] = None

        def validate(self) -> None:
            if self.text == "?":
                raise ProviderError("No question marks", attribute="text")

        def plan(self, config: object) -> None:
            note("plan cue", "unknown" if self.text is UNKNOWN else self.text)
            if self.text == "never":
                raise ProviderError("Unspeakable", attribute="text")

        def invoke(self, config: object) -> Iterator[str]:
            note("cue", self.text, *([self.secret] if self.secret else []))
            yield f"saying {self.text}"
            if self.fails:
                raise ProviderError("Forgot the line", f"It was {self.text}.", attribute="text")
            yield "done"

    @provider.action("bow")
    @dataclass
    class Bow:
        times: int = 1

        def invoke(self, config: object) -> None:
            note("bow", self.times)
            if self.times > 3:
                warn("Dizzy", f"{self.times} bows are many.")

    @provider.action("wave")
    @dataclass
    class Wave:
        async def invoke(self, config: object) -> AsyncIterator[object]:
            yield "left"
            yield 2

    return provider

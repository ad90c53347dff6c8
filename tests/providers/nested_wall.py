"""A provider in Python whose schema nests blocks and attributes."""

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

from nigari import hcl
from nigari.providers.python import (
    BLOCK,
    KEEP,
    Blocks,
    Computed,
)


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Inner:
    title: str = "inner"
    serial: Computed[int] = 0


@dataclass
class Part:
    name: str
    weight: float = 1.0
    note: str | None = None
    inner: Inner = field(default_factory=Inner)
    id: Computed[Annotated[str, KEEP]] = ""


@dataclass
class Thing:
    name: str
    one: Part | None = None
    standard: Inner = field(default_factory=lambda: Inner("standard"))
    listed: list[Part] = field(default_factory=list)
    chosen: set[Part] | None = None
    keyed: dict[str, Part] | None = None
    holes: dict[str, str | None] | None = None
    gaps: list[Part | None] | None = None
    colour: Colour = Colour.RED
    size: Literal["s", "m"] = "s"
    path: Path | None = None
    made: Computed[list[Part] | None] = None
    kind: Annotated[str | None, hcl.Named("class")] = None
    count: Computed[int] = 0

    def create(self, config: object) -> None:
        self.finish()

    def update(self, config: object, prior: "Thing") -> None:
        assert isinstance(prior, Thing)
        self.finish()

    def delete(self, config: object) -> None: ...

    def finish(self) -> None:
        parts = [
            *([self.one] if self.one else []),
            *self.listed,
            *(self.chosen or ()),
            *(self.keyed or {}).values(),
            *(gap for gap in self.gaps or () if gap),
        ]
        for part in parts:
            part.id = f"id-{part.name}"
            part.inner.serial = len(part.name)
        self.standard.serial = 7
        self.made = [Part("made", id="id-made")]
        self.count = len(parts)


@dataclass
class Rule:
    port: int
    protocol: str = "tcp"
    id: Computed[str] = ""
    tag: Annotated[list[Inner], BLOCK] = field(default_factory=list)


@dataclass
class Wall:
    single: Annotated[Rule | None, BLOCK] = None
    needed: Annotated[Inner, BLOCK] = field(default_factory=Inner)
    rules: Annotated[list[Rule], BLOCK] = field(default_factory=list)
    unordered: Annotated[set[Rule], Blocks(most=3)] = field(default_factory=set)
    by_name: Annotated[dict[str, Rule], BLOCK] = field(default_factory=dict)

    def create(self, config: object) -> None:
        rules = [self.single] if self.single else []
        for rule in [*rules, *self.rules, *self.unordered, *self.by_name.values()]:
            rule.id = f"{rule.protocol}-{rule.port}"
            for tag in rule.tag:
                tag.serial = rule.port
        self.needed.serial = 1

    def update(self, config: object, prior: "Wall") -> None:
        self.create(config)

    def delete(self, config: object) -> None: ...


@dataclass
class Node:
    name: str
    children: "list[Node] | None" = None

    def create(self, config: object) -> None: ...

    def delete(self, config: object) -> None: ...


@dataclass
class Cell:
    text: str
    width: float = 1.0


@dataclass
class Table:
    rows: list[list[Cell]] = field(default_factory=list)
    ratio: float = 0.0
    anything: object = None

    def create(self, config: object) -> None: ...

    def read(self, config: object) -> bool:
        return True

    def delete(self, config: object) -> None: ...

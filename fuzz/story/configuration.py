"""A configuration as data, so that it can change from step to step.

Blocks refer to each other by what they are, not by text. Deliberately unknown: how it is written,
chance, and what the programs make of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

ROOT: Final = "."
LOG: Final = "provisioned"
"""The file that provisioners write to, in the working directory."""
ATTRIBUTES: Final = {
    "world_thing": ("id", "value", "result", "name", "note"),
    "terraform_data": ("id", "output", "input"),
    "world_fact": ("value", "key"),
    "world_token": ("value",),
}
EACH: Final = "@each"
"""A value that is another one in each instance of a block."""
KEYS_OUTPUT: Final = "ks"
"""The output of each module that is a map whose keys are known, for others to repeat blocks by."""
EPHEMERAL_OUTPUT: Final = "eo"
SECOND: Final = "world.second"
"""The other provider configuration that modules ask their callers for."""


@dataclass
class Repetition:
    """How often a block is there: `count`, `for_each`, `enabled`, or once."""

    kind: str = ""
    expression: str = ""
    like: str = ""
    """The tag of a block before it with whose instances these go."""
    form: int = 0
    """In which way the other block is written."""

    @property
    def key(self) -> str:
        """What tells the instances apart, inside the block."""
        return {"count": "-${count.index}", "for_each": "-${each.key}"}.get(self.kind, "")

    @property
    def each(self) -> str:
        """A value of each instance, inside the block."""
        if self.kind == "for_each" and not self.like:
            return 'try(each.value.value, "${each.key}+")'
        return {"count": '"n${count.index}"', "for_each": "each.key"}.get(self.kind, '"only"')


@dataclass
class Reference:
    """A value of another block of the module, by its tag, in one of several forms."""

    tag: str
    attribute: str
    form: int


Value = str | Reference
"""An expression as text, or a reference."""


@dataclass
class Part:
    """A nested block, or a `dynamic` one that is repeated by something."""

    value: Value
    repeated: Value | None = None
    iterator: str = ""
    """What the `dynamic` block calls its element, if not by its own name."""


@dataclass
class Block:
    """A resource, a data source, an ephemeral resource or a module call."""

    mode: str
    type: str
    name: str
    tag: str
    """The name that the block was born with; names of objects are made of it."""
    repetition: Repetition = field(default_factory=Repetition)
    arguments: dict[str, Value] = field(default_factory=dict)
    depends_on: list[str] = field(default_factory=list)
    triggers: list[str] = field(default_factory=list)
    provider: str = ""
    lifecycle: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, Value] = field(default_factory=dict)
    provisioners: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    second: str = SECOND
    """What a call passes on as the second provider configuration."""

    @property
    def address(self) -> str:
        """What it is called inside its module."""
        if self.mode == "module":
            return f"module.{self.name}"
        prefix = "" if self.mode == "resource" else f"{self.mode}."
        return f"{prefix}{self.type}.{self.name}"

    @property
    def is_managed(self) -> bool:
        return self.mode == "resource"


@dataclass
class Output:
    """An output value."""

    name: str
    value: Value
    sensitive: bool = False
    condition: Value = ""
    """What a precondition looks at, if there is one."""
    depends_on: list[str] = field(default_factory=list)


@dataclass
class Module:
    """What one directory declares."""

    directory: str
    blocks: list[Block] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    checks: list[tuple[str, Value, str]] = field(default_factory=list)
    """Name, what is looked at, and the fact that is read for it (or nothing)."""
    local: Value = '"l1"'
    moves: list[tuple[str, str]] = field(default_factory=list)
    """What the module itself says about the past."""
    refused: str = ""
    """A value that a validation of the variable `v` refuses, if it has one."""
    nullable: bool = True
    """Whether the variable `v` may be null."""

    def block(self, tag: str) -> Block | None:
        return next((each for each in self.blocks if each.tag == tag), None)

    def calls(self) -> list[Block]:
        return [each for each in self.blocks if each.mode == "module"]


@dataclass
class Configuration:
    """All directories, and what the root module says about the past."""

    modules: dict[str, Module]
    moves: list[tuple[str, str]] = field(default_factory=list)
    removals: list[tuple[str, str, str]] = field(default_factory=list)
    """What was removed, whether it is destroyed, and a command to run when it is."""
    imports: list[tuple[str, str, str]] = field(default_factory=list)
    """The identifier, the address, and what the block is repeated by (or nothing)."""
    has_second: bool = False
    """Whether modules have a second provider configuration, so that calls must pass it on."""
    has_ephemeral: bool = False
    """Whether modules have an ephemeral output."""
    label: int = 0
    """In which form the second provider is configured with a value of the first block, if it is."""
    variables: dict[str, str] = field(default_factory=dict)
    mistake: str = ""
    """Blocks of the root module that are wrong."""
    provider_keys: list[str] = field(default_factory=lambda: ["a", "b"])

    @property
    def root(self) -> Module:
        return self.modules[ROOT]

    def source(self, call: Block) -> Module:
        """The module that a call uses."""
        return self.modules[str(call.arguments["source"]).strip('"./')]

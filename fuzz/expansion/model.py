"""A configuration whose module calls have instances that differ, as data.

Two texts are written of it: one with the features that only nigari has, and the literal one with a
call for each instance. Deliberately unknown: how either is written, and chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

Key = str | int
Setting = bool | str | int | list[str]
Settings = dict[str, Setting]

INSTANCES: Final = {
    "": ("",),
    "count": ("[0]", "[1]"),
    "for_each": ('["k"]', '["l"]'),
    "later": (),
}
"""The keys of the instances of a resource that are known beforehand, by how it is repeated."""
STATIC: Final = ("destroy", "first", "ignored", "guard", "when", "lenient")
"""The settings that must be static; the others are ordinary values."""


INNER: Final = "c"
"""The name of the call that sources have."""
ABOVE: Final = "above"
"""The variable with what a call gets from what is before it."""
FACT: Final = "fact"
"""The data source that sources have."""
TOKEN: Final = "token"
"""The ephemeral resource that sources have."""
OWN_KEY: Final = "@key"
"""Stands for the setting `key` in an address."""


_KEYED: Final = re.compile(r'(module\.[mnc]|\.by)\[\\*"?(\w+)\\*"?\]')
_NAMED: Final = re.compile(r"\bmodule\.([mnc])_(\w+)")


class Style(Enum):
    """In which way a source takes the settings of its instance."""

    OBJECT = "one variable with all of them"
    VARIABLES = "a variable for each"
    LOCALS = "local values"
    DEFAULTS = "variables whose defaults are attributes of another one"


class Origin(Enum):
    """Where the values of calls come from."""

    DEFAULT = "the default of a variable"
    LOCAL = "a local value"
    MODULE = "an output of another module"
    FILE = "a file with values of variables"
    ENVIRONMENT = "an environment"


class Passing(Enum):
    """In which way an instance gets its provider configuration."""

    NONE = "the one of the root module"
    KEYED = "one instance of a provider, by a key"
    WHOLE = "all instances of a provider, of which it selects one"
    OWN = "one that its source declares, which separate calls cannot lose with what it manages"


class Outside(Enum):
    """What the root module uses of its calls.

    Order, `-target` and `-exclude` follow blocks, as they do in OpenTofu: what uses one instance of
    a call depends on the whole call, which separate calls do not have.
    """

    APART = "nothing, so that a target may be one instance"
    WHOLE = "all instances, so that anything may fail"
    PART = "one instance, so that all must succeed"


@dataclass
class Thing:
    """A resource of a source."""

    name: str
    repetition: str = ""
    """`count`, `for_each`, nothing, or `later`: a `for_each` that depends on what is made before."""
    needs: list[str] = field(default_factory=list)
    """The names of those whose values it uses; `INNER` and `ABOVE` are two of them."""
    follows: list[str] = field(default_factory=list)
    """The names of those that it only depends on."""
    settings: set[str] = field(default_factory=set)
    """Those of `STATIC` that it has from its instance."""
    has_condition: bool = False
    triggered_by: str = ""
    """The name of one whose replacement replaces it."""

    @property
    def address(self) -> str:
        return f"world_thing.{self.name}"

    def instances(self) -> list[str]:
        """The addresses of its instances."""
        return [f"{self.address}{key}" for key in INSTANCES[self.repetition]]


@dataclass
class Source:
    """A directory that module instances come from."""

    name: str
    things: list[Thing] = field(default_factory=list)
    moves: list[tuple[str, str]] = field(default_factory=list)
    removals: list[tuple[str, bool | None]] = field(default_factory=list)
    """What it no longer declares, and whether it is destroyed; None: by the setting."""
    has_inner: bool = False
    """Whether it has a call of its own, with the inner instances of its instance."""
    inner_needs: str = "above"
    """The name of what that call gets."""
    fact_needs: str = ""
    """The name of what its data source is about; nothing where it has none."""
    token_needs: str = ""
    """The name of what its ephemeral resource is about; nothing where it has none."""
    has_check: bool = False
    has_extra: bool = False
    """Whether it has an output that others may lack."""

    def needed(self) -> tuple[str, str, str]:
        """The names of what all but its things depends on."""
        return self.inner_needs, self.fact_needs, self.token_needs

    def thing(self, name: str) -> Thing | None:
        return next((each for each in self.things if each.name == name), None)


@dataclass
class Instance:
    """An instance of a call."""

    source: str
    settings: Settings
    inner: dict[Key, Instance] = field(default_factory=dict)

    def all(self) -> Iterator[Instance]:
        """It, and all that is in it."""
        yield self
        for each in self.inner.values():
            yield from each.all()


@dataclass
class Call:
    """A module call of the root module, or the one that sources have."""

    name: str
    kind: str
    """`for_each` or `count`."""
    instances: dict[Key, Instance]
    after: str = ""
    """The call before it whose outputs it gets."""
    past: set[Key] = field(default_factory=set)
    """Keys that instances have had. To move another one there may be blocked by what is left."""

    def addresses(self) -> list[str]:
        """The addresses of its instances, in the order in which a value has them."""
        return [address(self.name, key) for key in sorted(self.instances, key=str)]


@dataclass
class Model:
    """All of it."""

    sources: dict[str, Source]
    leaves: dict[str, Source]
    """The sources of inner calls."""
    calls: list[Call]
    style: Style
    origin: Origin
    passing: Passing
    places: dict[Key, str]
    """The instances of the provider, with their labels."""
    has_late_places: bool = False
    """Whether a data source says what instances of the provider there are."""
    past_places: dict[Key, str] = field(default_factory=dict)
    """Those that were there once."""
    renames: list[tuple[str, str]] = field(default_factory=list)
    has_static_moves: bool = False
    """Whether local values are the keys in what says that instances are renamed."""
    outside: Outside = Outside.WHOLE
    inner_kind: str = "for_each"
    """How the calls of sources are repeated."""
    imports: list[tuple[str, str]] = field(default_factory=list)
    """Addresses with the objects that come under management there."""
    before: str = "b1"
    """A value of the resource that calls depend on."""
    has_rounds: bool = False
    """Whether it takes rounds to apply, which the real program does not have."""

    @property
    def is_steady(self) -> bool:
        """Whether no instance may go: a call refuses that, which separate calls do not do.

        The block says what is protected, even of instances that are gone, and of those it does not
        know. A provider of a module cannot go with what it manages.
        """
        things = [thing for source in self.sources.values() for thing in source.things]
        is_guarded = any("guard" in each.settings for each in things)
        return self.passing is Passing.OWN or is_guarded

    @property
    def is_flat(self) -> bool:
        """Whether nothing in a source depends on something else there.

        An exception of one instance also leaves out what depends on its blocks in all others.
        """
        sources = [*self.sources.values(), *self.leaves.values()]
        things = [each for source in sources for each in source.things]
        needed = {n for each in things for n in (*each.needs, *each.follows, each.triggered_by)}
        needed |= {name for each in sources for name in each.needed()}
        return needed <= {ABOVE, ""}

    def instances(self) -> Iterator[str]:
        """The addresses of all module instances."""
        yield from (name for name, _ in self._placed())

    def _placed(self) -> Iterator[tuple[str, Source]]:
        """The addresses of all module instances, and where they come from."""
        pending = [
            (address(call.name, key), each)
            for call in self.calls
            for key, each in call.instances.items()
        ]
        for name, instance in pending:
            source = {**self.sources, **self.leaves}[instance.source]
            yield name, source
            inner = instance.inner.items() if source.has_inner else ()
            pending += [(f"{name}.{address(INNER, key)}", each) for key, each in inner]

    def declares(self, resource: str) -> bool:
        """Whether there is a resource instance of this address."""
        return any(
            resource == f"{module}.{each}"
            for module, source in self._placed()
            for thing in source.things
            for each in thing.instances()
        )


def address(name: str, key: Key) -> str:
    """The address of a module instance."""
    return f'module.{name}["{key}"]' if isinstance(key, str) else f"module.{name}[{key}]"


def literal(text: str) -> str:
    """A text with the addresses of module and provider instances as the literal one has them."""
    return _KEYED.sub(r"\1_\2", text)


def without_keys(text: str) -> str:
    """A text with literal addresses as that of the whole call."""
    return _NAMED.sub(r"module.\1", text)


def compact(text: str) -> str:
    """A literal address as the compact one has it."""
    return _NAMED.sub(lambda found: address(found[1], _key(found[2])), text)


def _key(text: str) -> Key:
    return int(text) if text.isdigit() else text

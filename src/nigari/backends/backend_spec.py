"""The facts about one backend: its block, its rules, which arguments lead to a state, how it opens.

Each backend has one `SPEC`, in its own module below `nigari.backends.stores`. A specification is read
by commands that never connect to the backend, so it imports nothing of the network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from nigari.cty.types import BOOL, NUMBER, STRING, ListType, MapType, SetType, Type
from nigari.cty.values import Value
from nigari.lazy import module_named
from nigari.record import record
from nigari.schema.block import Attribute, Block, NestedAttributes, Nesting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.backends.protocol import Around
    from nigari.backends.store import Store
    from nigari.clouds.arguments import Arguments

Environment = Mapping[str, str]
ArgumentProblems = Iterator[tuple[str, str]]
"""Arguments of the block itself, each with a sentence about what is wrong with it."""


StateAddress = tuple[str, tuple[tuple[str, str], ...]]
"""A backend, and the names and values that lead to one state in it, whatever its workspace."""


@record
class AddressArgument:
    """An argument that says where a backend has its states."""

    name: str
    variables: tuple[str, ...] = ()
    """The environment variables that fill in for it."""
    default: str = ""
    is_required: bool = False
    """True if the location is unknown without it. `-backend-config` may still set it."""
    override: tuple[str, str] | None = None
    """A block and the argument in it that replaces this one wherever the block is set."""


def _no_problems(_value: Value, _environ: Environment) -> ArgumentProblems:
    yield from ()


@record
class BackendSpec:
    """One kind of backend."""

    block: Block
    """All of its arguments: the hash that detects a changed configuration covers unset ones, too."""
    open: Callable[[Arguments], Store] | None = None
    """Makes the store, without connecting to it; None for states in files of this machine."""
    shown: str = ""
    """The arguments and blocks known to hold no secret, with spaces between them."""
    address: tuple[AddressArgument, ...] = ()
    identify: Callable[[Mapping[str, object], str, Around], StateAddress | None] | None = None
    """Finds the address of a workspace's state, if more than the address arguments decide about it."""
    exclusive: tuple[tuple[str, str], ...] = ()
    """Pairs of arguments of which only one can be set."""
    without_slashes: tuple[str, ...] = ()
    """Arguments that must not begin or end with a slash."""
    rules: Callable[[Value, Environment], ArgumentProblems] = _no_problems
    is_shared: bool = True
    """True if other machines reach the same states."""
    has_registry: bool = False
    """True if the service that stores the states is also a registry of modules and providers."""


def store_of(package: str) -> Callable[[Arguments], Store]:
    """`open_store` of the module `store` in the backend's package, imported when it is called."""

    def open_store(arguments: Arguments) -> Store:
        store: Store = module_named(f"{package}.store").open_store(arguments)
        return store

    return open_store


def attributes(
    *,
    strings: str = "",
    numbers: str = "",
    flags: str = "",
    lists: str = "",
    sets: str = "",
    maps: str = "",
    required: str = "",
    sensitive: str = "",
    deprecated: str = "",
) -> dict[str, Attribute]:
    """Attributes by type, their names with spaces between them; collections are of strings."""
    needed, secret, old = (set(names.split()) for names in (required, sensitive, deprecated))
    types: dict[Type, str] = {
        STRING: strings,
        NUMBER: numbers,
        BOOL: flags,
        ListType(STRING): lists,
        SetType(STRING): sets,
        MapType(STRING): maps,
    }
    return {
        name: Attribute(
            type_,
            required=name in needed,
            optional=name not in needed,
            sensitive=name in secret,
            deprecated=name in old,
        )
        for type_, names in types.items()
        for name in names.split()
    }


def nested_object(attributes: Mapping[str, Attribute]) -> Attribute:
    """An attribute that is an object with attributes of its own."""
    return Attribute(nested=NestedAttributes(attributes, Nesting.SINGLE), optional=True)


def argument_text(value: Value, name: str) -> str:
    """The text of an argument; empty if it is not set."""
    found = value.attribute(name)
    return found.as_string() if found.is_known and not found.is_null else ""

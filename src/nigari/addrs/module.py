"""Addresses of modules: the root, calls, call instances, and their outputs.

One class serves both forms of a path. With keys it addresses one module instance; without keys
(`unkeyed`) it also addresses the calls in the configuration. Deliberately unknown here: the content
of modules, and the existing instances.
"""

from __future__ import annotations

from collections.abc import Iterable

from nigari.addrs.address import Address, SortKey
from nigari.addrs.keys import DEFERRED, InstanceKey, key_order, key_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


Step: TypeAlias = tuple[str, InstanceKey]
"""Name of a module call, and the key of one of its instances."""


class ModuleAddr(Address):
    """A module instance, by its path from the root: `module.network["eu"].module.subnet[0]`.

    An address references its parent's, so naming a child costs the same at any depth.
    """

    __slots__ = ("_unkeyed", "depth", "key", "name", "parent")

    parent: ModuleAddr | None
    """The module that contains the call; `None` for the root module."""
    name: str
    """Name of the call; empty for the root module."""
    key: InstanceKey
    depth: int
    """Number of calls between the root and this module; 0 for the root."""

    def __init__(self, parent: ModuleAddr | None, name: str, key: InstanceKey = None) -> None:
        self.parent = parent
        self.name = name
        self.key = key
        self._unkeyed: ModuleAddr | None = None
        if parent is None:
            self.depth = 0
            self.text: str = ""
        else:
            self.depth = parent.depth + 1
            # OpenTofu lists symbol libraries among modules, as calls with names like these.
            root, _, library = name.partition(":")
            step = f"{root}.{library}" if library else f"module.{name}{key_text(key)}"
            self.text = f"{parent.text}.{step}" if parent.text else step

    @property
    def is_root(self) -> bool:
        """True for the root module."""
        return self.parent is None

    @property
    def has_known_key(self) -> bool:
        """True if this module, or a caller of it, has a known instance key."""
        return any(key is not None and key is not DEFERRED for _, key in self.steps)

    def child(self, name: str, key: InstanceKey = None) -> ModuleAddr:
        """Address an instance of a call in this module."""
        return ModuleAddr(self, name, key)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Calls and keys from the root to this module."""
        backwards = []
        module = self
        while module.parent is not None:
            backwards.append((module.name, module.key))
            module = module.parent
        return tuple(reversed(backwards))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the calls from the root to this module."""
        return tuple(name for name, _ in self.steps)

    @property
    def unkeyed(self) -> ModuleAddr:
        """The path without instance keys: the module as declared."""
        if self._unkeyed is None:
            bare = all(key is None for _, key in self.steps)
            self._unkeyed = self if bare else module_from_names(self.names)
        return self._unkeyed

    def is_inside(self, other: ModuleAddr) -> bool:
        """Check whether this is the other module instance or one below it."""
        module: ModuleAddr = self
        while module.depth > other.depth and module.parent is not None:
            module = module.parent
        return module == other

    def sort_key(self) -> SortKey:
        """Sort parents before children, then by name and key."""
        key: list[int | str] = [self.depth]
        for name, instance in self.steps:
            key += (name, *key_order(instance))
        return tuple(key)


ROOT_MODULE = ModuleAddr(None, "")


def module_from_steps(steps: Iterable[Step]) -> ModuleAddr:
    """Address the module instance at the end of these steps from the root."""
    module = ROOT_MODULE
    for name, key in steps:
        module = ModuleAddr(module, name, key)
    return module


def module_from_names(names: Iterable[str]) -> ModuleAddr:
    """Address the module at the end of these calls from the root, without keys."""
    module = ROOT_MODULE
    for name in names:
        module = ModuleAddr(module, name)
    return module


class ModuleCall(Address):
    """A `module` block, as expressions of the same module refer to it: `module.network`."""

    __slots__ = ("name",)

    name: str

    def __init__(self, name: str) -> None:
        self.name = name
        self.text: str = f"module.{name}"

    def instance(self, key: InstanceKey) -> ModuleCallInstance:
        """Address one instance of the call."""
        return ModuleCallInstance(self, key)


class ModuleCallInstance(Address):
    """One instance of a module call: `module.network["eu"]`."""

    __slots__ = ("call", "key")

    call: ModuleCall
    key: InstanceKey

    def __init__(self, call: ModuleCall, key: InstanceKey) -> None:
        self.call = call
        self.key = key
        self.text: str = f"{call.text}{key_text(key)}"

    def output(self, name: str) -> ModuleCallOutput:
        """Address one output value of the instance."""
        return ModuleCallOutput(self, name)


class ModuleCallOutput(Address):
    """An output value as the calling module refers to it: `module.network["eu"].subnet_ids`."""

    __slots__ = ("instance", "name")

    instance: ModuleCallInstance
    name: str

    def __init__(self, instance: ModuleCallInstance, name: str) -> None:
        self.instance = instance
        self.name = name
        self.text: str = f"{instance.text}.{name}"

    @property
    def call(self) -> ModuleCall:
        """The call of the instance."""
        return self.instance.call

"""Addresses of resources and resource instances, relative to their module.

Deliberately unknown here: the declared resources, and the meaning of their types.
"""

from __future__ import annotations

from enum import Enum

from nigari.addrs.address import Address, SortKey
from nigari.addrs.keys import InstanceKey, key_order, key_text


class ResourceMode(Enum):
    """Kind of the block that declares a resource; the value is the block type."""

    MANAGED = "resource"
    DATA = "data"
    EPHEMERAL = "ephemeral"
    LIST = "list"
    """A query of a query file."""
    ACTION = "action"
    """Something that a provider can do besides changing objects. No state has it."""

    @property
    def prefix(self) -> str:
        """Prefix of addresses of this mode."""
        return "" if self is ResourceMode.MANAGED else f"{self.value}."

    @property
    def noun(self) -> str:
        """Return the noun for a block of this mode, as users know it."""
        return _NOUNS[self]

    @property
    def type_noun(self) -> str:
        """Return the noun for a type of this mode, which is the first label of a block."""
        return _TYPE_NOUNS.get(self) or _NOUNS[self]


MANAGED = ResourceMode.MANAGED
DATA = ResourceMode.DATA
EPHEMERAL = ResourceMode.EPHEMERAL
LIST = ResourceMode.LIST
ACTION = ResourceMode.ACTION

_MODE_ORDER = {EPHEMERAL: 0, DATA: 1, MANAGED: 2, LIST: 3, ACTION: 4}
_NOUNS = {
    MANAGED: "resource",
    DATA: "data source",
    EPHEMERAL: "ephemeral resource",
    LIST: "list resource",
    ACTION: "action",
}
_TYPE_NOUNS = {MANAGED: "resource type", ACTION: "action type"}


class Resource(Address):
    """A block of any of these modes: `aws_vpc.main`, `data.aws_ami.ubuntu`."""

    __slots__ = ("mode", "name", "type")

    mode: ResourceMode
    type: str
    name: str

    def __init__(self, mode: ResourceMode, type: str, name: str) -> None:
        self.mode = mode
        self.type = type
        self.name = name
        self.text: str = f"{type}.{name}" if mode is MANAGED else f"{mode.value}.{type}.{name}"

    def instance(self, key: InstanceKey = None) -> ResourceInstance:
        """Address one instance of the resource."""
        return ResourceInstance(self, key)

    @property
    def implied_provider(self) -> str:
        """Local name of the provider implied by the type name: `aws` for `aws_vpc`."""
        return self.type.partition("_")[0]

    def sort_key(self) -> SortKey:
        """Sort ephemeral before data before managed, then by type and name."""
        return (_MODE_ORDER[self.mode], self.type, self.name)


class ResourceInstance(Address):
    """An instance of a resource: `aws_vpc.main["eu"]`; without a key, the only one."""

    __slots__ = ("key", "resource")

    resource: Resource
    key: InstanceKey

    def __init__(self, resource: Resource, key: InstanceKey = None) -> None:
        self.resource = resource
        self.key = key
        self.text: str = resource.text if key is None else f"{resource.text}{key_text(key)}"

    def sort_key(self) -> SortKey:
        """Sort by resource, then by key."""
        return self.resource.sort_key() + key_order(self.key)

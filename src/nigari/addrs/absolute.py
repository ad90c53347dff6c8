"""`Abs[T]`: an address within a module instance, absolute from the root of the configuration."""

from __future__ import annotations

from nigari.addrs.address import Address, SortKey
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.addrs.resource import Resource, ResourceInstance
from nigari.typed import Generic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias, TypeVar

    T = TypeVar("T", bound=Address)
    T_co = TypeVar("T_co", bound=Address, covariant=True)


class Abs(Address, Generic["T_co"]):
    """A module instance and an address relative to it: `module.a["x"].aws_vpc.main[0]`."""

    __slots__ = ("item", "module")

    module: ModuleAddr
    item: T_co

    def __init__(self, module: ModuleAddr, item: T_co) -> None:
        self.module = module
        self.item = item
        self.text: str = f"{module.text}.{item.text}" if module.text else item.text

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Abs)
            and other.text == self.text
            and other.item.__class__ is self.item.__class__
        )

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def unkeyed(self) -> Abs[T_co]:
        """The same address in the module as declared, without instance keys."""
        module = self.module.unkeyed
        return self if module is self.module else Abs(module, self.item)

    def sort_key(self) -> SortKey:
        """Sort by module, then by the relative address."""
        return self.module.sort_key() + self.item.sort_key()


AbsResource: TypeAlias = Abs[Resource]
AbsResourceInstance: TypeAlias = Abs[ResourceInstance]


def within(module: ModuleAddr, address: Abs[T]) -> Abs[T]:
    """Make an address that is relative to a module instance absolute."""
    if module.is_root:
        return address
    for name, key in address.module.steps:
        module = module.child(name, key)
    return Abs(module, address.item)


def instance_of(resource: AbsResource, key: InstanceKey = None) -> AbsResourceInstance:
    """Address one instance of an absolute resource."""
    return Abs(resource.module, ResourceInstance(resource.item, key))


def resource_of(instance: AbsResourceInstance) -> AbsResource:
    """Return the absolute resource of an instance."""
    return Abs(instance.module, instance.item.resource)


def block_of(instance: AbsResourceInstance) -> AbsResource:
    """Return the resource block of an instance, in the module as declared."""
    return Abs(instance.module.unkeyed, instance.item.resource)

"""Target addresses of `-target`, `-exclude`, `-replace` and import blocks, and the objects they
cover.
"""

from __future__ import annotations

from nigari.addrs.absolute import AbsResource, AbsResourceInstance
from nigari.addrs.module import ModuleAddr
from nigari.addrs.resource import Resource, ResourceInstance
from nigari.diagnostics import Range
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


Targetable: TypeAlias = ModuleAddr | AbsResource | AbsResourceInstance


@record
class Target:
    """A targeted module instance, resource or resource instance."""

    subject: Targetable
    range: Range | None = None

    def __str__(self) -> str:
        return self.subject.text

    @property
    def module(self) -> ModuleAddr:
        """The targeted module instance, or the module instance of the target."""
        return self.subject if isinstance(self.subject, ModuleAddr) else self.subject.module

    @property
    def resource(self) -> Resource | None:
        """The targeted resource, or the resource of the targeted instance."""
        if isinstance(self.subject, ModuleAddr):
            return None
        item = self.subject.item
        return item if isinstance(item, Resource) else item.resource

    def covers(self, address: Targetable) -> bool:
        """Check whether the target includes all of `address`.

        A module call without a key includes all its instances, as does a resource without a key.
        """
        if isinstance(self.subject, ModuleAddr):
            inner = address if isinstance(address, ModuleAddr) else address.module
            return _covers_module(self.subject, inner)
        if isinstance(address, ModuleAddr) or address.module != self.subject.module:
            return False
        if isinstance(self.subject.item, ResourceInstance):
            return address.text == self.subject.text
        item = address.item
        return self.subject.item == (item if isinstance(item, Resource) else item.resource)

    def touches(self, resource: AbsResource) -> bool:
        """Return whether the target includes instances of a resource of one module instance."""
        return self.covers(resource) or (self.resource, self.module) == (
            resource.item,
            resource.module,
        )

    def touches_block(self, block: ModuleAddr | AbsResource) -> bool:
        """Check whether any object that the block declares may be in the target, regardless of
        keys.
        """
        module = block if isinstance(block, ModuleAddr) else block.module
        names = self.module.names
        if self.resource is None:
            return module.names[: len(names)] == names
        if isinstance(block, ModuleAddr):
            return False
        return module.names == names and block.item == self.resource


def _covers_module(target: ModuleAddr, module: ModuleAddr) -> bool:
    if module.depth < target.depth:
        return False
    ancestor = module
    while ancestor.depth > target.depth and ancestor.parent is not None:
        ancestor = ancestor.parent
    if target.key is None:
        return target.parent == ancestor.parent and target.name == ancestor.name
    return target == ancestor

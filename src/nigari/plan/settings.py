"""Static arguments of resources as planning needs them: what is ignored, and who is created first.

An object that is created before its predecessor is destroyed forces the same on everything that it
depends on: otherwise those would have to go before it does.
"""

from __future__ import annotations

from nigari.addrs.module import ModuleAddr
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.config.provisioner import Provisioner
from nigari.config.resource import Resource
from nigari.eval.instances import Frame
from nigari.eval.lifecycle import ResourceSettings
from nigari.eval.static import StaticRun
from nigari.hcl.traversal import Traversal
from nigari.plan.block_graph import BlockGraph


class Settings:
    """The static arguments of all resources, by block."""

    def __init__(self, static: StaticRun, graph: BlockGraph) -> None:
        self._known: dict[tuple[ModuleAddr, ResourceAddr], ResourceSettings] = {}
        self._first: set[tuple[ModuleAddr, str]] = set()
        for (frame, addr), settings in static.settings.items():
            path = frame.instance.addr.unkeyed
            self._known[path, addr] = settings
            if settings.create_before_destroy:
                self._first.add((path, str(addr)))
        for block in list(self._first):
            for resource in graph.resources_before(block):
                self._first.add((resource.module, str(resource.item)))

    def creates_first(self, frame: Frame, addr: ResourceAddr) -> bool:
        """Whether a new object is made before the old one is destroyed."""
        return bool(self._first) and (frame.instance.addr.unkeyed, str(addr)) in self._first

    def is_declared_first(self, module: ModuleAddr, addr: ResourceAddr) -> bool:
        """The same for a resource that is named by address."""
        return (module.unkeyed, str(addr)) in self._first

    def provisioners(self, module: ModuleAddr, resource: Resource, when: str) -> list[Provisioner]:
        """The provisioners of a resource that run at a moment, `create` or `destroy`."""
        settings = self._known.get((module.unkeyed, resource.addr))
        moments = {} if settings is None else settings.when
        return [each for each in resource.provisioners if moments.get(each, "create") == when]

    def continues_after(
        self, module: ModuleAddr, resource: Resource, provisioner: Provisioner
    ) -> bool:
        """Whether the failure of a provisioner does not matter."""
        settings = self._known.get((module.unkeyed, resource.addr))
        return settings is not None and settings.on_failure.get(provisioner) == "continue"

    def ignores_all(self, frame: Frame, addr: ResourceAddr) -> bool:
        """Whether all changes of the configuration are ignored."""
        settings = self._known.get((frame.instance.addr.unkeyed, addr))
        return settings is not None and settings.ignore_all

    def ignored(self, frame: Frame, addr: ResourceAddr) -> tuple[Traversal, ...]:
        """The parts of the configuration whose changes are ignored."""
        settings = self._known.get((frame.instance.addr.unkeyed, addr))
        return () if settings is None else settings.ignored

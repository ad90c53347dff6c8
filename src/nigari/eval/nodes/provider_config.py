"""Provider configurations: which provider each is for, and which instances it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.addrs.keys import InstanceKey
from nigari.addrs.provider import Provider, implied_provider
from nigari.diagnostics import Range
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.worklist import Need, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.config.blocks.provider_config import ProviderConfig
    from nigari.config.module import Module
    from nigari.eval.core.static_position import RequestValue


def provider_of(module: Module, local_name: str) -> Provider:
    """The provider that a local name means in a module: as declared, or by the name itself."""
    return module.provider(local_name) or implied_provider(local_name)


class ProviderConfigNode(Node):
    """A provider block of one module instance; its result is the instances of the block.

    Where resources decide which there are, one deferred instance stands for them until planning.
    """

    __slots__ = ("_request", "config", "frame", "instances")

    def __init__(self, frame: Frame, config: ProviderConfig, request: RequestValue) -> None:
        super().__init__()
        self.frame: Frame = frame
        self.config: ProviderConfig = config
        self.instances: Mapping[InstanceKey, InstanceData] = {}
        self._request = request

    @property
    def label(self) -> str:
        return self.frame.label(f"provider.{self.config.addr}")

    @property
    def range(self) -> Range:
        return self.config.range

    def fail(self) -> None:
        self.instances = {}

    def step(self) -> Sequence[Need]:
        config = self.config
        argument = "count" if config.count is not None else "for_each"
        expr = config.count or config.for_each
        if expr is None:
            self.instances = {None: NO_INSTANCE_DATA}
            return ()
        from nigari.eval.core.static_position import StaticPosition, fill_instances

        slot = StaticPosition(f"{argument} of {self.label}", self.frame, expr, self._request)
        found = fill_instances(slot, argument)
        if isinstance(found, list):
            return found
        self.instances = found
        return ()

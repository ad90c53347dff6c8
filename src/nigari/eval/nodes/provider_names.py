"""Provider names: the block that a name in a module leads to, over the tree of modules.

Nothing is evaluated: a key that a call gives comes with its source range.
"""

from __future__ import annotations

from nigari.addrs.absolute import Abs
from nigari.addrs.provider import (
    AbsProviderConfig,
    LocalProviderConfig,
    Provider,
    implied_provider,
)
from nigari.addrs.provider import ProviderConfig as ProviderConfigAddr
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.config.module import Module
from nigari.eval.core.instances import Frame, Origin
from nigari.eval.core.module_tree import InstanceData, ModuleInstance
from nigari.eval.nodes.provider_config import provider_of
from nigari.hcl.expressions import Expression
from nigari.record import record, replace


@record
class PassedKey:
    """A key in the `providers` argument of a call."""

    caller: ModuleInstance
    expr: Expression
    data: InstanceData
    """The values of `each` and `count` there."""


@record
class FoundBlock:
    """The configuration that a provider name refers to."""

    instance: ModuleInstance
    """The module that has the configuration."""
    config: ProviderConfig | None
    """The block; None if there is none and an empty one is meant."""
    address: AbsProviderConfig
    """With the keys of the module instance, as far as they are known."""
    key: PassedKey | None = None


def find_block(instance: ModuleInstance, name: str, alias: str = "") -> FoundBlock:
    """The configuration that a name means in a module: its own, or one from a caller."""
    local = LocalProviderConfig(name, alias)
    module, call, parent = instance.module, instance.call, instance.parent
    if call is not None and parent is not None:
        for passed in call.providers:
            if passed.in_child.config == local:
                ref = passed.in_parent
                found = find_block(parent, ref.name, ref.alias)
                if ref.key is None:
                    return found
                return replace(found, key=PassedKey(parent, ref.key, instance.data))
    config = module.provider_configs.get(local)
    provider = provider_of(module, name)
    if parent is not None and not alias and (config is None or config.is_empty):
        return _inherited(parent, provider)
    address = Abs(instance.addr, ProviderConfigAddr(provider, alias))
    return FoundBlock(instance, config, address)


def _inherited(instance: ModuleInstance, provider: Provider) -> FoundBlock:
    """The default configuration of a provider, from the nearest module that has a name for it."""
    while True:
        name = local_name(instance.module, provider)
        if name is not None:
            return find_block(instance, name)
        if instance.parent is None:
            address = Abs(instance.addr, ProviderConfigAddr(provider, ""))
            return FoundBlock(instance, None, address)
        instance = instance.parent


def local_name(module: Module, provider: Provider) -> str | None:
    """The local name of a provider in a module; None if it has none."""
    for name, required in module.required_providers.items():
        if required.provider == provider:
            return name
    for local in module.provider_configs:
        if module.provider(local.name) == provider:
            return local.name
    return provider.type if implied_provider(provider.type) == provider else None


# -- in one phase -----------------------------------------------------------------------------


@record
class FoundConfig:
    """The configuration that a provider name refers to, in one phase."""

    frame: Frame
    """The module that has the configuration; the root where that module is gone."""
    config: ProviderConfig | None
    """The block; None if there is none and an empty one is meant."""
    address: AbsProviderConfig
    key: Origin | None = None
    """The key that a call on the way gives."""
    is_gone: bool = False
    """True if the block, or its module instance, no longer exists."""

    @property
    def provider(self) -> Provider:
        return self.address.item.provider


def find_config(frame: Frame, name: str, alias: str = "") -> FoundConfig:
    """The configuration that a name means in a module."""
    found = find_block(frame.instance, name, alias)
    key: Origin | None = None
    if found.key is not None:
        caller = _ancestor(frame, found.key.caller)
        key = Origin(caller, caller.instance.compiled.expression(found.key.expr), found.key.data)
    return FoundConfig(_ancestor(frame, found.instance), found.config, found.address, key)


def _ancestor(frame: Frame, instance: ModuleInstance) -> Frame:
    while frame.instance is not instance:
        assert frame.parent is not None
        frame = frame.parent
    return frame

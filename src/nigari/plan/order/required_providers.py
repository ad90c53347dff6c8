"""Providers that a configuration and a state require."""

from __future__ import annotations

from nigari.addrs.provider import Provider
from nigari.eval.core.compile import CompiledModule
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.nodes.provider_names import find_block
from nigari.state.model import State


def configured_providers(root: ModuleInstance) -> list[Provider]:
    """The providers of all provider blocks, each once, whether or not anything uses them."""
    found: dict[Provider, None] = {}
    pending = [root]
    while pending:
        instance = pending.pop()
        for local in instance.module.provider_configs:
            found[provider_of(instance.module, local.name)] = None
        for children in instance.children.values():
            pending.extend(children.values())
    return list(found)


def providers_of(root: ModuleInstance, state: State) -> list[Provider]:
    """The providers of all resources and of the configurations that they use, each once."""
    found: dict[Provider, None] = {}
    looked_at: set[tuple[CompiledModule, str]] = set()
    pending = [root]
    while pending:
        instance = pending.pop()
        module = instance.module
        for resource in module.resources.values():
            name = resource.provider_name
            if (instance.compiled, name) in looked_at:
                continue
            looked_at.add((instance.compiled, name))
            alias = "" if resource.provider is None else resource.provider.alias
            found[provider_of(module, name)] = None
            found[find_block(instance, name, alias).address.item.provider] = None
        for each in module.imports:
            ref = each.provider
            name = each.shape.item.resource.implied_provider if ref is None else ref.name
            if each.shape.module.is_root:
                found[provider_of(module, name)] = None
        for children in instance.children.values():
            pending.extend(children.values())
    for stored in state.resources.values():
        found.update(dict.fromkeys(sorted(stored.providers())))
    return list(found)

"""`provider_meta` blocks: metadata of modules for providers."""

from __future__ import annotations

from nigari.addrs.provider import Provider
from nigari.config.blocks.required_providers import ProviderMeta
from nigari.config.module import Module
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.compile import CompiledModule
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.nodes.provider_config import provider_of
from nigari.hcl.decode import decode
from nigari.hcl.scope import Scope
from nigari.running.provider_pool import ProviderPool
from nigari.schema.decode import decoder_spec


class ProviderMetas:
    """The `provider_meta` blocks of all modules, each evaluated once."""

    def __init__(self, pool: ProviderPool, diags: Diagnostics) -> None:
        self._pool = pool
        self._diags = diags
        self._known: dict[tuple[CompiledModule, Provider], Value | None] = {}

    def of(self, instance: ModuleInstance, provider: Provider) -> Value | None:
        """Return a module's metadata for a provider; None if it has none."""
        if not instance.module.provider_metas:
            return None
        key = instance.compiled, provider
        if key not in self._known:
            self._known[key] = self._find(instance.module, provider)
        return self._known[key]

    def _find(self, module: Module, provider: Provider) -> Value | None:
        for meta in module.provider_metas.values():
            if provider_of(module, meta.provider) == provider:
                return self._value(meta, provider)
        return None

    def _value(self, meta: ProviderMeta, provider: Provider) -> Value | None:
        offered = self._pool.of(provider)
        if offered is None:
            return None
        if offered.provider_meta is None:
            self._diags.error(
                "provider_meta not supported",
                f"{provider.display} does not accept information about modules, so there can be "
                "no provider_meta block for it.",
                meta.range,
            )
            return None
        # All arguments must be literal, so they need no scope.
        spec = decoder_spec(offered.provider_meta.block)
        return decode(meta.body, spec, Scope(), self._diags)

"""Which provider a name in a module means."""

from __future__ import annotations

from nigari.addrs.provider import Provider, implied_provider
from nigari.config.module import Module


def provider_of(module: Module, local_name: str) -> Provider:
    """The provider that a local name means in a module: as declared, or by the name itself."""
    return module.provider(local_name) or implied_provider(local_name)

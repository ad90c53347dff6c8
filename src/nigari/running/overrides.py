"""Overrides of providers, objects and provisioners, as in tests.

A whole provider may be mocked, single objects of a real one, or provisioners. A subclass decides
which; all other code treats them like real ones.
"""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.providers import api

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class ProviderOverrides:
    """No overrides; subclasses define some."""

    def for_provider(self, config: ProviderConfig, running: api.Provider) -> api.Provider:
        """Return the replacement of a provider that a mock block configures."""
        return running

    def for_instance(self, address: AbsResourceInstance, running: api.Provider) -> api.Provider:
        """Return the replacement of a resource instance's provider."""
        return running

    def for_provisioner(self, kind: str) -> str | None:
        """Return the mocked failure of a provisioner, empty for a mocked success, or None to run
        it.
        """
        return None


NO_OVERRIDES: Final = ProviderOverrides()
"""No overrides at all."""

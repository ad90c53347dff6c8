"""Stand-ins for real providers and objects, where somebody has arranged for that, as tests do.

A whole provider may be made up, single objects of a real one, or what provisioners do. Who arranges
it says which; here it is only asked for. Everywhere else providers look the same.
"""

from __future__ import annotations

from typing import Final

from nigari.addrs.absolute import AbsResourceInstance
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.providers import api


class StandIns:
    """Nothing stands in for anything; others do more."""

    def for_provider(self, config: ProviderConfig, running: api.Provider) -> api.Provider:
        """What is used in place of a provider that is configured by a made-up block."""
        return running

    def for_instance(self, address: AbsResourceInstance, running: api.Provider) -> api.Provider:
        """What is asked about a resource instance in place of its provider."""
        return running

    def for_provisioner(self, kind: str) -> str | None:
        """What a provisioner fails with in place of what it would do: nothing where it succeeds;
        None where it does what it is there for.
        """
        return None


REAL: Final = StandIns()
"""Where everything is what it is."""

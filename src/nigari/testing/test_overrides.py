"""Test overrides: the mocked objects of a run, and their values from the test.

The most specific override wins; overrides are not merged: the run's own, those of the file, those
of the mocked provider for the same resource, its defaults for the type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nigari.addrs.absolute import AbsResource, AbsResourceInstance, block_of
from nigari.addrs.provider import LocalProviderConfig
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.config.test_mocks import MockProvider, MockProvisioner, OverrideResource
from nigari.providers import api
from nigari.running.overrides import ProviderOverrides
from nigari.testing.mocks import NOTHING, Mock

ByBlock = Mapping[AbsResource, list[OverrideResource]]


class RunOverrides(ProviderOverrides):
    """Overrides of providers and objects in one run."""

    def __init__(
        self,
        mocks: Mapping[LocalProviderConfig, MockProvider],
        levels: Iterable[Iterable[OverrideResource]],
        provisioners: Mapping[str, MockProvisioner],
    ) -> None:
        """Combine the overrides in `levels`, those with the highest precedence first."""
        self._mocks = mocks
        self._provisioners = provisioners
        self._levels = [_by_block(each) for each in levels]

    def for_provider(self, config: ProviderConfig, running: api.Provider) -> api.Provider:
        return MockedProvider(running, self._mocks[config.addr])

    def for_instance(self, address: AbsResourceInstance, running: api.Provider) -> api.Provider:
        real = running.real if isinstance(running, Mock) else running
        for level in self._levels:
            found = _nearest(level, address)
            if found is not None:
                return Mock(real, found.values)
        if not isinstance(running, MockedProvider):
            return running
        resource = address.item.resource
        found = _nearest(running.overrides, address)
        if found is not None:
            return Mock(real, found.values)
        return Mock(real, running.mock.defaults.get((resource.mode, resource.type), NOTHING))

    def for_provisioner(self, kind: str) -> str | None:
        mock = self._provisioners.get(kind)
        return None if mock is None else mock.error_message


class MockedProvider(Mock):
    """A completely mocked provider."""

    def __init__(self, real: api.Provider, mock: MockProvider) -> None:
        super().__init__(real)
        self.mock = mock
        self.overrides: ByBlock = _by_block(mock.resources)


def _by_block(overrides: Iterable[OverrideResource]) -> ByBlock:
    found: dict[AbsResource, list[OverrideResource]] = {}
    for each in overrides:
        found.setdefault(each.target, []).append(each)
    return found


def _nearest(level: ByBlock, address: AbsResourceInstance) -> OverrideResource | None:
    """Return the most specific override for an instance."""
    fitting = [each for each in level.get(block_of(address), ()) if _covers(each, address)]
    return max(fitting, key=_exactness, default=None)


def _covers(override: OverrideResource, address: AbsResourceInstance) -> bool:
    if override.key is not None and override.key != address.item.key:
        return False
    steps = zip(override.module.steps, address.module.steps, strict=True)
    return all(wanted is None or wanted == key for (_, wanted), (_, key) in steps)


def _exactness(override: OverrideResource) -> tuple[bool, int]:
    keys = sum(key is not None for _, key in override.module.steps)
    return override.key is not None, keys

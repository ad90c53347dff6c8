"""A provider whose objects live in regions, run inside this process and watched.

An instance of it sees only the objects of the region that it is configured for, so an object is
found, changed and destroyed only by an instance with the right configuration.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import pytest

from nigari.cty.values import Value
from nigari.providers import api
from nigari.providers.python import REPLACE, SENSITIVE, Computed, Provider, ProviderError
from tests.providers_found import find_provider

SOURCE = "example.com/test/cloud"
REQUIRED = f"""\
terraform {{
  required_providers {{
    cloud = {{ source = "{SOURCE}" }}
  }}
}}
"""


@dataclass
class Settings:
    region: str = "nowhere"
    token: Annotated[str | None, SENSITIVE] = None
    labels: dict[str, str] | None = None


@dataclass
class Cloud:
    """All regions, and what has been done with instances of the provider."""

    objects: dict[tuple[str, str], str] = field(default_factory=dict)
    """Contents by region and name."""
    stuck: set[str] = field(default_factory=set)
    """Names of objects that cannot be destroyed."""
    started: int = 0
    running: int = 0
    most: int = 0
    """How many instances ran at the same time at most."""
    configured: list[str] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    """What was asked for objects, in which region, and by which name."""

    def forget_instances(self) -> None:
        self.started = self.most = 0
        self.configured, self.tokens, self.calls = [], [], []

    def provider(self) -> Provider:
        return _make(self)


class _Watched(Provider):
    def __init__(self, cloud: Cloud) -> None:
        super().__init__("cloud", Settings)
        self._cloud = cloud
        cloud.started += 1
        cloud.running += 1
        cloud.most = max(cloud.most, cloud.running)

    async def configure(self, config: Value, may_defer: bool = False) -> api.Response:
        if not config.is_wholly_known:
            self._cloud.configured.append("(unknown)")
            return api.Response()
        answer = await super().configure(config)
        settings = self._config
        assert isinstance(settings, Settings)
        self._cloud.configured.append(settings.region)
        self._cloud.tokens.append(settings.token)
        return answer

    async def close(self) -> None:
        self._cloud.running -= 1


def _make(cloud: Cloud) -> Provider:
    provider = _Watched(cloud)

    @provider.resource("box")
    @dataclass
    class Box:
        name: Annotated[str, REPLACE]
        content: str = ""
        region: Computed[str] = ""

        def create(self, settings: Settings) -> None:
            if self.content == "broken":
                raise ProviderError("Broken", "It does not work.")
            cloud.calls.append(("write", settings.region, self.name))
            self.region = settings.region
            cloud.objects[settings.region, self.name] = self.content

        def read(self, settings: Settings) -> bool:
            cloud.calls.append(("read", settings.region, self.name))
            found = cloud.objects.get((settings.region, self.name))
            if found is None:
                return False
            self.content = found
            return True

        def update(self, settings: Settings, prior: object) -> None:
            self.create(settings)

        def delete(self, settings: Settings) -> None:
            cloud.calls.append(("delete", settings.region, self.name))
            if self.name in cloud.stuck:
                raise ProviderError("Stuck", "It cannot be destroyed.")
            del cloud.objects[settings.region, self.name]

        @classmethod
        def import_object(cls, settings: Settings, id: str) -> Box:
            return cls(id, cloud.objects[settings.region, id], settings.region)

    @provider.data_source("region")
    @dataclass
    class Region:
        names: Computed[list[str] | None] = None

        def read(self, settings: Settings) -> None:
            self.names = sorted(name for region, name in cloud.objects if region == settings.region)

    return provider


def install(monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """Have the provider found, and say what becomes of it."""
    cloud = Cloud()
    find_provider(monkeypatch, cloud.provider, SOURCE)
    return cloud

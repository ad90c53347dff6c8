"""Providers that tests have found in this process, instead of a plugin that is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.providers import api
from nigari.providers.builtin.terraform import TerraformProvider
from nigari.schema.provider import ProviderSchema
from nigari.workspace.plugins.providers import InstalledProviders


def find_provider(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], api.Provider], source: str = ""
) -> None:
    """Have every provider that is not built in made this way; only that with the source, if given."""
    find_providers(monkeypatch, {source: make})


def find_providers(
    monkeypatch: pytest.MonkeyPatch, makes: Mapping[str, Callable[[], api.Provider]]
) -> None:
    """Have providers made in these ways, by source; without one, every other that is not built in."""

    async def start(
        self: InstalledProviders,
        provider: Provider,
        known_schema: ProviderSchema | None,
        diags: Diagnostics,
    ) -> api.Provider:
        if provider.is_builtin:
            return TerraformProvider()
        return makes[str(provider) if str(provider) in makes else ""]()

    def is_elsewhere(self: InstalledProviders, provider: Provider) -> bool:
        return not provider.is_builtin

    monkeypatch.setattr(InstalledProviders, "start", start)
    monkeypatch.setattr(InstalledProviders, "is_elsewhere", is_elsewhere)
    monkeypatch.setattr(InstalledProviders, "is_attached", is_elsewhere)

"""What tests of commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.providers import api
from nigari.schema.provider import ProviderSchema
from nigari.workspace.providers import InstalledProviders
from tests.cli.rich import Rich


@pytest.fixture
def rich(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment in which the test provider is at hand, without a process of its own.

    The working directory is an empty one.
    """

    async def start(
        self: InstalledProviders,
        provider: Provider,
        known_schema: ProviderSchema | None,
        diags: Diagnostics,
    ) -> api.Provider:
        return Rich()

    monkeypatch.setattr(InstalledProviders, "start", start)
    monkeypatch.chdir(tmp_path)
    return {"TF_IN_AUTOMATION": "1"}

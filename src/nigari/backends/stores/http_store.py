"""The base of backends over HTTP: one client, open while it is used."""

from __future__ import annotations

from nigari.net.client import Client
from nigari.net.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


STATE_LIMIT: Final = 1 << 30
"""The most bytes that a state may have."""


class HttpStore:
    """A store that talks HTTP."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        assert self._client is not None, "the store is not open"
        return self._client

    async def open(self) -> None:
        self._client = Client(self._settings)

    async def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()

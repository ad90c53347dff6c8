"""Base of key services, which create data keys and encrypt them so that only the service can
decrypt them.

Every write uses a new key, stored in encrypted form with the file; the service decrypts it for
reading. Access to services is in `nigari.clouds`.
"""

from __future__ import annotations

import base64
import binascii
import json
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Mapping
from contextlib import suppress

from nigari.clouds.failures import CloudFailure
from nigari.net.client import Client, Policy
from nigari.net.failures import NetFailure
from nigari.net.settings import Settings
from nigari.programs import POLL_INTERVAL, stop_if_cancelled
from nigari.record import record
from nigari.state.encryption.keys import EncryptionFailure, Keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeVar

    T = TypeVar("T")


POLICY: Final = Policy(retries=4)


@record
class DataKey:
    """A new key, and the metadata by which the service returns it again."""

    key: bytes
    stored: Mapping[str, object]


class KeyService(ABC):
    """A service that encrypts keys."""

    sealed_as: str
    """Name of the encrypted key in the metadata of a file."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def provide(self, metadata: bytes | None) -> tuple[Keys, bytes | None]:
        """Create a new key, and decrypt that of the file that is read."""
        return _waited(self._provide(metadata))

    async def _provide(self, metadata: bytes | None) -> tuple[Keys, bytes | None]:
        try:
            async with Client(self._settings) as client:
                made = await self.make(client)
                stored = {} if metadata is None else self._stored(metadata)
                opened = await self.open(client, stored) if stored else b""
        except (CloudFailure, NetFailure) as failure:
            raise EncryptionFailure(failure.text) from None
        return Keys(made.key, opened), json.dumps(made.stored, separators=(",", ":")).encode()

    def _stored(self, metadata: bytes) -> Mapping[str, object]:
        """Parse the key metadata of a file; empty if it has none."""
        try:
            document = json.loads(metadata)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict) or not isinstance(document.get(self.sealed_as), str):
            raise EncryptionFailure("The key metadata in the file is from another service.")
        return document if document[self.sealed_as] else {}

    @abstractmethod
    async def make(self, client: Client) -> DataKey:
        """Create a new key."""

    @abstractmethod
    async def open(self, client: Client, stored: Mapping[str, object]) -> bytes:
        """Decrypt an earlier key from its metadata."""


async def posted(
    client: Client, url: str, given: Mapping[str, object], secrets: Mapping[str, str]
) -> Mapping[str, object]:
    """Send a JSON document to the service, and return its response."""
    response = await client.request(
        "POST",
        url,
        headers={"content-type": "application/json"},
        credentials=secrets,
        body=json.dumps(given).encode(),
        policy=POLICY,
    )
    found = response.require(200).json()
    return found if isinstance(found, dict) else {}


def decoded(text: object) -> bytes:
    """Decode base64 from a service."""
    try:
        return base64.b64decode(str(text or ""), validate=True)
    except (binascii.Error, ValueError):
        raise CloudFailure("The service returned something that is not a key.") from None


def _waited(work: Coroutine[object, object, T]) -> T:
    """Run a coroutine synchronously, even if an event loop is running."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor, wait

    task: asyncio.Task[object] | None = None

    async def noted() -> T:
        nonlocal task
        task = asyncio.current_task()
        return await work

    with ThreadPoolExecutor(max_workers=1) as pool:
        result = pool.submit(asyncio.run, noted())
        try:
            while not wait((result,), POLL_INTERVAL).done:
                stop_if_cancelled()
        except BaseException:
            if task is not None:
                with suppress(RuntimeError):  # it has just ended
                    task.get_loop().call_soon_threadsafe(task.cancel)
            raise
        return result.result()

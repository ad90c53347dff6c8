"""The key provider `azure_vault`: random keys, encrypted by a key in Azure Key Vault.

The vault names the resource for its access tokens, so that managed HSMs and all Azure clouds are
supported. A key is decrypted with the version and algorithm that encrypted it.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from nigari.clouds.arguments import Arguments
from nigari.clouds.azure import azure_token, known_environment
from nigari.clouds.azure_identity import IDENTITY_ARGUMENTS, read_environment, read_identity
from nigari.clouds.failures import CloudFailure
from nigari.lazy import lazy_pattern
from nigari.net.client import Client
from nigari.net.settings import read_settings
from nigari.record import record
from nigari.state.encryption.arguments import ArgumentReader
from nigari.state.encryption.keys import EncryptionFailure
from nigari.state.encryption.services.base import POLICY, DataKey, KeyService, decoded, posted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_VERSION: Final = "7.6"
_KEY_NAME: Final = lazy_pattern(r"[0-9a-zA-Z-]{1,127}")
_VAULT_NAME: Final = lazy_pattern(r"(?!.*--)[a-zA-Z][0-9a-zA-Z-]{1,22}[0-9a-zA-Z]")
_RESOURCE: Final = lazy_pattern(r'\b(scope|resource)="([^"]*)"')
_ASYMMETRIC: Final = "RSA-OAEP-256"
_SYMMETRIC: Final = {128: "A128GCM", 192: "A192GCM", 256: "A256GCM"}
_PARTS: Final = {
    "ciphertext": "value",
    "iv": "iv",
    "authentication_tag": "tag",
    "additional_authenticated_data": "aad",
}
"""Metadata members of a file, and their names in the vault's API."""


@record
class VaultKey:
    """The key that encrypts others."""

    vault: str
    name: str
    algorithm: str

    def url(self, version: str, operation: str) -> str:
        """Return the URL of an operation; without a version, of the newest one."""
        parts = ["keys", self.name, *([version] if version else ()), operation]
        path = "/".join(quote(each, safe="") for each in parts)
        return f"{self.vault.rstrip('/')}/{path}?api-version={_VERSION}"


class AzureVault(KeyService):
    """Random keys, encrypted by a vault."""

    sealed_as = "ciphertext"

    def __init__(self, arguments: Arguments, key: VaultKey, length: int) -> None:
        super().__init__(read_settings(arguments.environ))
        self._environment = read_environment(arguments)
        self._identity = read_identity(arguments)
        self._environ = arguments.environ
        self._key = key
        self._length = length
        self._token = ""

    async def make(self, client: Client) -> DataKey:
        key = os.urandom(self._length)
        given = {"alg": self._key.algorithm, "value": _in_url(key)}
        answer = await self._call(client, self._key.url("", "encrypt"), given)
        stored: dict[str, object] = {
            ours: _stored(answer.get(theirs)) for ours, theirs in _PARTS.items()
        }
        version = urlsplit(str(answer.get("kid", ""))).path.strip("/").split("/")[2:]
        stored["key_version"] = version[0] if version else ""
        stored["algo"] = self._key.algorithm
        return DataKey(key, stored)

    async def open(self, client: Client, stored: Mapping[str, object]) -> bytes:
        given = {"alg": str(stored.get("algo") or self._key.algorithm)}
        for ours, theirs in _PARTS.items():
            if stored.get(ours):
                given[theirs] = _in_url(decoded(stored[ours]))
        version = str(stored.get("key_version") or "")
        answer = await self._call(client, self._key.url(version, "decrypt"), given)
        return _from_url(answer.get("value"))

    async def _call(
        self, client: Client, url: str, given: Mapping[str, object]
    ) -> Mapping[str, object]:
        self._token = self._token or await self._new_token(client, url)
        return await posted(client, url, given, {"authorization": f"Bearer {self._token}"})

    async def _new_token(self, client: Client, url: str) -> str:
        """Request a token for the resource that the vault names in its challenge."""
        response = await client.request("POST", url, body=b"", policy=POLICY)
        challenge = dict(_RESOURCE.findall(response.headers.get("www-authenticate", "")))
        resource = challenge.get("scope") or challenge.get("resource", "")
        if response.status != 401 or not resource:
            raise CloudFailure(f"{self._key.vault} does not respond like an Azure Key Vault.")
        resource = resource.removesuffix("/.default")
        host = urlsplit(url).netloc
        # A token must not be sent to a host that asks for one of another service.
        if not host.endswith(f".{urlsplit(resource).netloc}"):
            raise CloudFailure(f"{host} asks for a token for {resource}, which is another service.")
        login = (await known_environment(client, self._environment)).login
        return await azure_token(client, self._identity, login, resource, self._environ)


def build(reader: ArgumentReader) -> AzureVault:
    """Build the key provider from its arguments."""
    key = _vault_key(reader)
    length = reader.whole_number("key_length", 0)
    if length < 1:
        raise EncryptionFailure("key_length of azure_vault must be at least 1.")
    try:
        return AzureVault(reader.for_cloud(IDENTITY_ARGUMENTS), key, length)
    except CloudFailure as failure:
        raise EncryptionFailure(failure.text) from None


def _vault_key(reader: ArgumentReader) -> VaultKey:
    vault, name = reader.required("vault_uri"), reader.required("vault_key_name")
    parts = urlsplit(vault)
    if parts.scheme != "https" or not _VAULT_NAME.fullmatch((parts.hostname or "").split(".")[0]):
        raise EncryptionFailure(
            "vault_uri of azure_vault must be the URL of a key vault, such as "
            "https://example.vault.azure.net."
        )
    if not _KEY_NAME.fullmatch(name):
        raise EncryptionFailure(
            "vault_key_name of azure_vault must consist of 1 to 127 letters, digits and hyphens."
        )
    size = reader.whole_number("symmetric_key_size", 0)
    if not reader.flag("symmetric"):
        return VaultKey(vault, name, _ASYMMETRIC)
    if size not in _SYMMETRIC:
        raise EncryptionFailure(
            "symmetric_key_size of azure_vault must be 128, 192 or 256 if symmetric is set."
        )
    return VaultKey(vault, name, _SYMMETRIC[size])


def _in_url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _from_url(text: object) -> bytes:
    try:
        padded = str(text or "")
        return base64.b64decode(padded + "=" * (-len(padded) % 4), b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise CloudFailure("The vault returned something that is not a key.") from None


def _stored(text: object) -> str | None:
    return None if text is None else base64.b64encode(_from_url(text)).decode()

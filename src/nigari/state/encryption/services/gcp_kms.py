"""The key provider `gcp_kms`: random keys, encrypted by Google Cloud KMS."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping

from nigari.clouds.arguments import Arguments
from nigari.clouds.failures import CloudFailure, NoCredentials
from nigari.clouds.google import access_token, impersonated, token_of_credentials
from nigari.net.client import Client
from nigari.net.settings import read_settings
from nigari.state.encryption.arguments import ArgumentReader
from nigari.state.encryption.keys import EncryptionFailure
from nigari.state.encryption.services.base import DataKey, KeyService, decoded, posted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ARGUMENTS: Final = [
    "access_token",
    "credentials",
    "impersonate_service_account",
    "impersonate_service_account_delegates",
]
_SCOPE: Final = "https://www.googleapis.com/auth/cloudkms"
_WIDE_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
"""Scope for impersonating a service account."""
_LARGEST_AUTHENTICATED_DATA: Final = 64 * 1024
"""Limit of Google's API."""


class GcpKms(KeyService):
    """Random keys, encrypted by Google Cloud KMS."""

    sealed_as = "ciphertext"

    def __init__(self, arguments: Arguments, key: str, length: int, authenticated: str) -> None:
        super().__init__(read_settings(arguments.environ))
        self._arguments = arguments
        self._url = f"https://cloudkms.googleapis.com/v1/{key}"
        self._length = length
        # Google does not return this data, and OpenTofu does not store it: a file is only readable
        # with the value it was written with.
        self._extra = {"additionalAuthenticatedData": authenticated} if authenticated else {}

    async def make(self, client: Client) -> DataKey:
        key = os.urandom(self._length)
        given = {"plaintext": base64.b64encode(key).decode(), **self._extra}
        answer = await self._call(client, "encrypt", given)
        return DataKey(key, {self.sealed_as: str(answer.get("ciphertext", ""))})

    async def open(self, client: Client, stored: Mapping[str, object]) -> bytes:
        given = {"ciphertext": str(stored[self.sealed_as]), **self._extra}
        answer = await self._call(client, "decrypt", given)
        return decoded(answer.get("plaintext"))

    async def _call(
        self, client: Client, operation: str, given: Mapping[str, str]
    ) -> Mapping[str, object]:
        token = await self._token(client)
        return await posted(
            client,
            f"{self._url}:{operation}",
            given,
            {"authorization": f"Bearer {token}"},
        )

    async def _token(self, client: Client) -> str:
        text, environ = self._arguments.text, self._arguments.environ
        account = text(
            "impersonate_service_account",
            "GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT",
            "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT",
        )
        scope = _WIDE_SCOPE if account else _SCOPE
        credentials = text("credentials", "GOOGLE_CREDENTIALS")
        token = text("access_token", "GOOGLE_OAUTH_ACCESS_TOKEN")
        try:
            if not token and credentials:
                token = await token_of_credentials(client, credentials, scope)
            token = token or await access_token(client, environ, scope)
        except ValueError as error:
            raise CloudFailure(f"The credentials cannot be used: {error}.") from None
        if not token:
            raise NoCredentials(
                "No credentials for Google Cloud were found. Set GOOGLE_CREDENTIALS or "
                'GOOGLE_OAUTH_ACCESS_TOKEN, or run "gcloud auth application-default login".'
            )
        if account:
            delegates = self._arguments.texts("impersonate_service_account_delegates")
            return await impersonated(client, token, account, delegates, _SCOPE)
        return token


def build(reader: ArgumentReader) -> GcpKms:
    """Build the key provider `gcp_kms`."""
    key, length = reader.required("kms_encryption_key"), reader.whole_number("key_length", 0)
    if not 1 <= length <= 1024:
        raise EncryptionFailure("key_length of gcp_kms must be between 1 and 1024.")
    authenticated = reader.base64_text(
        "additional_authenticated_data", most=_LARGEST_AUTHENTICATED_DATA
    )
    return GcpKms(reader.for_cloud(_ARGUMENTS), key, length, authenticated)

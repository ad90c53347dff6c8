"""The key provider `openbao`: data keys from the transit engine of OpenBao or Vault."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from nigari.clouds.arguments import Arguments
from nigari.net.client import Client
from nigari.net.settings import read_settings
from nigari.record import replace
from nigari.state.encryption.arguments import ArgumentReader
from nigari.state.encryption.keys import EncryptionFailure
from nigari.state.encryption.services.base import DataKey, KeyService, decoded, posted


class OpenBao(KeyService):
    """Data keys from the transit engine of OpenBao or Vault."""

    sealed_as = "ciphertext"

    def __init__(self, arguments: Arguments, key: str, length: int, associated: str) -> None:
        environ = arguments.environ
        settings = read_settings(environ)
        skips = environ.get("BAO_SKIP_VERIFY") or environ.get("VAULT_SKIP_VERIFY") or ""
        authority = environ.get("BAO_CACERT") or environ.get("VAULT_CACERT") or ""
        super().__init__(
            replace(
                settings,
                certificate_file=authority or settings.certificate_file,
                checks_certificates=skips.lower() not in ("1", "t", "true"),
            )
        )
        address = arguments.text(
            "address", "BAO_ADDR", "VAULT_ADDR", default="https://127.0.0.1:8200"
        )
        path = arguments.text("transit_engine_path", default="/transit").strip("/")
        self._url = f"{address.rstrip('/')}/v1/{path}"
        self._key = key
        self._bits = length * 8
        self._associated = associated
        token = arguments.text("token", "BAO_TOKEN", "VAULT_TOKEN")
        self._secrets = {"x-vault-token": token} if token else {}
        namespace = environ.get("BAO_NAMESPACE") or environ.get("VAULT_NAMESPACE")
        if namespace:
            self._secrets["x-vault-namespace"] = namespace

    async def make(self, client: Client) -> DataKey:
        more = {"associated_data": self._associated} if self._associated else {}
        answer = await self._call(client, "datakey/plaintext", {"bits": self._bits, **more})
        sealed = base64.b64encode(str(answer.get("ciphertext", "")).encode()).decode()
        return DataKey(decoded(answer.get("plaintext")), {self.sealed_as: sealed, **more})

    async def open(self, client: Client, stored: Mapping[str, object]) -> bytes:
        text = decoded(stored[self.sealed_as]).decode("utf-8", "replace")
        # OpenBao requires the associated data of the file, which may differ from the configured
        # one.
        associated = stored.get("associated_data")
        more = {"associated_data": associated} if associated else {}
        answer = await self._call(client, "decrypt", {"ciphertext": text, **more})
        return decoded(answer.get("plaintext"))

    async def _call(
        self, client: Client, operation: str, given: Mapping[str, object]
    ) -> Mapping[str, object]:
        url = f"{self._url}/{operation}/{self._key}"
        data = (await posted(client, url, given, self._secrets)).get("data")
        return data if isinstance(data, dict) else {}


def build(reader: ArgumentReader) -> OpenBao:
    """Build the key provider `openbao`."""
    key, length = reader.required("key_name"), reader.whole_number("key_length", 32)
    if length not in (16, 32, 64):
        raise EncryptionFailure("key_length of openbao must be 16, 32 or 64.")
    associated = reader.base64_text("associated_data")
    arguments = reader.for_cloud(("address", "token", "transit_engine_path"))
    return OpenBao(arguments, key, length, associated)

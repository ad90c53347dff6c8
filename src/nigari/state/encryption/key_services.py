"""Key providers whose keys are made and kept by a service: AWS KMS, Google Cloud KMS, OpenBao.

Each makes a new data key for writing, and stores it, encrypted by the service, with the file; the
service decrypts it again for reading. How a service is reached is known to `nigari.clouds`.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Mapping
from typing import Final, TypeVar

from nigari.clouds.arguments import Arguments
from nigari.clouds.aws.client import AwsClient, Service
from nigari.clouds.aws.credentials import CredentialChain
from nigari.clouds.aws.settings import aws_endpoint, aws_network, aws_region, aws_sources
from nigari.clouds.aws.signing import Credentials
from nigari.clouds.failures import CloudFailure
from nigari.clouds.google import access_token, impersonated, token_of_credentials
from nigari.net.client import Client, Policy
from nigari.net.failures import NetFailure
from nigari.net.settings import Settings, read_settings
from nigari.record import record, replace
from nigari.state.encryption.arguments import ArgumentReader
from nigari.state.encryption.failures import EncryptionFailure
from nigari.state.encryption.keys import Keys

T = TypeVar("T")

_AWS_ARGUMENTS: Final = [
    "access_key",
    "allowed_account_ids",
    "assume_role",
    "assume_role_with_web_identity",
    "custom_ca_bundle",
    "ec2_metadata_service_endpoint",
    "ec2_metadata_service_endpoint_mode",
    "endpoints",
    "forbidden_account_ids",
    "http_proxy",
    "https_proxy",
    "insecure",
    "max_retries",
    "no_proxy",
    "profile",
    "region",
    "retry_mode",
    "secret_key",
    "shared_config_files",
    "shared_credentials_files",
    "skip_credentials_validation",
    "skip_metadata_api_check",
    "skip_requesting_account_id",
    "sts_region",
    "token",
    "use_dualstack_endpoint",
    "use_fips_endpoint",
]
_GOOGLE_ARGUMENTS: Final = [
    "access_token",
    "credentials",
    "impersonate_service_account",
    "impersonate_service_account_delegates",
]
_GOOGLE_SCOPE: Final = "https://www.googleapis.com/auth/cloudkms"
_POLICY: Final = Policy(retries=4)


@record
class DataKey:
    """A new key, and what the service must be given to get it again."""

    key: bytes
    sealed: str


class KeyService(ABC):
    """A service that seals keys; metadata hold the sealed key under one name."""

    sealed_as: str

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def provide(self, metadata: bytes | None) -> tuple[Keys, bytes | None]:
        """A new key, and that of the file that is being read."""
        return _waited(self._provide(metadata))

    async def _provide(self, metadata: bytes | None) -> tuple[Keys, bytes | None]:
        try:
            async with Client(self._settings) as client:
                made = await self.make(client)
                sealed = "" if metadata is None else self._sealed(metadata)
                opened = await self.open(client, sealed) if sealed else b""
        except (CloudFailure, NetFailure) as failure:
            raise EncryptionFailure(failure.text) from None
        stored = json.dumps({self.sealed_as: made.sealed}, separators=(",", ":"))
        return Keys(made.key, opened), stored.encode()

    def _sealed(self, metadata: bytes) -> str:
        try:
            found = json.loads(metadata).get(self.sealed_as)
        except (ValueError, AttributeError):
            found = None
        if not isinstance(found, str):
            raise EncryptionFailure("The key metadata in the file are not those of this service.")
        return found

    @abstractmethod
    async def make(self, client: Client) -> DataKey:
        """A new key."""

    @abstractmethod
    async def open(self, client: Client, sealed: str) -> bytes:
        """A key that was made before."""


class AwsKms(KeyService):
    """Keys of AWS KMS."""

    sealed_as = "ciphertext_blob"

    def __init__(self, arguments: Arguments, key: str, spec: str) -> None:
        super().__init__(aws_network(arguments))
        region = aws_region(arguments)
        self._policy = Policy(retries=arguments.number("max_retries", default=5))
        self._kms = Service("kms", region, aws_endpoint(arguments, "kms", region))
        sts_region = arguments.text("sts_region") or region
        sts = Service("sts", sts_region, aws_endpoint(arguments, "sts", sts_region))
        self._chain = CredentialChain(aws_sources(arguments), sts, self._policy)
        self._key = key
        self._spec = spec

    async def make(self, client: Client) -> DataKey:
        answer = await self._call(client, "GenerateDataKey", KeySpec=self._spec)
        return DataKey(_decoded(answer.get("Plaintext")), str(answer.get("CiphertextBlob", "")))

    async def open(self, client: Client, sealed: str) -> bytes:
        answer = await self._call(client, "Decrypt", CiphertextBlob=sealed)
        return _decoded(answer.get("Plaintext"))

    async def _call(self, client: Client, operation: str, **more: str) -> Mapping[str, object]:
        async def identity() -> Credentials:
            return await self._chain.current(client)

        aws = AwsClient(client, identity, self._policy)
        return await aws.call(self._kms, f"TrentService.{operation}", {"KeyId": self._key, **more})


class GcpKms(KeyService):
    """Random keys that Google Cloud KMS encrypts."""

    sealed_as = "ciphertext"

    def __init__(self, arguments: Arguments, key: str, length: int) -> None:
        super().__init__(read_settings(arguments.environ))
        self._arguments = arguments
        self._url = f"https://cloudkms.googleapis.com/v1/{key}"
        self._length = length

    async def make(self, client: Client) -> DataKey:
        key = os.urandom(self._length)
        given = {"plaintext": base64.b64encode(key).decode()}
        return DataKey(key, str((await self._call(client, "encrypt", given)).get("ciphertext", "")))

    async def open(self, client: Client, sealed: str) -> bytes:
        answer = await self._call(client, "decrypt", {"ciphertext": sealed})
        return _decoded(answer.get("plaintext"))

    async def _call(
        self, client: Client, operation: str, given: Mapping[str, str]
    ) -> Mapping[str, object]:
        token = await self._token(client)
        return await _posted(
            client,
            f"{self._url}:{operation}",
            given,
            {"authorization": f"Bearer {token}"},
        )

    async def _token(self, client: Client) -> str:
        text, environ = self._arguments.text, self._arguments.environ
        credentials = text("credentials", "GOOGLE_BACKEND_CREDENTIALS", "GOOGLE_CREDENTIALS")
        token = text("access_token", "GOOGLE_OAUTH_ACCESS_TOKEN")
        try:
            if not token and credentials:
                token = await token_of_credentials(client, credentials, _GOOGLE_SCOPE)
            token = token or await access_token(client, environ, _GOOGLE_SCOPE)
        except ValueError as error:
            raise CloudFailure(f"The credentials cannot be used: {error}.") from None
        account = text(
            "impersonate_service_account",
            "GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT",
            "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT",
        )
        if account:
            delegates = self._arguments.texts("impersonate_service_account_delegates")
            return await impersonated(client, token, account, delegates, _GOOGLE_SCOPE)
        return token


class OpenBao(KeyService):
    """Data keys of the transit engine of OpenBao, or of Vault."""

    sealed_as = "ciphertext"

    def __init__(self, arguments: Arguments, key: str, length: int) -> None:
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
        token = arguments.text("token", "BAO_TOKEN", "VAULT_TOKEN")
        self._secrets = {"x-vault-token": token} if token else {}
        namespace = environ.get("BAO_NAMESPACE") or environ.get("VAULT_NAMESPACE")
        if namespace:
            self._secrets["x-vault-namespace"] = namespace

    async def make(self, client: Client) -> DataKey:
        answer = await self._call(client, "datakey/plaintext", {"bits": self._bits})
        sealed = base64.b64encode(str(answer.get("ciphertext", "")).encode()).decode()
        return DataKey(_decoded(answer.get("plaintext")), sealed)

    async def open(self, client: Client, sealed: str) -> bytes:
        text = _decoded(sealed).decode("utf-8", "replace")
        answer = await self._call(client, "decrypt", {"ciphertext": text})
        return _decoded(answer.get("plaintext"))

    async def _call(
        self, client: Client, operation: str, given: Mapping[str, object]
    ) -> Mapping[str, object]:
        url = f"{self._url}/{operation}/{self._key}"
        data = (await _posted(client, url, given, self._secrets)).get("data")
        return data if isinstance(data, dict) else {}


def aws_kms(reader: ArgumentReader) -> AwsKms:
    """The key provider `aws_kms`."""
    key, spec = reader.required("kms_key_id"), reader.required("key_spec")
    arguments = reader.for_cloud(_AWS_ARGUMENTS)
    if not arguments.text("region", "AWS_REGION", "AWS_DEFAULT_REGION"):
        raise EncryptionFailure("The region is not set, neither here nor as AWS_REGION.")
    try:
        return AwsKms(arguments, key, spec)
    except CloudFailure as failure:
        raise EncryptionFailure(failure.text) from None


def gcp_kms(reader: ArgumentReader) -> GcpKms:
    """The key provider `gcp_kms`."""
    key, length = reader.required("kms_encryption_key"), reader.whole_number("key_length", 0)
    if not 1 <= length <= 1024:
        raise EncryptionFailure("key_length of gcp_kms must be between 1 and 1024.")
    return GcpKms(reader.for_cloud(_GOOGLE_ARGUMENTS), key, length)


def openbao(reader: ArgumentReader) -> OpenBao:
    """The key provider `openbao`."""
    key, length = reader.required("key_name"), reader.whole_number("key_length", 32)
    if length not in (16, 32, 64):
        raise EncryptionFailure("key_length of openbao must be 16, 32 or 64.")
    arguments = reader.for_cloud(("address", "token", "transit_engine_path"))
    return OpenBao(arguments, key, length)


async def _posted(
    client: Client, url: str, given: Mapping[str, object], secrets: Mapping[str, str]
) -> Mapping[str, object]:
    response = await client.request(
        "POST",
        url,
        headers={"content-type": "application/json"},
        credentials=secrets,
        body=json.dumps(given).encode(),
        policy=_POLICY,
    )
    found = response.require(200).json()
    return found if isinstance(found, dict) else {}


def _decoded(text: object) -> bytes:
    try:
        return base64.b64decode(str(text or ""), validate=True)
    except (binascii.Error, ValueError):
        raise CloudFailure("The service gave something that is not a key.") from None


def _waited(work: Coroutine[object, object, T]) -> T:
    """The result of what is asynchronous, for those who wait, also where an event loop runs."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, work).result()

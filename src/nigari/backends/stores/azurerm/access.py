"""The arguments of the backend `azurerm`, and how requests to its blobs are allowed."""

from __future__ import annotations

import base64
import binascii
import re
import time
from collections.abc import Mapping
from email.utils import formatdate

from nigari.backends.store import BackendFailure
from nigari.clouds.arguments import Arguments
from nigari.clouds.azure import (
    AzureEnvironment,
    AzureIdentity,
    azure_token,
    known_environment,
    shared_key_headers,
)
from nigari.clouds.azure_identity import read_environment
from nigari.net.client import Client
from nigari.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_VERSION: Final = "2021-12-02"
_STORAGE: Final = "https://storage.azure.com"
_TOKEN_LASTS: Final = 1800.0
_ACCOUNT: Final = re.compile(r"[0-9a-z]{3,24}")
_CONTAINER: Final = re.compile(r"(?!.*--)[0-9a-z](?:[0-9a-z-]{1,61})[0-9a-z]|\$root|\$web")


@record
class StorageAccount:
    """The location of the blobs, and the account."""

    name: str
    container: str
    key: str
    """The name of the blob of the default workspace."""
    access_key: str
    sas_token: str
    uses_token: bool
    subscription: str
    group: str
    environment: AzureEnvironment
    has_snapshots: bool
    encryption: Mapping[str, str]

    @property
    def url(self) -> str:
        environment = self.environment
        # Only the metadata host knows the end of the name.
        host = f"{self.name}.blob.{environment.storage or environment.metadata_host}"
        return f"https://{host}/{self.container}"


def read_account(arguments: Arguments) -> StorageAccount:
    """The blob settings of the arguments."""
    text, flag = arguments.text, arguments.flag
    name = arguments.required("storage_account_name")
    container = arguments.required("container_name")
    if not _ACCOUNT.fullmatch(name):
        raise BackendFailure(f'"{name}" cannot be the name of a storage account.')
    if not _CONTAINER.fullmatch(container):
        raise BackendFailure(f'"{container}" cannot be the name of a container.')
    return StorageAccount(
        name=name,
        container=container,
        key=arguments.required("key"),
        access_key=text("access_key", "ARM_ACCESS_KEY"),
        sas_token=text("sas_token", "ARM_SAS_TOKEN").lstrip("?"),
        uses_token=flag("use_azuread_auth", "ARM_USE_AZUREAD"),
        subscription=text("subscription_id", "ARM_SUBSCRIPTION_ID"),
        group=text("resource_group_name"),
        environment=read_environment(arguments),
        has_snapshots=flag("snapshot", "ARM_SNAPSHOT"),
        encryption=_encryption(arguments),
    )


def _encryption(arguments: Arguments) -> Mapping[str, str]:
    scope = arguments.text("encryption_scope", "ARM_ENCYRPTION_SCOPE")
    if scope:
        return {"x-ms-encryption-scope": scope}
    key_text = arguments.text("customer_provided_key", "ARM_CUSTOMER_PROVIDED_KEY")
    if not key_text:
        return {}
    try:
        key = base64.b64decode(key_text, validate=True)
    except (binascii.Error, ValueError):
        raise BackendFailure("The customer_provided_key must be base64.") from None
    from hashlib import sha256

    return {
        "x-ms-encryption-key": key_text,
        "x-ms-encryption-key-sha256": base64.b64encode(sha256(key).digest()).decode(),
        "x-ms-encryption-algorithm": "AES256",
    }


class Access:
    """Makes requests ones that Azure allows: with a key, with a signed URL, or with a token."""

    def __init__(
        self, account: StorageAccount, identity: AzureIdentity, environ: Mapping[str, str]
    ) -> None:
        self.account: StorageAccount = account
        self._identity = identity
        self._environ = environ
        self._key = account.access_key
        self._token = ""
        self._token_ends = 0.0

    async def find_environment(self, client: Client) -> None:
        """Find out where the blobs are, if only a host of metadata knows that."""
        found = await known_environment(client, self.account.environment)
        self.account = replace(self.account, environment=found)

    async def allowed(
        self, client: Client, method: str, url: str, headers: Mapping[str, str]
    ) -> tuple[str, dict[str, str]]:
        """The URL and the headers to ask with."""
        account = self.account
        wanted = {**headers, "x-ms-version": _VERSION, "x-ms-date": formatdate(usegmt=True)}
        if not self._key and account.sas_token:
            return f"{url}{'&' if '?' in url else '?'}{account.sas_token}", wanted
        if not self._key and account.uses_token:
            if self._token_ends < time.monotonic():
                self._token = await self._token_for(client, _STORAGE)
                self._token_ends = time.monotonic() + _TOKEN_LASTS
            return url, {**wanted, "authorization": f"Bearer {self._token}"}
        if not self._key:
            self._key = await self._find_key(client)
        return url, shared_key_headers(method, url, wanted, account.name, self._key)

    async def _token_for(self, client: Client, resource: str) -> str:
        login = self.account.environment.login
        return await azure_token(client, self._identity, login, resource, self._environ)

    async def _find_key(self, client: Client) -> str:
        """The key of the account, which the manager of its resources knows."""
        account = self.account
        if not account.subscription or not account.group:
            raise BackendFailure(
                "Set access_key or sas_token, or use_azuread_auth = true; the key of the account "
                "can be looked up only with subscription_id and resource_group_name."
            )
        manager = account.environment.manager
        token = await self._token_for(client, account.environment.audience or manager)
        response = await client.request(
            "POST",
            f"{manager}/subscriptions/{account.subscription}/resourceGroups/{account.group}"
            f"/providers/Microsoft.Storage/storageAccounts/{account.name}/listKeys"
            "?api-version=2023-01-01",
            credentials={"authorization": f"Bearer {token}"},
            body=b"",
        )
        found = response.require(200).json()
        keys = found.get("keys") if isinstance(found, dict) else None
        if not keys:
            raise BackendFailure("Azure did not return a key of the storage account.")
        return str(keys[0]["value"])

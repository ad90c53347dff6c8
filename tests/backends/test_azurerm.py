"""The backend `azurerm` with an Azure Storage on this machine."""

import asyncio
import base64
import json
from collections.abc import Iterator, Mapping

import pytest

from nigari.backends.conformance import CHECKS, Subject
from nigari.backends.locking import LockInfo, new_lock
from nigari.backends.store import BackendFailure
from nigari.backends.stores.azurerm import open_store
from nigari.backends.stores.azurerm.storing import AzureStore
from nigari.clouds.arguments import Arguments
from nigari.clouds.azure import AzureIdentity, azure_token
from nigari.clouds.azure_identity import read_identity
from nigari.clouds.failures import CloudFailure, NoCredentials
from nigari.net.client import Client
from nigari.net.settings import Settings
from tests.backends.world.azurite import ACCOUNT, Azurite, running
from tests.net_world.server import Answer, Asked, json_answer, serving


@pytest.fixture(scope="module")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azurite]:
    with running(tmp_path_factory.mktemp("azurite")) as made:
        yield made


BASE = {"storage_account_name": ACCOUNT, "container_name": "states", "key": "a/state"}


def opened(azurite: Azurite, container: str, **more: object) -> AzureStore:
    return open_store(Arguments({**BASE, "container_name": container, **more}, azurite.environ))


@pytest.mark.parametrize("snapshot", [False, True])
@pytest.mark.parametrize("check", CHECKS)
def test_conformance(azurite: Azurite, check: str, snapshot: bool) -> None:
    container = azurite.container()
    asyncio.run(CHECKS[check](Subject(lambda: opened(azurite, container, snapshot=snapshot))))


def test_the_lock_is_told_in_the_metadata(azurite: Azurite) -> None:
    container = azurite.container()

    async def work() -> tuple[LockInfo, Mapping[str, str], Mapping[str, str]]:
        store = opened(azurite, container)
        await store.open()
        lock = await store.lock("w", new_lock("test"))
        await store.write("w", b"{}", None)
        during = await store._properties("w")
        await store.unlock("w", lock)
        after = await store._properties("w")
        await store.close()
        assert during is not None
        assert after is not None
        return lock, during.headers, after.headers

    lock, during, after = asyncio.run(work())
    told = json.loads(base64.b64decode(during["x-ms-meta-terraformlockid"]))
    assert told["ID"] == lock.id
    assert told["Path"].endswith(f"/{container}/a%2Fstateenv:w")
    assert during["x-ms-lease-status"] == "locked"
    assert after["x-ms-lease-status"] == "unlocked"
    assert "x-ms-meta-terraformlockid" not in after


def test_a_container_that_is_not_there(azurite: Azurite) -> None:
    async def work() -> None:
        store = opened(azurite, "nowhere")
        await store.open()
        try:
            await store.read("default")
        finally:
            await store.close()

    with pytest.raises(BackendFailure, match='no container "nowhere"'):
        asyncio.run(work())


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"storage_account_name": "Upper"}, "name of a storage account"),
        ({"container_name": "a--b"}, "name of a container"),
        ({"environment": "moon"}, 'no environment "moon"'),
        ({"metadata_host": "h"}, "metadata_host is not supported"),
        ({"client_certificate_path": "p"}, "client_certificate_path is not supported"),
        ({"customer_provided_key": "?"}, "must be base64"),
    ],
)
def test_arguments_that_are_refused(given: dict[str, object], says: str) -> None:
    with pytest.raises((BackendFailure, CloudFailure), match=says):
        open_store(Arguments({**BASE, **given}, {}))


@pytest.mark.parametrize(
    ("environment", "host"),
    [
        ("public", "core.windows.net"),
        ("dod", "core.usgovcloudapi.net"),
        ("china", "core.chinacloudapi.cn"),
    ],
)
def test_environments(environment: str, host: str) -> None:
    store = open_store(Arguments({**BASE, "environment": environment}, {}))
    assert store.location("default") == f"https://{ACCOUNT}.blob.{host}/states/a/state"


def token(identity: AzureIdentity, url: str) -> str:
    async def work() -> str:
        async with Client(Settings()) as client:
            return await azure_token(client, identity, url, "https://r/", {"PATH": "/nowhere"})

    return asyncio.run(work())


def test_tokens() -> None:
    def answer(asked: Asked) -> Answer:
        if asked.path.startswith("/oidc"):
            return json_answer({"value": "asserted"})
        return json_answer({"access_token": f"{asked.method} {asked.body.decode()}"})

    with serving(answer) as server:
        url = server.url
        secret = token(AzureIdentity("t", "c", secret="s"), url)
        assert "client_secret=s" in secret
        assert "scope=https%3A%2F%2Fr%2F.default" in secret
        identity = AzureIdentity("t", "c", assertion_url=f"{url}/oidc?x=1", assertion_token="q")
        assert "client_assertion=asserted" in token(identity, url)
        assert server.log[1].path.startswith("/oidc?x=1&audience=")
        machine = AzureIdentity(client="c", uses_machine=True, machine_endpoint=f"{url}/msi")
        assert token(machine, url) == "GET "
        assert "resource=https" in server.log[-1].path
    with pytest.raises(NoCredentials, match="Azure CLI has no token"):
        token(AzureIdentity(), "")
    with pytest.raises(NoCredentials, match="No credentials"):
        token(AzureIdentity(uses_cli=False), "")
    with pytest.raises(CloudFailure, match="identity of this machine"):
        token(AzureIdentity(uses_machine=True, machine_endpoint="http://127.0.0.1:1"), "")


def test_who_asks() -> None:
    environ = {
        "ARM_CLIENT_ID": "c",
        "ARM_TENANT_ID": "t",
        "ARM_USE_OIDC": "true",
        "ARM_OIDC_TOKEN": "o",
        "ARM_USE_CLI": "false",
    }
    found = read_identity(Arguments({}, environ))
    assert found == AzureIdentity("t", "c", assertion="o", uses_cli=False)

"""The backend `azurerm` with an Azure Storage on this machine."""

import asyncio
import base64
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509 import Certificate
from cryptography.x509.oid import NameOID

from nigari.backends.conformance import CHECKS, Subject
from nigari.backends.locking import LockInfo, new_lock
from nigari.backends.store import BackendFailure
from nigari.backends.stores.azurerm.store import AzureStore, open_store
from nigari.clouds.arguments import Arguments
from nigari.clouds.azure import (
    AzureEnvironment,
    AzureIdentity,
    ClientCertificate,
    azure_token,
)
from nigari.clouds.azure_identity import read_identity
from nigari.clouds.failures import CloudFailure, NoCredentials
from nigari.net.client import Client
from nigari.net.settings import Settings
from tests.backends.world.azurite import ACCOUNT, Azurite, running
from tests.net_world.certificates import Authority
from tests.net_world.server import Answer, Asked, Proxy, json_answer, serving


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
        ({"environment": "moon"}, 'no Azure environment "moon"'),
        ({"client_certificate_path": "/no/file"}, "/no/file cannot be read: No such file"),
        ({"client_certificate": "?"}, "client_certificate must be base64"),
        ({"client_certificate": "YQ==", "client_certificate_path": __file__}, "two different"),
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
    pipeline = {
        "ARM_USE_OIDC": "true",
        "AZURESUBSCRIPTION_SERVICE_CONNECTION_ID": "n",
        "SYSTEM_ACCESSTOKEN": "q",
        "SYSTEM_OIDCREQUESTURI": "https://devops",
    }
    found = read_identity(Arguments({}, pipeline))
    asked = AzureIdentity(assertion_url="https://devops", assertion_token="q", connection="n")
    assert found == asked


def test_a_token_of_azure_devops() -> None:
    def answer(asked: Asked) -> Answer:
        if asked.path == "/devops?api-version=7.1&serviceConnectionId=n%2F1":
            assert asked.method == "POST"
            assert asked.headers["authorization"] == "Bearer q"
            return json_answer({"oidcToken": "of-pipeline"})
        return json_answer({"access_token": asked.body.decode()})

    with serving(answer) as server:
        url = f"{server.url}/devops"
        identity = AzureIdentity("t", "c", assertion_url=url, assertion_token="q", connection="n/1")
        assert "client_assertion=of-pipeline" in token(identity, server.url)


def client_certificate(password: bytes) -> tuple[bytes, Certificate]:
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "client")])
    day = datetime(2026, 1, 1, tzinfo=UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, day, day + timedelta(9999))
    certificate = made.sign(key, hashes.SHA256())
    sealed: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password:
        sealed = serialization.BestAvailableEncryption(password)
    return pkcs12.serialize_key_and_certificates(b"c", key, certificate, None, sealed), certificate


@pytest.mark.parametrize("password", ["", "secret word"])
@pytest.mark.parametrize("source", ["text", "file"])
def test_a_client_certificate(password: str, source: str, tmp_path: Path) -> None:
    data, certificate = client_certificate(password.encode())
    environ = {"ARM_TENANT_ID": "t", "ARM_CLIENT_ID": "c", "ARM_CLIENT_SECRET": "not this"}
    environ["ARM_CLIENT_CERTIFICATE_PASSWORD"] = password
    if source == "text":
        environ["ARM_CLIENT_CERTIFICATE"] = base64.b64encode(data).decode()
    else:
        (tmp_path / "client.pfx").write_bytes(data)
        environ["ARM_CLIENT_CERTIFICATE_PATH"] = str(tmp_path / "client.pfx")
    with serving(lambda asked: json_answer({"access_token": asked.body.decode()})) as server:
        form = parse_qs(token(read_identity(Arguments({}, environ)), server.url))
        audience = f"{server.url}/t/oauth2/v2.0/token"
    assert "client_secret" not in form
    signed, _, signature = form["client_assertion"][0].rpartition(".")
    header, claims = (json.loads(in_url(part)) for part in signed.split("."))
    assert header["alg"] == "PS256"
    assert base64.b64decode(header["x5t#S256"]) == certificate.fingerprint(hashes.SHA256())
    assert (claims["aud"], claims["iss"], claims["sub"]) == (audience, "c", "c")
    assert claims["exp"] - claims["nbf"] == 600
    public = certificate.public_key()
    assert isinstance(public, rsa.RSAPublicKey)
    salted = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH)
    public.verify(in_url(signature), signed.encode(), salted, hashes.SHA256())


def in_url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_a_certificate_with_another_password() -> None:
    data, _ = client_certificate(b"right")
    with pytest.raises(CloudFailure, match="must be its password"):
        token(AzureIdentity("t", "c", certificate=ClientCertificate(data, "wrong")), "")


def test_a_host_of_metadata(tmp_path: Path) -> None:
    """It says where blobs are, and the answers of another kind of host are refused."""
    authority = Authority(tmp_path)
    endpoints = {
        "authentication": {"audiences": ["https://a/"], "loginEndpoint": "https://l/"},
        "resourceManager": "https://m/",
        "suffixes": {"storage": "blobs.example"},
    }
    answers = [json_answer(endpoints), json_answer({"suffixes": {}})]
    certificate = authority.certificate(["metadata.example"])
    with serving(lambda _: answers.pop(0), certificate) as server:
        with Proxy({"metadata.example": server.port}) as proxy:
            environ = {"HTTPS_PROXY": proxy.url, "SSL_CERT_FILE": str(authority.path)}
            environ["ARM_METADATA_HOST"] = "metadata.example"
            store = open_store(Arguments(BASE, environ))
            asyncio.run(opened_and_closed(store))
            assert (
                store.location("default") == f"https://{ACCOUNT}.blob.blobs.example/states/a/state"
            )
            assert store._account.environment == AzureEnvironment(
                "https://l", "https://m", "blobs.example", "https://a/"
            )
            with pytest.raises(
                CloudFailure, match=r"metadata\.example does not return the endpoints"
            ):
                asyncio.run(opened_and_closed(open_store(Arguments(BASE, environ))))
        assert str(server.log[0]) == "GET /metadata/endpoints?api-version=2023-11-01"


async def opened_and_closed(store: AzureStore) -> None:
    try:
        await store.open()
    finally:
        await store.close()

"""Client certificates for Azure beside OpenTofu: both programs show the same to get a token."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import PrivateFormat, pkcs12
from cryptography.x509.oid import NameOID

from tests.backends.world import azurite
from tests.net_world.server import NOT_FOUND, Answer, Asked, Proxy, json_answer, serving
from tests.real.stored_beside import Shared

pytestmark = pytest.mark.real

LOGIN = "login.microsoftonline.com"
MANAGER = "management.azure.com"
TENANT = "11111111-2222-3333-4444-555555555555"
CLIENT = "66666666-7777-8888-9999-000000000000"


class Directory:
    """Issues tokens to the owner of a certificate, and tells them the key of the account."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(65537, 2048)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "client")])
        day = datetime(2026, 1, 1, tzinfo=UTC)
        public = self.key.public_key()
        made = x509.CertificateBuilder(name, name, public, 1, day, day + timedelta(9999))
        self.certificate = made.sign(self.key, hashes.SHA256())
        self.shown: list[tuple[dict[str, object], dict[str, object]]] = []

    def sealed(self, password: bytes) -> bytes:
        """As old as OpenTofu wants it."""
        how = PrivateFormat.PKCS12.encryption_builder().kdf_rounds(2048)
        how = how.key_cert_algorithm(pkcs12.PBES.PBESv1SHA1And3KeyTripleDESCBC)
        seal = how.hmac_hash(hashes.SHA1()).build(password)
        return pkcs12.serialize_key_and_certificates(b"c", self.key, self.certificate, None, seal)

    def answer(self, asked: Asked) -> Answer:
        path = urlsplit(asked.path).path
        base = f"https://{LOGIN}/{TENANT}"
        if path.endswith("/openid-configuration"):
            token = f"{base}/oauth2/v2.0/token"
            endpoints = {"token_endpoint": token, "issuer": f"{base}/v2.0"}
            return json_answer({**endpoints, "authorization_endpoint": f"{base}/authorize"})
        if path.endswith("/discovery/instance"):
            found = f"{base}/v2.0/.well-known/openid-configuration"
            return json_answer({"tenant_discovery_endpoint": found, "metadata": []})
        if path.endswith("/oauth2/v2.0/token"):
            return self._token(asked)
        if path.endswith("/listKeys") and asked.headers["authorization"] == "Bearer of-client":
            return json_answer({"keys": [{"keyName": "key1", "value": azurite.KEY}]})
        return NOT_FOUND

    def _token(self, asked: Asked) -> Answer:
        form = {name: value for name, (value,) in parse_qs(asked.body.decode()).items()}
        signed, _, signature = form["client_assertion"].rpartition(".")
        header, claims = (json.loads(in_url(part)) for part in signed.split("."))
        salted = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH)
        public = self.key.public_key()
        public.verify(in_url(signature), signed.encode(), salted, hashes.SHA256())
        self.shown.append((header, claims))
        token = {"access_token": "of-client", "token_type": "Bearer", "expires_in": 3600}
        return json_answer(token)


def in_url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@contextmanager
def directory(path: Path) -> Iterator[tuple[Directory, Shared]]:
    made = Directory()
    with azurite.running(path, names=(azurite.HOST, LOGIN, MANAGER)) as server:
        container = server.container()
        with serving(made.answer, server.certificate) as login:
            ports = {azurite.HOST: server.distance.port, LOGIN: login.port, MANAGER: login.port}
            with Proxy(ports) as proxy:
                (path / "client.pfx").write_bytes(made.sealed(b"secret"))
                environ = {
                    "HTTPS_PROXY": proxy.url,
                    "SSL_CERT_FILE": server.environ["SSL_CERT_FILE"],
                    "ARM_TENANT_ID": TENANT,
                    "ARM_CLIENT_ID": CLIENT,
                    "ARM_SUBSCRIPTION_ID": TENANT,
                    "ARM_CLIENT_CERTIFICATE_PATH": str(path / "client.pfx"),
                    "ARM_CLIENT_CERTIFICATE_PASSWORD": "secret",
                }
                group = '    resource_group_name = "group"\n  }\n}'
                block = server.block(container).replace("  }\n}", group)
                yield made, Shared(path, block, environ)


def test_both_get_a_token(tmp_path: Path) -> None:
    with directory(tmp_path) as (made, shared):
        theirs, ours = shared.directory("theirs"), shared.directory("ours")
        for run, where in ((shared.tofu, theirs), (shared.ours, ours)):
            for line in (("init",), ("apply", "-auto-approve")):
                code, output = run(where, *line)
                assert code == 0, output
    (first, *_), last = made.shown, made.shown[-1]
    assert first[0] == last[0]
    changing = {"exp", "jti", "nbf"}
    assert [{n: each[n] for n in each.keys() - changing} for each in (first[1], last[1])] == [
        {"aud": f"https://{LOGIN}/{TENANT}/oauth2/v2.0/token", "iss": CLIENT, "sub": CLIENT}
    ] * 2
    assert first[1].keys() == last[1].keys()

"""Services in memory that seal keys and open what they have sealed."""

import base64
import json
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests.net_world.server import NOT_FOUND, Answer, Asked, Server, json_answer
from tests.net_world.world import World

if TYPE_CHECKING:
    import grpc


class FakeBao:
    """Answers on `url`, for the token `root`."""

    def __init__(self) -> None:
        self._sealed: dict[tuple[str, str | None], str] = {}
        self.server = Server(self._answer)
        self.url = self.server.url

    def __enter__(self) -> "FakeBao":
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()

    def _answer(self, asked: Asked) -> Answer:
        if asked.headers.get("x-vault-token") != "root":
            return json_answer({"errors": ["permission denied"]}, 403)
        given = json.loads(asked.body or b"{}")
        if asked.path == "/v1/transit/datakey/plaintext/k":
            key = base64.b64encode(os.urandom(given["bits"] // 8)).decode()
            sealed = f"vault:v1:{len(self._sealed)}"
            self._sealed[sealed, given.get("associated_data")] = key
            return json_answer({"data": {"plaintext": key, "ciphertext": sealed}})
        if asked.path == "/v1/transit/decrypt/k":
            opened = self._sealed.get((given["ciphertext"], given.get("associated_data")))
            if opened is not None:
                return json_answer({"data": {"plaintext": opened}})
        return NOT_FOUND


GOOGLE_KEY: Final = "projects/p/locations/l/keyRings/r/cryptoKeys/k"
_KMS: Final = "cloudkms.googleapis.com"


class FakeGoogleKms:
    """A key of Google Cloud KMS at its own name, behind a proxy, for the token `token`.

    OpenTofu speaks gRPC with it, and we plain HTTP: `speak` says what the next program wants.
    """

    def __init__(self, directory: Path) -> None:
        self.world = World(directory / "google")
        self._sealed: dict[tuple[bytes, bytes], bytes] = {}
        self.world.serve(_KMS, self._answer)
        self._plain = self.world.proxy.ports[_KMS]
        self._grpc: grpc.Server | None = None
        self.environ = {**self.world.environment, "GOOGLE_OAUTH_ACCESS_TOKEN": "token"}

    def __enter__(self) -> "FakeGoogleKms":
        return self

    def __exit__(self, *_: object) -> None:
        self.world.close()
        if self._grpc is not None:
            self._grpc.stop(None)

    def speak(self, is_grpc: bool) -> None:
        self.world.proxy.ports[_KMS] = self._grpc_port if is_grpc else self._plain

    def _seal(self, plain: bytes, authenticated: bytes) -> bytes:
        sealed = b"sealed \xff %d" % len(self._sealed)
        self._sealed[sealed, authenticated] = plain
        return sealed

    def _answer(self, asked: Asked) -> Answer:
        if asked.headers.get("authorization") != "Bearer token":
            return json_answer({"error": {"code": 401, "message": "not the token"}}, 401)
        name, _, operation = asked.path.removeprefix("/v1/").partition(":")
        given = {each: base64.b64decode(text) for each, text in json.loads(asked.body).items()}
        if name != GOOGLE_KEY:
            return json_answer({"error": {"code": 404, "message": f"no key {name}"}}, 404)
        authenticated = given.get("additionalAuthenticatedData", b"")
        if operation == "encrypt":
            sealed = base64.b64encode(self._seal(given["plaintext"], authenticated)).decode()
            return json_answer({"name": f"{name}/cryptoKeyVersions/1", "ciphertext": sealed})
        plain = self._sealed.get((given["ciphertext"], authenticated))
        if plain is None:
            return json_answer({"error": {"code": 400, "message": "cannot be decrypted"}}, 400)
        return json_answer({"plaintext": base64.b64encode(plain).decode()})

    @cached_property
    def _grpc_port(self) -> int:
        import grpc

        def encrypt(request: bytes, _: object) -> bytes:
            fields = _fields(request)
            return _field(2, self._seal(fields[2], fields.get(3, b"")))

        def decrypt(request: bytes, _: object) -> bytes:
            fields = _fields(request)
            return _field(1, self._sealed[fields[2], fields.get(3, b"")])

        handlers = {
            "Encrypt": grpc.unary_unary_rpc_method_handler(encrypt),
            "Decrypt": grpc.unary_unary_rpc_method_handler(decrypt),
        }
        service = "google.cloud.kms.v1.KeyManagementService"
        self._grpc = grpc.server(ThreadPoolExecutor(2))
        self._grpc.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(service, handlers),)
        )
        pem = self.world.authority.certificate([_KMS]).read_bytes()
        identity = grpc.ssl_server_credentials([(pem, pem[pem.index(b"-----BEGIN CERT") :])])
        port = int(self._grpc.add_secure_port("127.0.0.1:0", identity))
        self._grpc.start()
        return port


def _fields(message: bytes) -> dict[int, bytes]:
    """The fields of a message of protobuf that have a length, by number."""
    found: dict[int, bytes] = {}
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        size, at = _varint(message, at)
        if tag & 7 == 2:
            found[tag >> 3] = message[at : at + size]
            at += size
    return found


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte, at = message[at], at + 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _field(number: int, content: bytes) -> bytes:
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


VAULT: Final = "example-keys.vault.azure.net"
_LOGIN: Final = "login.microsoftonline.com"
_TENANT: Final = "11111111-2222-3333-4444-555555555555"
_OAEP: Final = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)


class FakeVault:
    """The key `k` of Azure Key Vault at its own name, and Azure's login, behind a proxy.

    `rotate` makes a new version of the key; the old ones still open what they have sealed.
    """

    def __init__(self, directory: Path, resource: str = "https://vault.azure.net") -> None:
        self.world = World(directory / "vault")
        self.resource = resource
        self.asked: list[str] = []
        self._versions: list[tuple[rsa.RSAPrivateKey, bytes]] = []
        self.rotate()
        self.world.serve(VAULT, self._vault)
        self.world.serve(_LOGIN, self._login)
        self.environ = {
            **self.world.environment,
            "ARM_TENANT_ID": _TENANT,
            "ARM_CLIENT_ID": "me",
            "ARM_CLIENT_SECRET": "secret",
        }

    def __enter__(self) -> "FakeVault":
        return self

    def __exit__(self, *_: object) -> None:
        self.world.close()

    def rotate(self) -> None:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._versions.append((key, os.urandom(32)))

    def _login(self, asked: Asked) -> Answer:
        base = f"https://{_LOGIN}/{_TENANT}"
        if "/discovery/instance" in asked.path:
            here = {"preferred_network": _LOGIN, "preferred_cache": _LOGIN, "aliases": [_LOGIN]}
            found = f"{base}/v2.0/.well-known/openid-configuration"
            return json_answer({"tenant_discovery_endpoint": found, "metadata": [here]})
        if "openid-configuration" in asked.path:
            return json_answer(
                {
                    "token_endpoint": f"{base}/oauth2/v2.0/token",
                    "authorization_endpoint": f"{base}/oauth2/v2.0/authorize",
                    "issuer": f"{base}/v2.0",
                }
            )
        form = parse_qs(asked.body.decode())
        if form.get("client_secret") != ["secret"]:
            return json_answer({"error": "invalid_client", "error_description": "wrong"}, 401)
        # What else is wanted with a token is the client's own business.
        scope = next(each for each in form["scope"][0].split() if each.startswith("https:"))
        token = {"token_type": "Bearer", "expires_in": 3600, "access_token": f"for {scope}"}
        return json_answer(token)

    def _vault(self, asked: Asked) -> Answer:
        if asked.headers.get("authorization") != f"Bearer for {self.resource}/.default":
            said = f'Bearer authorization="https://{_LOGIN}/{_TENANT}", resource="{self.resource}"'
            return json_answer({"error": {"message": "no token"}}, 401, www_authenticate=said)
        self.asked.append(f"{asked.method} {asked.path}")
        _, _, name, *version, operation = urlsplit(asked.path).path.split("/")
        given = json.loads(asked.body)
        number = int(version[0]) if version else len(self._versions)
        if name != "k" or not 0 < number <= len(self._versions):
            return json_answer({"error": {"code": "KeyNotFound", "message": "no such key"}}, 404)
        result = self._done(operation, number, given)
        if result is None:
            return json_answer({"error": {"message": "cannot be decrypted"}}, 400)
        return json_answer({"kid": f"https://{VAULT}/keys/k/{number}", **result})

    def _done(self, operation: str, number: int, given: dict[str, str]) -> dict[str, str] | None:
        key, secret = self._versions[number - 1]
        value = _in(given["value"])
        if given["alg"] == "RSA-OAEP-256":
            if operation == "encrypt":
                return {"value": _out(key.public_key().encrypt(value, _OAEP))}
            return {"value": _out(key.decrypt(value, _OAEP))}
        cipher = AESGCM(secret[: int(given["alg"][1:4]) // 8])
        if operation == "encrypt":
            nonce = os.urandom(12)
            sealed = cipher.encrypt(nonce, value, b"")
            return {"value": _out(sealed[:-16]), "iv": _out(nonce), "tag": _out(sealed[-16:])}
        try:
            return {"value": _out(cipher.decrypt(_in(given["iv"]), value + _in(given["tag"]), b""))}
        except InvalidTag:
            return None


def _in(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _out(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

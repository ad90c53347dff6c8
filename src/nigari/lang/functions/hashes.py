"""Hash functions for strings and files, UUIDs, password hashes, and decryption.

Files are read through the host environment, and libraries are loaded by the functions that use them.
"""

from __future__ import annotations

import re

from nigari.cty import numbers
from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.types import NUMBER, STRING, Type
from nigari.cty.values import Value, string
from nigari.extras import missing_library
from nigari.lang.functions.encoding import from_base64, to_base64, to_bytes
from nigari.lang.functions.filesystem import read_file
from nigari.lang.functions.host_environment import HostEnvironment
from nigari.lang.random_ids import random_uuid
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_STR: Final = Parameter("str", STRING)


def _digest(algorithm: str, data: bytes, as_base64: bool) -> Value:
    import hashlib

    # Not for security: some systems forbid MD5 and SHA-1 otherwise, and configurations use
    # them as checksums.
    digest = hashlib.new(algorithm, data, usedforsecurity=False)
    return string(to_base64(digest.digest()) if as_base64 else digest.hexdigest())


class _Hash:
    """Implementations of the functions for one hash algorithm."""

    __slots__ = ("algorithm", "as_base64", "host")

    def __init__(self, host: HostEnvironment, algorithm: str, as_base64: bool) -> None:
        self.host = host
        self.algorithm = algorithm
        self.as_base64 = as_base64

    def of_string(self, args: list[Value], _: Type) -> Value:
        return _digest(self.algorithm, to_bytes(args[0].as_string()), self.as_base64)

    def of_file(self, args: list[Value], _: Type) -> Value:
        return _digest(self.algorithm, read_file(self.host, args[0], any_size=True), self.as_base64)


# -- UUIDs --------------------------------------------------------------------------------------

_NAMESPACES: Final = {
    "dns": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "url": "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
    "oid": "6ba7b812-9dad-11d1-80b4-00c04fd430c8",
    "x500": "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
}
_UUID: Final = lazy_pattern(
    r"(?:urn:uuid:)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})|([0-9a-f]{32})",
    re.IGNORECASE | re.ASCII,
)
_PLAIN_LENGTH: Final = 36


def _uuid(args: list[Value], _: Type) -> Value:
    return string(random_uuid())


def _uuid_v5(args: list[Value], _: Type) -> Value:
    import hashlib
    import uuid

    given = args[0].as_string()
    namespace = _NAMESPACES.get(given, given)
    if len(namespace) == _PLAIN_LENGTH + 2:
        namespace = namespace[1:-1]  # as in OpenTofu, any characters around it are ignored
    match = _UUID.fullmatch(namespace)
    if match is None:
        raise FunctionError(f'"{given}" is neither a UUID nor one of dns, url, oid and x500')
    digits = (match[1] or match[2]).replace("-", "")
    seed = bytes.fromhex(digits) + to_bytes(args[1].as_string())
    # RFC 4122, version 5: SHA-1 of the namespace and the name, cut to 128 bits.
    digest = hashlib.sha1(seed, usedforsecurity=False).digest()
    return string(str(uuid.UUID(bytes=digest[:16], version=5)))


# -- passwords ----------------------------------------------------------------------------------

_USUAL_COST: Final = 10
_LEAST_COST: Final = 4
_GREATEST_COST: Final = 31
_LONGEST_PASSWORD: Final = 72


def _bcrypt(args: list[Value], _: Type) -> Value:
    try:
        import bcrypt
    except ModuleNotFoundError as error:
        raise FunctionError((missing_library(error) or str(error)).rstrip(".")) from error
    cost: int | None = _USUAL_COST
    if len(args) > 1:
        cost = numbers.whole(args[1].as_number(), 63)
    if cost is None:
        raise FunctionError("the cost must be a whole number")
    if len(args) > 2:
        raise FunctionError(f"one or two arguments are required, {len(args)} given")
    if cost > _GREATEST_COST:
        raise FunctionError(f"the cost must be between {_LEAST_COST} and {_GREATEST_COST}")
    password = to_bytes(args[0].as_string())
    # bcrypt ignores what follows; Go refuses longer passwords.
    if len(password) > _LONGEST_PASSWORD:
        raise FunctionError(f"a password can have at most {_LONGEST_PASSWORD} bytes")
    # golang.org/x/crypto/bcrypt: a cost below the minimum becomes the usual one.
    salt = bcrypt.gensalt(cost if cost >= _LEAST_COST else _USUAL_COST, prefix=b"2a")
    return string(bcrypt.hashpw(password, salt).decode("ascii"))


def _rsa_decrypt(args: list[Value], _: Type) -> Value:
    ciphertext = from_base64(args[0].as_string())
    if ciphertext is None:
        raise FunctionError("the ciphertext is not valid Base64", 0)
    plaintext = decrypt(ciphertext, to_bytes(args[1].as_string()))
    return string(plaintext.decode("utf-8", "surrogateescape"))


def functions(host: HostEnvironment) -> dict[str, Function]:
    table = {
        "bcrypt": Function((_STR,), Parameter("cost", NUMBER), STRING, _bcrypt, NOT_NULL_RESULT),
        "rsadecrypt": Function(
            (Parameter("ciphertext", STRING), Parameter("privatekey", STRING)),
            None,
            STRING,
            _rsa_decrypt,
            NOT_NULL_RESULT,
        ),
        "uuid": Function((), None, STRING, _uuid, NOT_NULL_RESULT),
        "uuidv5": Function(
            (Parameter("namespace", STRING), Parameter("name", STRING)),
            None,
            STRING,
            _uuid_v5,
            NOT_NULL_RESULT,
        ),
    }
    path = Parameter("path", STRING)
    for name, algorithm in (
        ("base64sha256", "sha256"),
        ("base64sha512", "sha512"),
        ("md5", "md5"),
        ("sha1", "sha1"),
        ("sha256", "sha256"),
        ("sha512", "sha512"),
    ):
        made = _Hash(host, algorithm, name.startswith("base64"))
        table[name] = Function((_STR,), None, STRING, made.of_string, NOT_NULL_RESULT)
        table[f"file{name}"] = Function((path,), None, STRING, made.of_file, NOT_NULL_RESULT)
    return table


def decrypt(ciphertext: bytes, key: bytes) -> bytes:
    """Decrypt a ciphertext; raise a `FunctionError` if the key is invalid or does not match."""
    modulus, exponent = _private_numbers(key)
    length = (modulus.bit_length() + 7) // 8
    number = int.from_bytes(ciphertext, "big")
    # RFC 8017: the ciphertext has the length of the modulus.
    if len(ciphertext) != length or number >= modulus:
        raise FunctionError("the ciphertext cannot be decrypted with this private key")
    padded = pow(number, exponent, modulus).to_bytes(length, "big")
    end = padded.find(b"\x00", 2)
    # RFC 8017, 7.2.2: PKCS #1 v1.5 starts with 0 and 2 and has at least eight bytes of
    # padding.
    if padded[:2] != b"\x00\x02" or end < 10:
        raise FunctionError("the ciphertext cannot be decrypted with this private key")
    return padded[end + 1 :]


def _private_numbers(key: bytes) -> tuple[int, int]:
    """Read the modulus and the private exponent of a PEM key."""
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.serialization import (
            load_pem_private_key,
            load_ssh_private_key,
        )
    except ModuleNotFoundError as error:
        raise FunctionError((missing_library(error) or str(error)).rstrip(".")) from error

    load = load_ssh_private_key if b"OPENSSH PRIVATE KEY" in key else load_pem_private_key
    try:
        private = load(key, None)
    except TypeError:
        raise FunctionError("the private key is protected by a passphrase", 1) from None
    except (ValueError, UnsupportedAlgorithm):
        raise FunctionError("the private key is not valid PEM", 1) from None
    if not isinstance(private, RSAPrivateKey):
        raise FunctionError("the private key is not an RSA key", 1)
    private_numbers = private.private_numbers()
    return private_numbers.public_numbers.n, private_numbers.d

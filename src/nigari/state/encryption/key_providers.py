"""Key provider types, by the first label of their block.

A key provider converts its arguments to keys, and to the metadata stored in an encrypted file from
which the same keys can be derived again. Deliberately unknown here: files and methods. A new type
is one entry in `KEY_PROVIDERS`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nigari.state.encryption.arguments import ArgumentReader
from nigari.state.encryption.external import ExternalKeyProvider
from nigari.state.encryption.keys import EncryptionFailure, Keys
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class KeyProvider(Protocol):
    """A source of keys."""

    def provide(self, metadata: bytes | None) -> tuple[Keys, bytes | None]:
        """Return keys, and metadata to store with the data they encrypt.

        `metadata` comes from the encrypted file that is read; it yields a decryption key as well.
        """
        ...


_HASHES: Final = ("sha256", "sha512")
_LEAST_ITERATIONS: Final = 200_000
_LEAST_PASSPHRASE: Final = 16
_MOST_ITERATIONS: Final = 10_000_000
"""Maximum iterations from a file, beyond those in the configuration: a few seconds of work."""
_MOST_KEY_LENGTH: Final = 1024
_LARGEST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Pbkdf2:
    """Keys derived from a passphrase, or from another key provider's keys."""

    encryption_secret: bytes = field(repr=False)
    decryption_secret: bytes = field(repr=False)
    key_length: int
    iterations: int
    hash_function: str
    salt_length: int

    def provide(self, metadata: bytes | None) -> tuple[Keys, bytes | None]:
        """Derive a key with a new salt, and with the file's salt if a file is read."""
        salt = os.urandom(self.salt_length)
        encryption = hashlib.pbkdf2_hmac(
            self.hash_function, self.encryption_secret, salt, self.iterations, self.key_length
        )
        stored = {
            "salt": base64.b64encode(salt).decode(),
            "iterations": self.iterations,
            "hash_function": self.hash_function,
            "key_length": self.key_length,
        }
        decryption = b"" if metadata is None else self._decryption_key(metadata)
        return Keys(encryption, decryption), json.dumps(stored, separators=(",", ":")).encode()

    def _decryption_key(self, metadata: bytes) -> bytes:
        salt, iterations, hash_function, key_length = _stored_parameters(metadata)
        if not (salt and iterations and hash_function and key_length):
            return b""
        if hash_function not in _HASHES or iterations < 0 or key_length < 0:
            raise EncryptionFailure(
                "The file says that its key was derived with parameters that pbkdf2 does not "
                "support."
            )
        for name, value, most in (
            ("iterations", iterations, max(_MOST_ITERATIONS, self.iterations)),
            ("key_length", key_length, max(_MOST_KEY_LENGTH, self.key_length)),
        ):
            if value > most:
                raise EncryptionFailure(
                    f"The file says that its key was derived with {name} = {value}. At most {most} "
                    "is accepted, because anyone who can change the file could otherwise make "
                    "reading it take forever. If the value is right, set it in the configuration "
                    "of pbkdf2."
                )
        return hashlib.pbkdf2_hmac(
            hash_function, self.decryption_secret, salt, iterations, key_length
        )


def _stored_parameters(metadata: bytes) -> tuple[bytes, int, str, int]:
    unreadable = EncryptionFailure(
        "The key metadata in the file does not contain valid pbkdf2 parameters. The encryption "
        "configuration may have changed since the file was written."
    )
    try:
        stored = json.loads(metadata)
        salt = base64.b64decode(stored.get("salt") or "", validate=True)
    except (ValueError, AttributeError, TypeError, binascii.Error, RecursionError):
        raise unreadable from None
    iterations = stored.get("iterations") or 0
    hash_function = stored.get("hash_function") or ""
    key_length = stored.get("key_length") or 0
    if (type(iterations), type(hash_function), type(key_length)) != (int, str, int):
        raise unreadable
    return salt, iterations, hash_function, key_length


def _pbkdf2(arguments: ArgumentReader) -> KeyProvider:
    passphrase = (arguments.text("passphrase") or "").encode()
    chain = arguments.keys("chain")
    if bool(passphrase) == (chain is not None):
        raise EncryptionFailure(
            "pbkdf2 requires either passphrase or chain: "
            + ("both are set." if passphrase else "neither is set.")
        )
    encryption, decryption = passphrase, passphrase
    if chain is not None:
        encryption, decryption = chain.encryption, chain.decryption
    if len(encryption) < _LEAST_PASSPHRASE or 0 < len(decryption) < _LEAST_PASSPHRASE:
        raise EncryptionFailure(
            f"The passphrase of pbkdf2 must have at least {_LEAST_PASSPHRASE} bytes."
        )
    provider = Pbkdf2(
        encryption_secret=encryption,
        decryption_secret=decryption,
        key_length=arguments.whole_number("key_length", 32),
        iterations=arguments.whole_number("iterations", 600_000),
        hash_function=arguments.text("hash_function") or "sha512",
        salt_length=arguments.whole_number("salt_length", 32),
    )
    _check_pbkdf2(provider)
    return provider


def _check_pbkdf2(provider: Pbkdf2) -> None:
    if provider.key_length <= 0 or provider.salt_length <= 0:
        raise EncryptionFailure("key_length and salt_length of pbkdf2 must be greater than zero.")
    if provider.iterations < _LEAST_ITERATIONS:
        raise EncryptionFailure(
            f"pbkdf2 needs at least {_LEAST_ITERATIONS} iterations: fewer would make the"
            " passphrase easy to guess."
        )
    if max(provider.iterations, provider.key_length, provider.salt_length) > _LARGEST:
        raise EncryptionFailure(
            f"iterations, key_length and salt_length of pbkdf2 must be at most {_LARGEST}."
        )
    if provider.hash_function not in _HASHES:
        raise EncryptionFailure("hash_function of pbkdf2 must be sha256 or sha512.")


def _external(arguments: ArgumentReader) -> KeyProvider:
    return ExternalKeyProvider(arguments.command("command"))


def _service(name: str) -> Callable[[ArgumentReader], KeyProvider]:
    """Build a cloud service, whose module is imported on use."""

    def build(arguments: ArgumentReader) -> KeyProvider:
        from importlib import import_module

        module = import_module(f"nigari.state.encryption.services.{name}")
        made: KeyProvider = module.build(arguments)
        return made

    return build


KEY_PROVIDERS: Final[Mapping[str, Callable[[ArgumentReader], KeyProvider]]] = {
    "pbkdf2": _pbkdf2,
    "external": _external,
    "aws_kms": _service("aws_kms"),
    "azure_vault": _service("azure_vault"),
    "gcp_kms": _service("gcp_kms"),
    "openbao": _service("openbao"),
}

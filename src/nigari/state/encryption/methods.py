"""Encryption method types, by the first label of their block.

A method encrypts and decrypts bytes with its keys. `unencrypted` exists in the configuration only:
it allows plain files, which `nigari.state.encryption.layers` handles. A new type is one entry in
`METHODS`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from nigari.extras import missing_library
from nigari.state.encryption.arguments import ArgumentReader
from nigari.state.encryption.external import ExternalMethod
from nigari.state.encryption.keys import EncryptionFailure, Keys
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Method(Protocol):
    """An encryption algorithm with its keys."""

    def encrypt(self, data: bytes) -> bytes: ...

    def decrypt(self, data: bytes) -> bytes:
        """Decrypt data; fails if the key differs or any byte was changed."""
        ...


_NONCE_LENGTH: Final = 12
_AES_KEY_LENGTHS: Final = (16, 24, 32)


@dataclass(frozen=True, slots=True)
class AesGcm:
    """AES-GCM with a random nonce before the encrypted data."""

    keys: Keys
    additional_data: bytes

    def encrypt(self, data: bytes) -> bytes:
        """Return the nonce, followed by the ciphertext."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = os.urandom(_NONCE_LENGTH)
        return nonce + AESGCM(self.keys.encryption).encrypt(nonce, data, self.additional_data)

    def decrypt(self, data: bytes) -> bytes:
        """Decrypt data, verifying the key, the additional data and every byte."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if not self.keys.decryption:
            raise EncryptionFailure(
                "The file has no information about the key it was encrypted with, so it cannot "
                "be decrypted."
            )
        if len(data) < _NONCE_LENGTH:
            raise EncryptionFailure("The encrypted data is incomplete.")
        nonce, sealed = data[:_NONCE_LENGTH], data[_NONCE_LENGTH:]
        try:
            return AESGCM(self.keys.decryption).decrypt(nonce, sealed, self.additional_data)
        except InvalidTag:
            raise EncryptionFailure(
                "The key or passphrase is wrong, or the data was changed after it was encrypted."
            ) from None


def _aes_gcm(arguments: ArgumentReader) -> Method:
    # Checked early, before any change that could not be stored.
    if find_spec("cryptography") is None:
        advice = missing_library(ModuleNotFoundError(name="cryptography"))
        raise EncryptionFailure(f"aes_gcm cannot be used. {advice}")
    keys = arguments.keys("keys")
    if keys is None:
        raise EncryptionFailure("aes_gcm needs the argument 'keys': a key provider.")
    for key in (keys.encryption, keys.decryption or keys.encryption):
        if len(key) not in _AES_KEY_LENGTHS:
            raise EncryptionFailure(
                "aes_gcm requires keys of 16, 24 or 32 bytes, but its key provider returned "
                f"{len(key)}."
            )
    return AesGcm(keys, arguments.byte_string("aad"))


def _external(arguments: ArgumentReader) -> Method:
    return ExternalMethod(
        arguments.keys("keys"),
        arguments.command("encrypt_command"),
        arguments.command("decrypt_command"),
    )


METHODS: Final[Mapping[str, Callable[[ArgumentReader], Method]]] = {
    "aes_gcm": _aes_gcm,
    "external": _external,
}

"""RSA decryption in the scheme PKCS #1 v1.5.

The padding is checked here: the library returns random bytes for an invalid ciphertext, as
protection against repeated attempts, but a configuration needs an error.
"""

from __future__ import annotations

from nigari.cty.function import FunctionError
from nigari.extras import missing_library


def decrypt(ciphertext: bytes, key: bytes) -> bytes:
    """Decrypt a ciphertext; raise a `FunctionError` if the key is invalid or does not match."""
    modulus, exponent = _private_numbers(key)
    length = (modulus.bit_length() + 7) // 8
    number = int.from_bytes(ciphertext, "big")
    if len(ciphertext) != length or number >= modulus:
        raise FunctionError("the ciphertext cannot be decrypted with this private key")
    padded = pow(number, exponent, modulus).to_bytes(length, "big")
    end = padded.find(b"\x00", 2)
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

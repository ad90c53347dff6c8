"""`EncryptionFailure`: a key, command or ciphertext that does not work.

Raised deep inside this package and turned into a diagnostic by `nigari.state.encryption.layers`.
Its message never contains a key or passphrase.
"""

from __future__ import annotations


class EncryptionFailure(Exception):
    """A key that could not be created, or data that could not be encrypted or decrypted."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

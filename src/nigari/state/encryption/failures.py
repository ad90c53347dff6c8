"""The one exception of this package: a key, a command or a ciphertext that does not work.

It plays the part that `CtyError` plays in cty: raised deep inside, turned into a diagnostic by
`nigari.state.encryption.layers` and nowhere else. Its message never contains a key or passphrase.
"""

from __future__ import annotations


class EncryptionFailure(Exception):
    """Why keys could not be made, or why data could not be encrypted or decrypted."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

"""Keys of key providers, their representation in expressions, and the failure to use them."""

from __future__ import annotations

from dataclasses import dataclass, field

from nigari.cty import NUMBER, ListType, Value, list_value, null, number, object_value


@dataclass(frozen=True, slots=True)
class Keys:
    """A key for writing and a key for reading; never shown."""

    encryption: bytes = field(repr=False)
    decryption: bytes = field(default=b"", repr=False)
    """Empty if no encrypted data is read."""

    def to_value(self) -> Value:
        """Build the object that `key_provider.TYPE.NAME` evaluates to."""
        return object_value(
            {
                "encryption_key": _byte_list(self.encryption),
                "decryption_key": _byte_list(self.decryption),
            }
        )


def _byte_list(data: bytes) -> Value:
    if not data:
        return null(ListType(NUMBER))
    return list_value(NUMBER, [number(octet) for octet in data])


class EncryptionFailure(Exception):
    """A key that could not be created, or data that could not be encrypted or decrypted."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

"""The keys that a key provider gives, and the form in which expressions see them."""

from __future__ import annotations

from dataclasses import dataclass, field

from nigari.cty import NUMBER, ListType, Value, list_value, null, number, object_value


@dataclass(frozen=True, slots=True)
class Keys:
    """One key to write with and one to read with; never shown."""

    encryption: bytes = field(repr=False)
    decryption: bytes = field(default=b"", repr=False)
    """Empty while nothing that was encrypted before is being read."""

    def to_value(self) -> Value:
        """The object that `key_provider.TYPE.NAME` stands for in an expression."""
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

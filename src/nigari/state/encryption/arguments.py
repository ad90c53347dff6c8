"""Conversion of encryption block arguments to Python data.

Encryption accepts sensitive and ephemeral values, so marks are dropped here. Failures name the
argument and never its value.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from nigari.clouds.arguments import Arguments
from nigari.cty import (
    BOOL,
    DYNAMIC,
    NUMBER,
    STRING,
    CtyError,
    ListType,
    MapType,
    Type,
    Value,
    convert,
)
from nigari.cty.json import value_to_json
from nigari.hcl.quoting import quoted
from nigari.state.encryption.keys import EncryptionFailure, Keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class ArgumentReader:
    """The argument values of one block, consumed by name."""

    __slots__ = ("_environ", "_left", "_of")

    def __init__(
        self, of: str, values: Mapping[str, Value], environ: Mapping[str, str] = _NOTHING
    ) -> None:
        self._of = of
        self._environ = environ
        self._left = {name: value.unmark_deep()[0] for name, value in values.items()}

    def text(self, name: str) -> str | None:
        """Read a string; `None` if the argument is not set."""
        value = self._take(name, STRING, "a string")
        return None if value is None else value.as_string()

    def required(self, name: str) -> str:
        """Read a required string."""
        found = self.text(name)
        if not found:
            raise EncryptionFailure(f"{self._of} needs the argument {quoted(name)}.")
        return found

    def for_cloud(self, names: Iterable[str]) -> Arguments:
        """Read the arguments for a cloud service, with the environment."""
        config: dict[str, object] = {}
        for name in names:
            value = self._take(name, DYNAMIC, "a value")
            if value is not None:
                config[name] = json.loads(value_to_json(value, value.type))
        return Arguments(config, self._environ)

    def whole_number(self, name: str, default: int) -> int:
        value = self._take(name, NUMBER, "a whole number")
        if value is None:
            return default
        number = value.as_number()
        if not isinstance(number, int):
            raise self._wrong(name, "a whole number")
        return number

    def flag(self, name: str) -> bool:
        """Read a bool; false if the argument is not set."""
        value = self._take(name, BOOL, "true or false")
        return value is not None and value.as_bool()

    def string_map(self, name: str) -> dict[str, str]:
        """Read a map of strings. Null elements are rejected, as services have no such values."""
        value = self._take(name, MapType(STRING), "a map of strings")
        elements = {} if value is None else value.mapping()
        if any(element.is_null for element in elements.values()):
            raise self._wrong(name, "a map of strings without nulls")
        return {key: element.as_string() for key, element in elements.items()}

    def base64_text(self, name: str, most: int | None = None) -> str:
        """Read standard base64 of at most that many bytes, without decoding it; empty if not set."""
        text = self.text(name) or ""
        try:
            size = len(base64.b64decode(text, validate=True))
        except (binascii.Error, ValueError):
            raise self._wrong(name, "standard base64, such as base64encode(...) returns") from None
        if most is not None and size > most:
            raise self._wrong(name, f"base64 of at most {most:,} bytes")
        return text

    def command(self, name: str) -> list[str]:
        """Read a required program with its arguments; the program must have a name."""
        value = self._take(name, ListType(STRING), "a list of strings")
        parts = (
            []
            if value is None
            else [each.as_string() for each in value.elements() if not each.is_null]
        )
        if not parts or not parts[0]:
            raise EncryptionFailure(
                f"{self._of} needs the argument {quoted(name)}: a list whose first element is the"
                " program to run."
            )
        return parts

    def byte_string(self, name: str) -> bytes:
        """Read bytes, written as a list of numbers."""
        value = self._take(name, ListType(NUMBER), "a list of numbers from 0 to 255")
        return b"" if value is None else self._bytes(name, value)

    def keys(self, name: str) -> Keys | None:
        """Read the keys of another key provider, or an object of the same form."""
        value = self._left.pop(name, None)
        if value is None:
            return None
        if not value.is_wholly_known or value.is_null or not isinstance(value.data, dict):
            raise self._wrong(name, "the keys of a key provider")
        parts = value.mapping()
        if "encryption_key" not in parts:
            raise EncryptionFailure(
                f"The argument {quoted(name)} of {self._of} has no attribute encryption_key. Set "
                "it to a key provider, such as key_provider.pbkdf2.example."
            )
        encryption = self._key(name, parts["encryption_key"])
        decryption = self._key(name, parts["decryption_key"]) if "decryption_key" in parts else b""
        return Keys(encryption, decryption)

    def finish(self) -> None:
        """Reject arguments that were not read."""
        for name in sorted(self._left):
            raise EncryptionFailure(f"{self._of} has no argument named {quoted(name)}.")

    def _take(self, name: str, wanted: Type, described: str) -> Value | None:
        value = self._left.pop(name, None)
        if value is None or value.is_null:
            return None
        try:
            converted = convert(value, wanted)
        except CtyError:
            raise self._wrong(name, described) from None
        if not converted.is_wholly_known:
            raise EncryptionFailure(
                f"The argument {quoted(name)} of {self._of} is unknown. Encryption must be known"
                " before any state is read, so it can use variables and locals only."
            )
        return converted

    def _key(self, name: str, value: Value) -> bytes:
        if value.is_null:
            return b""
        try:
            return self._bytes(name, convert(value, ListType(NUMBER)))
        except CtyError:
            raise self._wrong(name, "the keys of a key provider") from None

    def _bytes(self, name: str, value: Value) -> bytes:
        octets = []
        for element in value.elements():
            number = None if element.is_null else element.as_number()
            if not isinstance(number, int) or not 0 <= number <= 255:
                raise self._wrong(name, "a list of whole numbers from 0 to 255")
            octets.append(number)
        return bytes(octets)

    def _wrong(self, name: str, wanted: str) -> EncryptionFailure:
        return EncryptionFailure(f"The argument {quoted(name)} of {self._of} must be {wanted}.")

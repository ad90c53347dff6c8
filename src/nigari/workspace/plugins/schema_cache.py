"""Schema cache: the schemas of providers from earlier runs, in the data directory.

To ask a provider for its schema takes a process, and for a large one seconds; to write it as JSON
takes as long again, so that text is kept as well. A kept schema is used only where the protocol
says that a copy will do (`schema_call_optional`), for the very package that it came from, known by its
checksum, and with the same environment variables: some providers let one of them add to their
schema. Only which variables there are, and the values of those that look like switches, are
compared, so that nothing can be learnt here of a secret in the environment.

A file that cannot be read or written is as good as none. Who works with many directories asks each
package once: its schema is known in all of them, under the same conditions.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.addrs.provider import Provider

DIRECTORY: Final = "nigari.schemas"
_FORM: Final = b"nigari schema 2\n"
_DIGEST_BYTES: Final = 32
_SWITCHES: Final = frozenset(("", "0", "1", "true", "false", "on", "off", "yes", "no", "y", "n"))
_NEVER_SWITCHES: Final = ("TF_VAR_", "TF_CLI_", "TF_LOG", "OLDPWD", "PWD", "SHLVL")
"""Variables that come and go, and are not meant for providers."""
_MOST_REMEMBERED: Final = 8
"""Limit on the schemas that a process remembers, as some are large."""
_REMEMBERED: Final[dict[tuple[str, bytes], bytes]] = {}
"""The schemas that this process has seen, by provider and conditions; the newest last."""


class Form(Enum):
    """Forms of a stored schema."""

    MESSAGES = "messages"
    """The provider's messages, for `stored_schema` to read."""
    JSON = "json"
    """The output of `providers schema`."""


class SchemaCache:
    """The kept schemas of one working directory: one for each provider and form."""

    def __init__(self, directory: str, environ: Mapping[str, str]) -> None:
        self._directory = directory
        self._environment = "\n".join(
            f"{name}={value.lower() if value.lower() in _SWITCHES else 'set'}"
            for name, value in sorted(environ.items())
            if not name.startswith(_NEVER_SWITCHES)
        )

    def has(self, provider: Provider, form: Form) -> bool:
        """Return whether anything about a provider is cached, even if outdated."""
        return os.path.exists(self._path(provider, form))

    def find(self, provider: Provider, checksum: str, form: Form) -> bytes | None:
        """Return the cached schema of the package with that checksum."""
        try:
            with open(self._path(provider, form), "rb") as file:
                data = file.read()
        except OSError:
            data = b""
        start = len(_FORM) + 2 * _DIGEST_BYTES
        encoded = data[start:]
        if data and data[:start] == self._head(checksum, encoded):
            return encoded
        if form is not Form.MESSAGES:
            return None
        return _REMEMBERED.get((str(provider), self._conditions(checksum)))

    def keep(self, provider: Provider, checksum: str, form: Form, encoded: bytes) -> None:
        """Store the schema of a package, in place of any other of that provider."""
        from pathlib import Path

        from nigari.packages.content.whole_file import make_directories, write_whole

        if form is Form.MESSAGES:
            _remember((str(provider), self._conditions(checksum)), encoded)
        path = Path(self._path(provider, form))
        with contextlib.suppress(OSError):
            make_directories(self._directory)
            write_whole(path, self._head(checksum, encoded) + encoded, sync=False)

    def _path(self, provider: Provider, form: Form) -> str:
        return os.path.join(self._directory, f"{provider}.{form.value}".replace("/", "+"))

    def _head(self, checksum: str, encoded: bytes) -> bytes:
        """Return the head of a cache file, which identifies its content and shows that it is
        complete.
        """
        from hashlib import sha256

        return _FORM + self._conditions(checksum) + sha256(encoded).digest()

    def _conditions(self, checksum: str) -> bytes:
        """Return a digest of the package and the environment."""
        from hashlib import sha256

        text = f"{checksum}\n{self._environment}"
        return sha256(text.encode("utf-8", "surrogateescape")).digest()


def _remember(key: tuple[str, bytes], encoded: bytes) -> None:
    _REMEMBERED.pop(key, None)
    _REMEMBERED[key] = encoded
    while len(_REMEMBERED) > _MOST_REMEMBERED:
        _REMEMBERED.pop(next(iter(_REMEMBERED)), None)

"""Schema cache: the schemas of providers from earlier runs, for all directories of a user.

To ask a provider for its schema takes a process, and for a large one seconds; to write it as JSON
takes as long again, so that text is kept as well. A kept schema is used only where the protocol
says that a copy will do (`schema_call_optional`), for the very package that it came from, known by its
checksum, and with the same switches in the environment: some providers let one of them add to their
schema. Other variables are not compared: a provider whose schema depends on them must not say that
a copy will do, and nothing can be learnt here of a secret in the environment.

A file that cannot be read or written is as good as none. Who works with many directories asks each
package once: its schema is known in all of them, under the same conditions.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from enum import Enum

from nigari.system_calls import is_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.addrs.provider import Provider
    from nigari.lang.versions import Version

DIRECTORY: Final = "nigari.schemas"
"""The directory where the user has no cache, below the data directory."""
_FORM: Final = b"nigari schema 4\n"
_MOST_KEPT: Final = 24
"""Maximum number of files: that of a large provider takes 15 megabytes."""
_SHORT: Final = 32
"""Length of the digest of the conditions in a file name; the file has all of them."""
_DAY: Final = 24 * 60 * 60
_DIGEST_BYTES: Final = 32
_START: Final = len(_FORM) + 2 * _DIGEST_BYTES
"""Where the version begins, which a line feed ends."""
_LONGEST_VERSION: Final = 100
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
    """The kept schemas in a directory: one for each package, conditions and form."""

    def __init__(self, directory: str, environ: Mapping[str, str]) -> None:
        self._directory = directory
        self._environment = "\n".join(
            f"{name}={value.lower()}"
            for name, value in sorted(environ.items())
            if value.lower() in _SWITCHES and not name.startswith(_NEVER_SWITCHES)
        )

    def has(self, provider: Provider, form: Form) -> bool:
        """Return whether anything about a provider is cached, even if outdated."""
        beginning = _name(provider, form)
        return any(each.name.startswith(beginning) for each in self._files())

    def find(self, provider: Provider, checksum: str, form: Form) -> bytes | None:
        """Return the cached schema of the package with that checksum."""
        conditions = self._conditions(checksum)
        data = _own_file(self._path(provider, form, conditions))
        encoded = _content(data)
        if encoded is not None and _conditions_of(data) == conditions:
            return encoded
        if form is not Form.MESSAGES:
            return None
        return _REMEMBERED.get((str(provider), conditions))

    def nearest(self, provider: Provider, wanted: Version | None) -> tuple[Version, bytes] | None:
        """Return the cached messages of the version that is nearest to the wanted one, the newest if
        none is, from whatever package and environment: good enough to offer names, not to validate.
        """
        beginning = _name(provider, Form.MESSAGES)
        files = [each.path for each in self._files() if each.name.startswith(beginning)]
        known = [(version, path) for path in files if (version := _version_of(path)) is not None]
        if wanted is None:
            known.sort(key=lambda each: each[0], reverse=True)
        else:
            known.sort(key=lambda each: _distance(each[0], wanted))
        for version, path in known:
            encoded = _content(_own_file(path))
            if encoded is not None:
                return version, encoded
        return None

    def keep(
        self, provider: Provider, checksum: str, form: Form, encoded: bytes, version: str = ""
    ) -> None:
        """Store the schema of a package, and remove those that were not used for longest."""
        from pathlib import Path

        from nigari.packages.content.whole_file import make_directories, write_whole

        conditions = self._conditions(checksum)
        if form is Form.MESSAGES:
            _remember((str(provider), conditions), encoded)
        path = Path(self._path(provider, form, conditions))
        with contextlib.suppress(OSError):
            make_directories(self._directory)
            content = f"{version}\n".encode() + encoded
            write_whole(path, _head(conditions, content) + content, sync=False)
            by_use = sorted(self._files(), key=lambda each: each.stat().st_mtime, reverse=True)
            for each in by_use[_MOST_KEPT:]:
                os.unlink(each.path)

    def _files(self) -> Sequence[os.DirEntry[str]]:
        try:
            with os.scandir(self._directory) as entries:
                return list(entries)
        except OSError:
            return ()

    def _path(self, provider: Provider, form: Form, conditions: bytes) -> str:
        return os.path.join(self._directory, f"{_name(provider, form)}{conditions.hex()[:_SHORT]}")

    def _conditions(self, checksum: str) -> bytes:
        """Return a digest of the package and the environment."""
        from hashlib import sha256

        text = f"{checksum}\n{self._environment}"
        return sha256(text.encode("utf-8", "surrogateescape")).digest()


def _name(provider: Provider, form: Form) -> str:
    """Return what the names of a provider's files begin with."""
    return f"{provider}.{form.value}.".replace("/", "+")


def _head(conditions: bytes, encoded: bytes) -> bytes:
    """Return the head of a file, which identifies its content and shows that it is complete."""
    from hashlib import sha256

    return _FORM + conditions + sha256(encoded).digest()


def _conditions_of(data: bytes) -> bytes:
    return data[len(_FORM) : len(_FORM) + _DIGEST_BYTES]


def _content(data: bytes) -> bytes | None:
    """Return the schema in a file's data; None if the data is not whole."""
    content = data[_START:]
    if not data or data[:_START] != _head(_conditions_of(data), content):
        return None
    return content.partition(b"\n")[2]


def _version_of(path: str) -> Version | None:
    """Return the version of the package that a file is about, without reading all of it."""
    from nigari.lang.versions import parse_version

    try:
        with open(path, "rb") as file:
            head = file.read(_START + _LONGEST_VERSION)
    except OSError:
        return None
    return parse_version(head[_START:].partition(b"\n")[0].decode("utf-8", "replace"))


def _distance(version: Version, wanted: Version) -> tuple[int, ...]:
    """Return how far apart two versions are, the first numbers first."""
    return tuple(
        abs(one - other) for one, other in zip(version.numbers, wanted.numbers, strict=False)
    )


def _own_file(path: str) -> bytes:
    """Read a file, and note that it is in use; empty if another user owns it, because a schema decides
    which values are sensitive.
    """
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if not is_own(status):
                return b""
            data = file.read()
        if time.time() - status.st_mtime > _DAY:
            os.utime(path)
    except OSError:
        return b""
    return data


def _remember(key: tuple[str, bytes], encoded: bytes) -> None:
    _REMEMBERED.pop(key, None)
    _REMEMBERED[key] = encoded
    while len(_REMEMBERED) > _MOST_REMEMBERED:
        _REMEMBERED.pop(next(iter(_REMEMBERED)), None)

"""Arguments in the address of a remote package: archive format and checksum.

These are `archive` and `checksum` in the URL's query, and are never sent to a server.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from pathlib import Path
from urllib.parse import unquote, unquote_plus, urlsplit

from nigari.addrs.module_source import RemoteSource
from nigari.packages.content.module_fetch import FetchError
from nigari.packages.content.unpacking import form_called, form_of_name, is_single_file
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_FALSE: Final = frozenset(("0", "f", "F", "FALSE", "false", "False"))
_LENGTHS: Final = {32: "md5", 40: "sha1", 64: "sha256", 128: "sha512"}
_CHUNK: Final = 1 << 20


@record
class Checksum:
    """A checksum of a file."""

    algorithm: str
    """`md5`, `sha1`, `sha256` or `sha512`."""
    digest: str
    """In lower-case hexadecimal."""

    def __str__(self) -> str:
        return f"{self.algorithm}:{self.digest}"


@record
class PackageAddress:
    """A parsed package address."""

    getter: str
    url: str
    """URL without the arguments that are not for the server."""
    form: str = ""
    """Archive format; empty for a directory."""
    checksum: Checksum | None = None
    checksum_list: str = ""
    """URL of a file with checksums."""

    @property
    def name(self) -> str:
        """The file name in the URL."""
        return posixpath.basename(urlsplit(self.url).path)


def package_address(source: RemoteSource) -> PackageAddress:
    """Parse an address, or raise `FetchError` if it is invalid."""
    url, given = take_arguments(source.url, ("archive", "checksum"))
    path = unquote(urlsplit(url).path)
    wanted = given.get("archive", "")
    form = form_of_name(path)
    if wanted:
        # go-getter: strconv.ParseBool; archive=false turns off the detection by name.
        form = "" if wanted in _FALSE else form_called(wanted)
    elif is_single_file(path):
        raise FetchError(
            "The address ends like that of one packed file. A package is an archive of files, such "
            "as .zip or .tar.gz."
        )
    text = given.get("checksum", "")
    if not text:
        return PackageAddress(source.getter, url, form)
    if not form:
        raise FetchError(
            "The address has a checksum, but does not lead to an archive, and only archives have "
            "checksums. If it is one, add its form, such as archive=zip."
        )
    if text == "file:":
        raise FetchError('The checksum "file:" names no list: write the URL of the list after it.')
    # go-getter: the checksum is in a list at that URL.
    if text.startswith("file:"):
        return PackageAddress(source.getter, url, form, checksum_list=text.removeprefix("file:"))
    return PackageAddress(source.getter, url, form, parse_checksum(text))


def take_arguments(url: str, names: tuple[str, ...]) -> tuple[str, dict[str, str]]:
    """Remove arguments from the query of a URL, which otherwise stays unchanged, and return the
    first value of each.
    """
    base, question, query = url.partition("?")
    if not question:
        return url, {}
    query, hash_, fragment = query.partition("#")
    kept: list[str] = []
    given: dict[str, str] = {}
    for argument in query.split("&"):
        name, _, value = argument.partition("=")
        if unquote_plus(name) in names:
            given.setdefault(unquote_plus(name), unquote_plus(value))
        elif argument:
            kept.append(argument)
    rest = f"?{'&'.join(kept)}" if kept else ""
    return base + rest + hash_ + fragment, given


def parse_checksum(text: str) -> Checksum:
    """Parse `TYPE:DIGEST`, or a digest whose length implies the type."""
    kind, colon, digest = text.rpartition(":")
    if re.fullmatch(r"(?:[0-9A-Fa-f]{2})+", digest) is None:
        raise FetchError(f'The checksum "{text}" is not written in hexadecimal digits.')
    # go-getter guesses the algorithm from the length of the digest.
    algorithm = kind.lower() if colon else _LENGTHS.get(len(digest), "")
    if algorithm not in _LENGTHS.values():
        raise FetchError(
            f'The checksum "{text}" is of no known type. Use md5, sha1, sha256 or sha512, as in '
            "sha256:DIGEST."
        )
    return Checksum(algorithm, digest.lower())


def listed_checksum(text: str, url: str, list_url: str) -> Checksum | None:
    """Find the checksum of a file in the output of `sha256sum` or BSD's `sha256`."""
    path = unquote(urlsplit(url).path)
    name = posixpath.basename(path)
    relative = posixpath.relpath(path or "/", posixpath.dirname(urlsplit(list_url).path) or "/")
    names = {name, f"*{name}", f"?{name}", relative, f"./{relative}", path}
    for line in text.splitlines():
        words = line.split()
        found, of = "", ""
        # BSD: "SHA256 (name) = digest".
        if len(words) == 4 and re.fullmatch(r"\(.+\)", words[1]):
            found, of = f"{words[0]}:{words[3]}", words[1][1:-1]
        # GNU: "digest name", or a digest alone.
        elif words:
            found, of = words[0], words[1] if len(words) == 2 else ""
        if not found or (of and of not in names):
            continue
        try:
            return parse_checksum(found)
        except FetchError:
            continue
    return None


def check_file(path: Path, checksum: Checksum) -> None:
    """Verify the checksum of a file, or raise `FetchError`."""
    digest = hashlib.new(checksum.algorithm, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    if digest.hexdigest() != checksum.digest:
        raise FetchError(
            f"The archive does not have the checksum that the address asks for: it has "
            f"{checksum.algorithm}:{digest.hexdigest()} instead of {checksum}. It was changed, or "
            "the checksum is that of another file."
        )

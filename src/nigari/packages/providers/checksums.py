"""Checksums of provider packages, in the schemes of the dependency lock file.

`h1:` covers names and contents of the files in a package and is the same packed or unpacked; `zh:`
covers the bytes of a packed package. Other schemes are ignored: a newer program wrote them.
"""

from __future__ import annotations

import binascii
import os
from collections.abc import Iterable, Mapping, Sequence

from nigari.hcl.quoting import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias


Place: TypeAlias = str | os.PathLike[str]
"""A path, also for callers that do not load `pathlib`."""

_PIECE: Final = 1 << 22
"""Large, because a thread waits for its turn after each piece while others import modules."""
_SETTLED: Final = 2.0
"""Seconds after which another change of a file has a different timestamp."""
_MOST_DIGESTS: Final = 10_000
_DIGESTS: Final[dict[tuple[int, ...], str]] = {}
"""Digests of files that this process has read, by device, inode, size and times."""


def directory_checksum(directory: Place) -> str:
    """Compute the `h1:` checksum of an unpacked package; the directory itself may be a symbolic
    link.
    """
    root = os.path.realpath(directory, strict=True)
    files: dict[str, str] = {}
    for folder, subfolders, names in os.walk(root, onerror=_raise):
        for name in names:
            path = os.path.join(folder, name)
            files[os.path.relpath(path, root).replace(os.sep, "/")] = _file_digest(path)
        for name in subfolders:
            # A link to a directory counts as a file in this scheme, and cannot be read as one.
            if os.path.islink(path := os.path.join(folder, name)):
                raise OSError(f"{path} is a symbolic link to a directory")
    return combined(files)


def archive_checksum(archive: Place) -> str:
    """Compute the `h1:` checksum of a packed package, which equals that of its unpacked form."""
    from nigari.packages.providers.archive import content_digests

    return combined(content_digests(archive))


def zip_checksum(archive: Place) -> str:
    """Compute the `zh:` checksum of a packed package."""
    return f"zh:{_file_digest(archive)}"


def package_checksum(package: Place) -> str:
    """Compute the `h1:` checksum of a package, packed or unpacked."""
    return directory_checksum(package) if os.path.isdir(package) else archive_checksum(package)


def matching(package: Place, checksums: Iterable[str]) -> list[str]:
    """Select the checksums that the package has. Each scheme is computed at most once."""
    wanted = list(checksums)
    found: set[str] = set()
    if any(checksum.startswith("h1:") for checksum in wanted):
        found.add(package_checksum(package))
    if not os.path.isdir(package) and any(checksum.startswith("zh:") for checksum in wanted):
        found.add(zip_checksum(package))
    return [checksum for checksum in wanted if checksum in found]


def recorded(package: Place, known: Sequence[str]) -> Sequence[str]:
    """Select the known checksums that a package has; none if it cannot be read."""
    try:
        return matching(package, known) if known else ()
    except OSError:
        return ()


def understood(checksums: Iterable[str]) -> list[str]:
    """Select the checksums of known schemes."""
    return [checksum for checksum in checksums if checksum.startswith(("h1:", "zh:"))]


def combined(files: Mapping[str, str]) -> str:
    """Compute the `h1:` checksum from the SHA-256 of files, by name."""
    import hashlib

    total = hashlib.sha256()
    # dirhash.Hash1 of Go: lines of "sha256 name", in order of bytes, hashed again.
    for name in sorted(files, key=os.fsencode):
        # dirhash.Hash1 rejects it, as two file lists could have one checksum.
        if "\n" in name:
            raise OSError(f"the file name {quoted(name)} contains a line break")
        total.update(f"{files[name]}  ".encode() + os.fsencode(name) + b"\n")
    return "h1:" + binascii.b2a_base64(total.digest(), newline=False).decode("ascii")


def _file_digest(path: Place) -> str:
    """Compute the digest of a file. A program shared by many directories is read only once while it
    is unchanged: every change of a file updates its change time.
    """
    import hashlib
    import time

    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        found = os.fstat(file.fileno())
        key = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        known = _DIGESTS.get(key)
        if known is not None:
            return known
        piece = memoryview(bytearray(_PIECE))
        while size := file.readinto(piece):
            digest.update(piece[:size])
    result = digest.hexdigest()
    # A file just written could change again within the same timestamp.
    if abs(time.time() - found.st_ctime) > _SETTLED and len(_DIGESTS) < _MOST_DIGESTS:
        _DIGESTS[key] = result
    return result


def _raise(error: OSError) -> None:
    raise error

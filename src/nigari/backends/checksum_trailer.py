"""Seals: a mark at the end of a file that tells whole files from torn ones.

A file that is written without waiting for the disk may, after a power failure, be a mixture of what
it was and what it should become. A sealed content ends in a line of blanks and tabs that stand for
its checksum: readers of JSON ignore it. The content itself does not matter here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_BITS: Final = 32
_WRITTEN: Final = str.maketrans("01", " \t")


def sealed(content: bytes) -> bytes:
    """The content with its seal."""
    return content + _seal(content)


def unsealed(data: bytes) -> bytes | None:
    """The content of what is sealed; `None` if there is no seal, or another content's."""
    if not is_sealed(data):
        return None
    content = data[: -_BITS - 1]
    return content if data.endswith(_seal(content)) else None


def is_sealed(data: bytes) -> bool:
    """Return whether the data ends with a checksum trailer, valid or not."""
    ending = data[-_BITS - 1 :]
    return len(ending) > _BITS and ending.strip(b" \t") == b"\n" and ending.endswith(b"\n")


def _seal(content: bytes) -> bytes:
    import zlib

    return f"{zlib.crc32(content):032b}\n".translate(_WRITTEN).encode()


def boot_identity() -> str:
    """A text that is another one after every start of the machine; empty if there is none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""

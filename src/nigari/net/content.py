"""Content on its way: decoded within limits, or written to a file with its digests."""

from __future__ import annotations

import os
from collections.abc import Collection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_WRITTEN_AT_ONCE: Final = 1 << 17
"""Bytes. For larger pieces the system looks for larger stretches of free memory, which may take more
time than all the rest of writing.
"""


class Decoder:
    """Undoes a content encoding, never giving more than is asked for: small input can be huge."""

    def __init__(self, encoding: str) -> None:
        import zlib

        self._inflate = zlib.decompressobj(47) if encoding.lower() in ("gzip", "deflate") else None

    def decoded(self, piece: bytes | memoryview, most: int) -> bytes | memoryview:
        return piece if self._inflate is None else self._inflate.decompress(piece, max(most, 1))


class FileWriter:
    """A file that stays only if `keep` is called.

    Pieces are written as they come, without a thread: what arrives over the network at once takes
    less time to write than it takes to hand over. A file that is there is written over, which takes
    less time than to empty it first.
    """

    def __init__(self, target: str | os.PathLike[str], algorithms: Collection[str]) -> None:
        import hashlib

        self._target = target
        self._digests = {name: hashlib.new(name) for name in algorithms}
        self._file = open(  # noqa: SIM115 -- closed with the context
            target, "wb", buffering=0, opener=_without_emptying
        )
        self._is_kept = False
        self.size: int = 0

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if not self._is_kept:
            os.unlink(self._target)

    def write(self, piece: bytes | memoryview) -> None:
        self.size += len(piece)
        left = memoryview(piece)
        while left:
            left = left[self._file.write(left[:_WRITTEN_AT_ONCE]) :]
        for digest in self._digests.values():
            digest.update(piece)

    def digests(self) -> dict[str, str]:
        """The digests of what was written so far, hexadecimal."""
        return {name: digest.hexdigest() for name, digest in self._digests.items()}

    def keep(self) -> None:
        self._file.truncate(self.size)
        self._is_kept = True


def _without_emptying(path: str, flags: int) -> int:
    return os.open(path, flags & ~os.O_TRUNC, 0o666)

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

_HASHED_AT_ONCE: Final = 1 << 18
"""Bytes that take less time to hash than to hand over to a thread."""


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
        self._target = target
        self._algorithms = algorithms
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

    async def digests(self) -> dict[str, str]:
        """The digests of what was written, hexadecimal. Nothing more may be written.

        They are made in the end, and of large files in a thread: while others are downloaded, that
        takes no time from them.
        """
        self._file.truncate(self.size)
        if self.size < _HASHED_AT_ONCE:
            return self._hashed()
        import asyncio

        return await asyncio.to_thread(self._hashed)

    def _hashed(self) -> dict[str, str]:
        import hashlib

        found: dict[str, str] = {}
        for name in self._algorithms:
            with open(self._target, "rb", buffering=0) as file:
                found[name] = hashlib.file_digest(file, name).hexdigest()
        return found

    def keep(self) -> None:
        """Have it stay, once its digests are known."""
        self._is_kept = True


def _without_emptying(path: str, flags: int) -> int:
    return os.open(path, flags & ~os.O_TRUNC, 0o666)

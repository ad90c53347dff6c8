"""Processing of downloaded content: decompression within limits, and writing to a file with
digests.
"""

from __future__ import annotations

import os
from collections.abc import Collection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_WRITTEN_AT_ONCE: Final = 1 << 17
"""Bytes per write. For larger pieces the kernel looks for larger stretches of free memory, which
may take longer than the write itself.
"""

_HASHED_AT_ONCE: Final = 1 << 18
"""Bytes that take less time to hash than to hand over to a thread."""


class Decoder:
    """Undoes a content encoding within a maximum output size, as small input can expand hugely."""

    def __init__(self, encoding: str) -> None:
        import zlib

        self._inflate = zlib.decompressobj(47) if encoding.lower() in ("gzip", "deflate") else None

    def decoded(self, piece: bytes | memoryview, most: int) -> bytes | memoryview:
        return piece if self._inflate is None else self._inflate.decompress(piece, max(most, 1))


class FileWriter:
    """A file that is deleted on exit unless `keep` is called.

    Pieces are written without a thread: writing what arrives at once takes less time than handing
    it over. An existing file is overwritten in place, which is faster than truncating it first.
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
        """Compute the digests of the written content, hexadecimal. Nothing more may be written.

        Large files are hashed at the end in a thread, which takes no time from concurrent
        downloads.
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
        """Retain the file, after its digests have been checked."""
        self._is_kept = True


def _without_emptying(path: str, flags: int) -> int:
    return os.open(path, flags & ~os.O_TRUNC, 0o666)

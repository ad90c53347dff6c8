"""Content on its way: decoded within limits, or written to a file with its digests."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Final

_BATCH: Final = 1 << 20
"""How much is collected before a thread writes it: each change of threads costs something."""


class Decoder:
    """Undoes a content encoding, never giving more than is asked for: small input can be huge."""

    def __init__(self, encoding: str) -> None:
        import zlib

        self._inflate = zlib.decompressobj(47) if encoding.lower() in ("gzip", "deflate") else None

    def decoded(self, piece: bytes, most: int) -> bytes:
        return piece if self._inflate is None else self._inflate.decompress(piece, max(most, 1))


class FileWriter:
    """A file that stays only if `keep` is called. Writing and digests happen in a thread."""

    def __init__(self, target: str | os.PathLike[str], algorithms: Collection[str]) -> None:
        import hashlib

        self._target = target
        self._digests = {name: hashlib.new(name) for name in algorithms}
        self._waiting = bytearray()
        self._is_kept = False
        self.size = 0

    async def __aenter__(self) -> FileWriter:
        self._file = open(self._target, "wb", buffering=0)  # noqa: ASYNC230, SIM115 -- local, and closed at the end
        return self

    async def __aexit__(self, *_: object) -> None:
        self._file.close()
        if not self._is_kept:
            os.unlink(self._target)

    async def write(self, piece: bytes) -> None:
        self.size += len(piece)
        self._waiting += piece
        if len(self._waiting) >= _BATCH:
            await self._flush()

    async def finish(self) -> dict[str, str]:
        """Everything is in the file; its digests."""
        await self._flush()
        return {name: digest.hexdigest() for name, digest in self._digests.items()}

    def keep(self) -> None:
        self._is_kept = True

    async def _flush(self) -> None:
        import asyncio

        batch, self._waiting = self._waiting, bytearray()
        writing = asyncio.ensure_future(asyncio.to_thread(self._put, batch))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            # A thread cannot be interrupted, and the file must not be closed under it.
            await asyncio.wait([writing])
            raise

    def _put(self, batch: bytearray) -> None:
        left = memoryview(batch)
        while left:
            left = left[self._file.write(left) :]
        for digest in self._digests.values():
            digest.update(batch)

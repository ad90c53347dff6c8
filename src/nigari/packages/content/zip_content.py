"""Direct access to the content of a zip entry.

Python's own reader copies the data several times and only uses `zlib`. Provider packages are
hundreds of megabytes, and inflating them dominates their installation.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Final, TypeAlias


_PACKED_PIECE: Final = 1 << 18
_PIECE: Final = 1 << 19
"""Bytes inflated at once: the next step still finds them in the processor's cache, and other
threads are rarely disturbed.
"""
_HEADER: Final = struct.Struct("<4s22xHH")
_SIGNATURE: Final = b"PK\x03\x04"
_IS_ENCRYPTED: Final = 0x1


class EntryContent(Protocol):
    """Content that is read sequentially."""

    def read(self, most: int, /) -> bytes:
        """Read at most that many bytes; none at the end."""
        ...


@contextmanager
def entry_content(package: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[EntryContent]:
    """Read an entry. Faults raise the exceptions of `zipfile`, or `EOFError`."""
    is_deflated = entry.compress_type == zipfile.ZIP_DEFLATED
    # Opening it compares the two headers of the entry, which may contradict each other.
    with package.open(entry) as content:
        # A small entry does not justify a separate file handle: archives may have very many.
        is_small = entry.file_size <= _PIECE
        is_plain = is_deflated and not entry.flag_bits & _IS_ENCRYPTED
        if is_small or not is_plain or package.filename is None:
            yield content
            return
    with open(package.filename, "rb", buffering=0) as file:
        file.seek(entry.header_offset)
        signature, name, extra = _HEADER.unpack(file.read(_HEADER.size))
        if signature != _SIGNATURE:
            raise zipfile.BadZipFile("an entry has no header")
        file.seek(name + extra, 1)
        yield _Inflated(file, entry)


class _Inflated:
    """Inflates an entry, from a file positioned at its data."""

    def __init__(self, file: IO[bytes], entry: zipfile.ZipInfo) -> None:
        self._file = file
        self._entry = entry
        self._packed_left = entry.compress_size
        self._inflater, self._crc32, self._error = _fastest()
        self._checksum = 0
        self._size = 0

    def read(self, most: int, /) -> bytes:
        inflater = self._inflater
        while not inflater.eof:
            is_hungry = inflater.needs_input
            packed = self._more() if is_hungry else b""
            try:
                piece = inflater.decompress(packed, min(most, _PIECE))
            except self._error as error:
                raise zipfile.BadZipFile(
                    f"damaged data of {self._entry.filename!r}: {error}"
                ) from None
            if piece:
                self._checksum = self._crc32(piece, self._checksum)
                self._size += len(piece)
                # More than announced: the checksum below reports it.
                if self._size > self._entry.file_size:
                    break
                return piece
            if is_hungry and not packed:
                raise EOFError("an entry ends too early")
        if self._checksum != self._entry.CRC or self._size != self._entry.file_size:
            raise zipfile.BadZipFile(f"wrong checksum of {self._entry.filename!r}")
        return b""

    def _more(self) -> bytes:
        piece = self._file.read(min(_PACKED_PIECE, self._packed_left))
        self._packed_left -= len(piece)
        return piece


class _Inflater(Protocol):
    """Inflates data; retains input until all of it is inflated."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes: ...


class _ZlibInflater:
    """Python's own `zlib` as an inflater."""

    def __init__(self) -> None:
        import zlib

        # Entries of zip files are raw DEFLATE data, without a header.
        self._inflate = zlib.decompressobj(-15)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
        piece = self._inflate.decompress(data or self._inflate.unconsumed_tail, max_length)
        self.needs_input = not self._inflate.unconsumed_tail
        return piece


_Crc32: TypeAlias = Callable[[bytes, int], int]


def _fastest() -> tuple[_Inflater, _Crc32, type[Exception]]:
    """Choose the inflater, checksum and exception: ISA-L if it is installed, which is twice as
    fast.
    """
    try:
        from isal import igzip_lib, isal_zlib
    except ImportError:
        import zlib

        return _ZlibInflater(), zlib.crc32, zlib.error
    inflater = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_DEFLATE)
    error: type[Exception] = igzip_lib.IsalError  # type: ignore[assignment]  # its stub has an instance
    return inflater, isal_zlib.crc32, error

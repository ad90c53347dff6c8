"""Outlets for results: output that cannot be written ends the output, and not the command.

The reader of a pipe may leave, a disk may be full, while things are being created. Code that writes
hears nothing of it; who has the last word asks whether everything has arrived.
"""

from __future__ import annotations

from io import BufferedWriter, FileIO, TextIOWrapper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from _typeshed import ReadableBuffer


class Outlet(FileIO):
    """A file that is written without fail: from the first error on, everything is dropped."""

    def __init__(self, file: int | str) -> None:
        super().__init__(file, "w", closefd=isinstance(file, str))
        self.error: OSError | None = None
        """The reason of a failed write."""

    def write(self, data: ReadableBuffer, /) -> int:
        size = memoryview(data).nbytes
        while self.error is None:
            try:
                # Typed as if it could not be None, which it is where the file is not ready.
                written: int | None = super().write(data)
            except OSError as error:
                self.error = error
                break
            if written is not None:
                return written
            self._wait()
        return size

    def _wait(self) -> None:
        """Another process has made the file non-blocking."""
        import select

        select.select((), (self,), ())


def text_outlet(file: int | str, errors: str = "strict", line_buffering: bool = False) -> TextIO:
    """A stream of text over an outlet."""
    outlet = BufferedWriter(Outlet(file))
    return TextIOWrapper(outlet, "utf-8", errors, "\n", line_buffering)


def error_of(stream: TextIO) -> OSError | None:
    """The error of a stream that has not written everything, once all of it was flushed."""
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw.error if isinstance(raw, Outlet) else None

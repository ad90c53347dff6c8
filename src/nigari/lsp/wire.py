"""JSON-RPC messages on a stream: headers, lengths, JSON.

Knows nothing of what messages mean. Writing is safe from several threads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from threading import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO, Final

Message = Mapping[str, "Any"]
"""The data of JSON, which is checked where it is used."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
NOT_INITIALIZED: Final = -32002
REQUEST_FAILED: Final = -32803
REQUEST_CANCELLED: Final = -32800

_LONGEST: Final = 1 << 28
"""Bytes that a message may have: more than any editor holds in one document."""
_LONGEST_HEADER: Final = 4096


class RequestFailure(Exception):
    """A request that gets an error as its answer."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class BrokenMessage(Exception):
    """Bytes that are no message. Where the next one begins is unknown if `is_fatal`."""

    def __init__(self, message: str, is_fatal: bool) -> None:
        super().__init__(message)
        self.is_fatal = is_fatal


class Connection:
    """A stream of messages in both directions."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer
        self._lock = Lock()

    def read(self) -> Message | None:
        """Wait for the next message; None at the end of the stream."""
        length = self._length()
        if length is None:
            return None
        body = self._reader.read(length)
        if len(body) < length:
            return None
        try:
            message = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise BrokenMessage(f"a message is no JSON: {error}", False) from None
        if not isinstance(message, dict):
            raise BrokenMessage("a message must be a JSON object", False)
        return message

    def _length(self) -> int | None:
        length = -1
        while True:
            line = self._reader.readline(_LONGEST_HEADER)
            if not line:
                return None
            if line in (b"\r\n", b"\n"):
                break
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                text = value.strip()
                length = int(text) if text.isdigit() and len(text) < 10 else -1
        if not 0 <= length <= _LONGEST:
            raise BrokenMessage("a message has no valid Content-Length", True)
        return length

    def send(self, message: Mapping[str, object]) -> None:
        """Write a message; one that the other side no longer reads is lost."""
        body = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        data = body.encode("utf-8", "replace")
        with self._lock:
            try:
                self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
                self._writer.flush()
            except (OSError, ValueError):
                return

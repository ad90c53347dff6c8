"""TCP and TLS streams of asyncio for the HTTP library.

The library's own streams return at most one TLS record at a time; these return all available data.
The library also copies each byte of content five times, so large content bypasses it: it receives a
response without content, and the content is read from the stream directly (`large_content`). The
connection can then be reused.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import ssl
from collections.abc import AsyncGenerator, Iterable

import httpcore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from httpcore import SOCKET_OPTION

_BUFFER: Final = 1 << 19
"""Twice asyncio's read size, so that reading rarely pauses."""
_SECOND_ADDRESS_AFTER: Final = 0.25
"""Seconds before another address of the same host is tried concurrently."""
_END_OF_HEAD: Final = re.compile(rb"\n\r?\n")
_SUCCESS: Final = re.compile(rb"HTTP/1\.1 20[06] ")
_CODING: Final = re.compile(rb"\ntransfer-encoding[ \t]*:", re.IGNORECASE)
_LENGTH: Final = re.compile(
    rb"(?<=\ncontent-length:)[ \t]*([0-9]{1,18})(?=[ \t]*\r?\n)", re.IGNORECASE
)
_LARGE: Final = 1 << 20
"""Content size from which it bypasses the library."""


def restore_size(response: httpcore.Response) -> None:
    """Restore the announced size in a response whose content bypasses the library."""
    stream = _keeping(response)
    if stream is not None:
        response.headers = [
            (name, b"%d" % stream.unread if name.lower() == b"content-length" else value)
            for name, value in response.headers
        ]


def large_content(response: httpcore.Response, timeout: float) -> AsyncGenerator[memoryview] | None:
    """Return the content of a response if it bypasses the library. Each piece is valid only until
    the next one is requested, or anything else is awaited.
    """
    stream = _keeping(response)
    return None if stream is None else stream.content(response, timeout)


def _keeping(response: httpcore.Response) -> _Stream | None:
    """Return the stream of a response whose content is still unread."""
    stream = response.extensions.get("network_stream")
    return stream if isinstance(stream, _Stream) and stream.unread else None


class Connector(httpcore.AsyncNetworkBackend):
    """Opens connections, whose large content may bypass the library."""

    def __init__(self, bypasses: bool) -> None:
        self._bypasses = bypasses

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- the library's interface
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                transport, protocol = await loop.create_connection(
                    _Protocol, host, port, happy_eyeballs_delay=_delay(host)
                )
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(error) from error
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(error) from error
        return _Stream(transport, protocol, self._bypasses)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def _delay(host: str) -> float | None:
    """Return the seconds before the next address of a host is tried; None if it has only one."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return _SECOND_ADDRESS_AFTER
    return None


class _Protocol(asyncio.BufferedProtocol):
    """Buffers received data, up to a limit, until it is read."""

    def __init__(self) -> None:
        self._buffer = bytearray(_BUFFER)
        self._filled = 0
        self._transport: asyncio.Transport | None = None
        self._is_paused = False
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self.has_ended = False
        self.error: Exception | None = None

    @property
    def has_news(self) -> bool:
        """True if reading would return at once, with data or at the end."""
        return bool(self._filled) or self.has_ended

    async def arrival(self) -> None:
        """Wait for data or the end."""
        if not self.has_news:
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        if not self._filled and self.error is not None:
            raise self.error

    def arrived(self) -> memoryview:
        """Return the buffered data, valid until the next await; empty at the end."""
        return memoryview(self._buffer)[: self._filled]

    def end_of_head(self) -> int | None:
        """Return the offset after the head of a buffered HTTP/1.1 response."""
        found = _END_OF_HEAD.search(self._buffer, 0, self._filled)
        return None if found is None else found.end()

    def forget(self, size: int) -> None:
        """Drop consumed data from the buffer."""
        rest = self._filled - size
        if rest:
            self._buffer[:rest] = self._buffer[size : self._filled]
        self._filled = rest
        if self._is_paused and self._transport is not None and not self.has_ended:
            self._is_paused = False
            self._transport.resume_reading()

    async def drained(self) -> None:
        """Wait until the written data is sent."""
        if self._writer is not None:
            await self._writer
        if self.error is not None:
            raise self.error

    def attach(self, transport: asyncio.Transport) -> None:
        """Replace the transport after TLS has started."""
        self._transport = transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(self._buffer)[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        self._filled += nbytes
        if self._filled == _BUFFER and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self.has_ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self.error = self.error or exc
        self.has_ended = True
        self._wake()
        self.resume_writing()

    def pause_writing(self) -> None:
        self._writer = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        if self._writer is not None and not self._writer.done():
            self._writer.set_result(None)
        self._writer = None

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


class _Stream(httpcore.AsyncNetworkStream):
    """One connection."""

    def __init__(self, transport: asyncio.Transport, protocol: _Protocol, bypasses: bool) -> None:
        self._transport = transport
        self._protocol = protocol
        self._bypasses = bypasses
        self._awaits_head = False
        self.unread: int = 0
        """Unread bytes of content that bypasses the library."""

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- the library's interface
    ) -> bytes:
        """Return all buffered data: the library accepts more than it requests. A complete response
        head is returned separately.
        """
        await self._arrival(timeout)
        head = self._protocol.end_of_head() if self._awaits_head else None
        data = bytes(self._protocol.arrived()[:head])
        self._protocol.forget(len(data))
        self._awaits_head = False
        return data if head is None else self._without_large_content(data)

    def _without_large_content(self, head: bytes) -> bytes:
        lengths = _LENGTH.findall(head)
        if len(lengths) != 1 or not _SUCCESS.match(head) or _CODING.search(head):
            return head
        size = int(lengths[0])
        if size < _LARGE:
            return head
        self.unread = size
        return _LENGTH.sub(b" 0", head)

    async def content(
        self,
        response: httpcore.Response,
        timeout: float | None,  # noqa: ASYNC109 -- for each piece
    ) -> AsyncGenerator[memoryview]:
        """Yield the content that bypasses the library, or less if the connection ends. The library
        then sees the end of the response and may reuse the connection.
        """
        while self.unread:
            await self._arrival(timeout)
            with self._protocol.arrived()[: self.unread] as piece:
                if not piece:
                    return
                yield piece
                length = len(piece)
            self._protocol.forget(length)
            self.unread -= length
        await response.aread()

    async def _arrival(self, timeout: float | None) -> None:  # noqa: ASYNC109 -- as above
        try:
            if self._protocol.has_news:
                await self._protocol.arrival()
                return
            async with asyncio.timeout(timeout):
                await self._protocol.arrival()
        except TimeoutError as error:
            raise httpcore.ReadTimeout(error) from error
        except OSError as error:
            raise httpcore.ReadError(error) from error

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ASYNC109 -- the library's interface
    ) -> None:
        if not buffer:
            return
        self._awaits_head = self._bypasses
        try:
            self._transport.write(buffer)
            async with asyncio.timeout(timeout):
                await self._protocol.drained()
        except TimeoutError as error:
            raise httpcore.WriteTimeout(error) from error
        except OSError as error:
            raise httpcore.WriteError(error) from error

    async def aclose(self) -> None:
        self._transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 -- the library's interface
    ) -> httpcore.AsyncNetworkStream:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                transport = await loop.start_tls(
                    self._transport, self._protocol, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError as error:
            self._transport.abort()
            raise httpcore.ConnectTimeout(error) from error
        except OSError as error:
            self._transport.abort()
            raise httpcore.ConnectError(error) from error
        except BaseException:
            self._transport.abort()
            raise
        if transport is None:
            raise httpcore.ConnectError("the connection was closed during the handshake")
        self._protocol.attach(transport)
        return _Stream(transport, self._protocol, self._bypasses)

    def get_extra_info(self, info: str) -> object:
        if info == "is_readable":
            # An idle connection has no data to read except for its end.
            return self._protocol.has_news or self._transport.is_closing()
        return self._transport.get_extra_info(info)

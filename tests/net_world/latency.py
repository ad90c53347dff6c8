"""A distant server: what leads to a port of this machine as if it were far away.

Everything that a client sends arrives later, and so does the connection itself, which is what a
round trip costs. Requests are counted: those of HTTP, or for other protocols the turns, which are
what a client says after it has listened.
"""

import asyncio
import contextlib
import re
import ssl
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

_REQUEST: Final = re.compile(rb"(?:GET|HEAD|PATCH|PUT|POST|DELETE|LOCK|UNLOCK) \S+ HTTP/1\.1\r\n")


class Distance:
    """Leads to `port`; `delay` are the seconds of a round trip.

    With a certificate the way to here is encrypted, and the one from here is not.
    """

    def __init__(
        self, port: int, delay: float, is_http: bool = True, certificate: Path | None = None
    ) -> None:
        self.requests = 0
        self._target = port
        self.delay = delay
        self._is_http = is_http
        self._context: ssl.SSLContext | None = None
        if certificate is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(certificate)
        self._connections: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        started = asyncio.run_coroutine_threadsafe(self._listen(), self._loop)
        self.port = started.result()
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> "Distance":
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> int:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._context)
        return int(self._server.sockets[0].getsockname()[1])

    async def _close(self) -> None:
        """Hang up on everybody: a connection may outlive the program that has opened it."""
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _accept(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        connection = self._loop.create_task(self._serve(near, back))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _serve(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        async with _closing(back):
            with contextlib.suppress(OSError):
                await asyncio.sleep(self.delay)
                far, forth = await asyncio.open_connection("127.0.0.1", self._target)
                async with _closing(forth):
                    await _Line(self, near, forth, far, back).carry()

    def count(self, piece: bytes, is_turn: bool) -> None:
        """Take note of what a client says."""
        self.requests += len(_REQUEST.findall(piece)) if self._is_http else int(is_turn)


@contextlib.asynccontextmanager
async def _closing(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    """Close a connection, and wait until it is closed: nothing does once the loop has ended."""
    try:
        yield
    except asyncio.CancelledError:
        writer.transport.abort()
        raise
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            try:
                await writer.wait_closed()
            except asyncio.CancelledError:
                # The other side of an encrypted connection may be gone without a word.
                writer.transport.abort()
                await writer.wait_closed()


class _Line:
    """One connection, in both directions."""

    def __init__(
        self,
        distance: Distance,
        near: asyncio.StreamReader,
        forth: asyncio.StreamWriter,
        far: asyncio.StreamReader,
        back: asyncio.StreamWriter,
    ) -> None:
        self._distance = distance
        self._near, self._forth, self._far, self._back = near, forth, far, back
        self._has_listened = True
        self._late: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def carry(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for each in (self._hear(), self._deliver(), self._answer()):
                tasks.create_task(each)

    async def _hear(self) -> None:
        while piece := await self._near.read(1 << 16):
            self._distance.count(piece, self._has_listened)
            self._has_listened = False
            self._put(piece)
        self._put(b"")

    def _put(self, piece: bytes) -> None:
        """What is sent in one go is late once, however much it is."""
        due = asyncio.get_running_loop().time() + self._distance.delay
        self._late.put_nowait((due, piece))

    async def _deliver(self) -> None:
        while True:
            due, piece = await self._late.get()
            await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
            if not piece:
                self._forth.close()
                return
            self._forth.write(piece)

    async def _answer(self) -> None:
        while piece := await self._far.read(1 << 16):
            self._has_listened = True
            self._back.write(piece)
            await self._back.drain()
        self._back.close()

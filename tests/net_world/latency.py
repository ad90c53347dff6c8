"""A distant server: what leads to a port of this machine as if it were far away.

Everything that a client sends arrives later, and so does the connection itself, which is what a
round trip costs. Requests are counted.
"""

import asyncio
import contextlib
import re
import threading
from typing import Final

_REQUEST: Final = re.compile(rb"(?:GET|HEAD|PUT|POST|DELETE|LOCK|UNLOCK) \S+ HTTP/1\.1\r\n")


class Distance:
    """Leads to `port`; `delay` are the seconds of a round trip."""

    def __init__(self, port: int, delay: float) -> None:
        self.requests = 0
        self._target = port
        self._delay = delay
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        started = asyncio.run_coroutine_threadsafe(self._listen(), self._loop)
        self.port = started.result()
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> "Distance":
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def _listen(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _serve(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        await asyncio.sleep(self._delay)
        far, forth = await asyncio.open_connection("127.0.0.1", self._target)
        with contextlib.suppress(OSError):
            await asyncio.gather(self._send(near, forth), _copy(far, back))

    async def _send(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        """What is sent in one go is late once, however much it is."""
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due, piece = await queue.get()
                await asyncio.sleep(max(0.0, due - self._loop.time()))
                if not piece:
                    target.close()
                    return
                target.write(piece)

        delivering = asyncio.create_task(deliver())
        while True:
            piece = await source.read(1 << 16)
            self.requests += len(_REQUEST.findall(piece))
            queue.put_nowait((self._loop.time() + self._delay, piece))
            if not piece:
                await delivering
                return


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while piece := await source.read(1 << 16):
        target.write(piece)
        await target.drain()
    target.close()

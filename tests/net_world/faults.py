"""A proxy in front of a server that spoils what passes: some requests, or all from now on.

It either understands HTTP, one request at a time, or passes on bytes.
"""

import contextlib
import socket
import struct
import threading
import time
from typing import Final

ANSWERS: Final = {
    "broken": b"HTTP/1.1 500 Broken\r\ncontent-length: 0\r\n\r\n",
    "busy": b"HTTP/1.1 503 Busy\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n",
}
FAULTS: Final = ("reset", "cut", "late", *ANSWERS)
"""A connection is reset before anything is done, or cut in the middle of an answer to what was
done; or the answer is late; or it is one of the answers above."""
_LATE: Final = 1.5


class FaultyProxy:
    """Leads to `target`; `spoil` says what happens to the next requests."""

    def __init__(self, target: int, is_http: bool) -> None:
        self._target = target
        self._is_http = is_http
        self._fault = ""
        self._left = 0
        self.spoiled = 0
        self._forgotten: list[socket.socket] = []
        self._guard = threading.Lock()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = int(self._socket.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "FaultyProxy":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self.heal()

    def spoil(self, fault: str, times: int = -1) -> None:
        """Let something go wrong so many times; without a number, always."""
        with self._guard:
            self._fault, self._left, self.spoiled = fault, times, 0

    def heal(self) -> None:
        """Spoil nothing any more; now the server notices who is not there any more."""
        self.spoil("", 0)
        while self._forgotten:
            _close(self._forgotten.pop())

    def _next(self) -> str:
        with self._guard:
            if not self._left:
                return ""
            self._left -= 1
            self.spoiled += 1
            return self._fault

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                serve = self._serve_http if self._is_http else self._serve_bytes
                threading.Thread(target=serve, args=(client,), daemon=True).start()

    # -- HTTP -----------------------------------------------------------------------------------

    def _serve_http(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            while request := _request(client):
                fault = self._next()
                if fault == "reset":
                    _reset(client)
                    return
                if fault in ANSWERS:
                    client.sendall(ANSWERS[fault])
                    continue
                if fault == "late":
                    time.sleep(_LATE)
                answer = self._answer(request)
                client.sendall(answer[: len(answer) // 2] if fault == "cut" else answer)
                return

    def _answer(self, request: bytes) -> bytes:
        """The whole answer; the server closes the connection after it."""
        head, _, body = request.partition(b"\r\n\r\n")
        with socket.create_connection(("127.0.0.1", self._target)) as server:
            server.sendall(head + b"\r\nconnection: close\r\n\r\n" + body)
            pieces = []
            while piece := server.recv(1 << 16):
                pieces.append(piece)
        return b"".join(pieces)

    # -- bytes ----------------------------------------------------------------------------------

    def _serve_bytes(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self._target))
        threading.Thread(target=_copy, args=(server, client), daemon=True).start()
        fault = ""
        with contextlib.suppress(OSError):
            while piece := client.recv(1 << 16):
                fault = self._next()
                if fault == "late":
                    time.sleep(_LATE)
                if fault == "reset":
                    _reset(client)
                    break
                server.sendall(piece)
                if fault == "cut":
                    break
        client.close()
        if fault == "cut":
            # A server does not always notice at once that nobody is there any more.
            self._forgotten.append(server)
        else:
            _close(server)


def _request(client: socket.socket) -> bytes:
    """One request with its content; nothing at the end of the connection."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = client.recv(1 << 16)
        if not piece:
            return b""
        data += piece
    head = data.partition(b"\r\n\r\n")[0]
    sizes = [
        int(line.partition(b":")[2])
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length:")
    ]
    while len(data) < len(head) + 4 + (sizes[0] if sizes else 0):
        data += client.recv(1 << 16)
    return data


def _reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _close(server: socket.socket) -> None:
    """Hang up, also where somebody still waits for an answer."""
    with contextlib.suppress(OSError):
        server.shutdown(socket.SHUT_RDWR)
    server.close()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(1 << 16):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)

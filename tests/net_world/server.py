"""A small HTTP(S) server on loopback: what it answers is a function, what it was asked is a list."""

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    """With its query."""
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes = b""

    @property
    def host(self) -> str:
        return self.headers.get("host", "")

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def compared(self) -> str:
        """The headers that two programs must send alike: who they say they are, and which version
        of OpenTofu a registry is asked for. A signature is another one each time.
        """
        who = self.headers.get("authorization", "").partition(", SignedHeaders=")[0]
        version = self.headers.get("x-terraform-version", "")
        return f"[{who}] [{version}]"


@dataclass(frozen=True)
class Answer:
    """One whole answer, with the length of its body unless a header says otherwise."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


Script: TypeAlias = Callable[[BufferedIOBase], None]
"""Writes whatever it likes, headers included; then the connection is closed."""
Handler: TypeAlias = Callable[[Asked], Answer | Script]

NOT_FOUND = Answer(404, b"no such thing here", {"content-type": "text/plain"})


def json_answer(document: object, status: int = 200, **headers: str) -> Answer:
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps(document).encode()
    return Answer(status, body, {"content-type": "application/json", **more})


def redirect(location: str, status: int = 302) -> Answer:
    return Answer(status, b"", {"location": location})


class Server:
    """Answers on `port` of 127.0.0.1 until it is closed. `log` has the requests in order."""

    def __init__(self, handler: Handler, certificate: Path | None = None) -> None:
        self.handler = handler
        self.log: list[Asked] = []
        self._http = _Http(("127.0.0.1", 0), _request_class(self), certificate)
        self.port = int(self._http.server_address[1])
        self.scheme = "http" if certificate is None else "https"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(
        self,
        address: tuple[str, int],
        handler: type[BaseHTTPRequestHandler],
        certificate: Path | None,
    ) -> None:
        super().__init__(address, handler)
        self._context: ssl.SSLContext | None = None
        if certificate is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(certificate)

    def finish_request(self, request: object, client_address: object) -> None:
        # The handshake belongs to the thread of the connection: it may never come.
        assert isinstance(request, socket.socket)
        if self._context is not None:
            request = self._context.wrap_socket(request, server_side=True)
        with contextlib.suppress(OSError):
            super().finish_request(request, client_address)
        with contextlib.suppress(OSError):
            request.close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up, or refuse a certificate, are what tests are about."""


def _request_class(server: Server) -> type[BaseHTTPRequestHandler]:
    class Request(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(size)
            is_cut = self.command == "LOCK" and "content-length" not in self.headers
            if is_cut or len(body) < size:
                # Who has sent half of a request and is gone has asked for nothing.
                self.close_connection = True
                return
            asked = Asked(self.command, self.path, headers, body)
            server.log.append(asked)
            answer = server.handler(asked)
            if not isinstance(answer, Answer):
                self.close_connection = True
                answer(self.wfile)
                return
            self.send_response(answer.status)
            given = {name.lower() for name in answer.headers}
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if "content-length" not in given and answer.status not in (204, 304):
                self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = answer  # noqa: N815
        do_LOCK = do_UNLOCK = answer  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            """The list of requests is enough."""

    return Request


class Proxy:
    """A proxy that leads every host name to a port of this machine: names without a resolver.

    Set HTTPS_PROXY to its `url`. `connected` has the `host:port` that were asked for.
    """

    def __init__(self, ports: Mapping[str, int]) -> None:
        self.ports = dict(ports)
        self.connected: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            head = b""
            while b"\r\n\r\n" not in head:
                piece = client.recv(4096)
                if not piece:
                    return
                head += piece
            target = head.split()[1].decode()
            self.connected.append(target)
            port = self.ports.get(target.rpartition(":")[0])
            if port is None:
                client.sendall(b"HTTP/1.1 502 Unknown host\r\ncontent-length: 0\r\n\r\n")
                return
            with socket.create_connection(("127.0.0.1", port)) as server:
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                other = threading.Thread(target=_copy, args=(server, client), daemon=True)
                other.start()
                _copy(client, server)
                other.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(1 << 16):
            target.sendall(piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def head(status: int = 200, **headers: str) -> bytes:
    """The first lines of an answer, for scripts."""
    lines = [
        f"HTTP/1.1 {status} Said",
        *(f"{n.replace('_', '-')}: {v}" for n, v in headers.items()),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


@contextlib.contextmanager
def serving(handler: Handler, certificate: Path | None = None) -> Iterator[Server]:
    with Server(handler, certificate) as server:
        yield server

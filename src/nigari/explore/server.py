"""The server of the page: on this machine only, for browsers with the token, until it is closed.

A page of another site cannot use it: the Host must be this server's, so that no other name leads
here, and every path begins with a token that only the address has which is printed and opened.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from nigari.explore.event_stream import Feed
from nigari.explore.page import Page

_HOST: Final = "127.0.0.1"
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_KEEP_ALIVE: Final = 10.0
"""Seconds between signs of life to a browser that waits for events."""


class PageServer:
    """Serves one page, and the events of an apply where there are any."""

    def __init__(self, page: Page, feed: Feed | None = None, port: int = 0) -> None:
        self.token: str = secrets.token_urlsafe(24)
        self._server = _Server((_HOST, port), _Handler)
        self._server.page = page
        self._server.feed = feed
        self._server.token = self.token
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._server.server_address[1]

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{_HOST}:{self.port}/{self.token}/"

    def replace(self, page: Page) -> None:
        """Serve another page from now on."""
        self._server.page = page

    def wait_for_streams(self, seconds: float) -> None:
        """Wait until everybody who follows the events has all of them, but not longer than that."""
        with self._server.changed:
            self._server.changed.wait_for(lambda: not self._server.streams, seconds)

    def __enter__(self) -> PageServer:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.is_closing = True
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    page: Page
    token: str
    feed: Feed | None
    is_closing = False

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.streams = 0
        """The number of followers of the events."""
        self.changed = threading.Condition()

    def count_streams(self, by: int) -> None:
        """Note that a browser begins to follow the events, or ends."""
        with self.changed:
            self.streams += by
            self.changed.notify_all()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore browsers that disconnect in the middle of a response."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "nigari"
    sys_version = ""

    def do_GET(self) -> None:
        path = self._checked_path()
        if path == "":
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page.html)
        elif path == "events" and self.server.feed is not None:
            self._stream(self.server.feed)
        elif path is not None:
            self._refuse(HTTPStatus.NOT_FOUND)

    def _checked_path(self) -> str | None:
        """The request's path; None after refusing a request without the token."""
        port = self.server.server_address[1]
        if self.headers.get("Host") not in (f"{_HOST}:{port}", f"localhost:{port}"):
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            self._refuse(HTTPStatus.FORBIDDEN)
            return None
        token, slash, rest = self.path.removeprefix("/").partition("/")
        if not slash or not hmac.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN)
            return None
        return rest.partition("?")[0]

    def _refuse(self, status: HTTPStatus) -> None:
        self._send(status, "text/plain; charset=utf-8", f"{status.phrase}\n")

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        data = text.encode()
        self._start(status, kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _start(self, status: HTTPStatus, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Security-Policy", self.server.page.policy)
        for name, value in _HEADERS.items():
            self.send_header(name, value)

    def _stream(self, feed: Feed) -> None:
        """Send every event there has been, and each that comes, until there are no more."""
        at = 0
        self.server.count_streams(1)
        try:
            self._start(HTTPStatus.OK, "text/event-stream")
            self.end_headers()
            while not self.server.is_closing:
                events, is_over = feed.after(at, _KEEP_ALIVE)
                at += len(events)
                lines = [f"data: {json.dumps(each, separators=(',', ':'))}\n\n" for each in events]
                self.wfile.write("".join(lines or [": \n\n"]).encode())
                if is_over and not events:
                    self.wfile.write(b"event: end\ndata: {}\n\n")
                    return
        except OSError:
            return
        finally:
            self.server.count_streams(-1)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged: addresses have the token in them."""

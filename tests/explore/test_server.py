"""The server: on this machine, for whoever has the address, with a policy that lets nothing in."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator

import pytest

from nigari.explore.event_stream import Feed
from nigari.explore.page import Page
from nigari.explore.server import PageServer


@pytest.fixture(name="feed")
def some_feed() -> Feed:
    return Feed()


@pytest.fixture(name="server")
def running(feed: Feed) -> Iterator[PageServer]:
    with PageServer(Page("<p>page", "default-src 'none'"), feed) as server:
        yield server


def ask(
    server: PageServer, path: str, headers: dict[str, str] | None = None, method: str = "GET"
) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request(method, path, headers=headers or {})
    return connection.getresponse()


def test_whoever_has_the_address_gets_the_page(server: PageServer) -> None:
    assert server.url.startswith("http://127.0.0.1:")
    answer = ask(server, f"/{server.token}/")
    assert (answer.status, answer.read()) == (200, b"<p>page")
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {}, 403),
        ("/wrong/", {}, 403),
        ("/{token}", {}, 403),
        ("/{token}x/", {}, 403),
        ("/{token}/other", {}, 404),
        ("/{token}/../../etc/passwd", {}, 404),
        ("/{token}/", {"Host": "example.com"}, 421),
        ("/{token}/", {"Host": "evil.example:{port}"}, 421),
        ("/{token}/events", {"Sec-Fetch-Site": "cross-site"}, 403),
        ("/{token}/", {"Host": "localhost:{port}"}, 200),
    ],
)
def test_nobody_else_does(
    server: PageServer, path: str, headers: dict[str, str], status: int
) -> None:
    given = {name: each.replace("{port}", str(server.port)) for name, each in headers.items()}
    answer = ask(server, path.replace("{token}", server.token), given)
    assert answer.status == status
    assert status == 200 or b"page" not in answer.read()


def test_only_reading_is_possible(server: PageServer) -> None:
    for method in ("POST", "PUT", "DELETE"):
        assert ask(server, f"/{server.token}/", method=method).status == 501


def test_events_come_as_they_happen_until_the_end(server: PageServer, feed: Feed) -> None:
    feed.add({"type": "apply_start", "at": 1})
    answer = ask(server, f"/{server.token}/events")
    assert answer.headers["Content-Type"] == "text/event-stream"
    assert json.loads(answer.readline().removeprefix(b"data: "))["at"] == 1

    def go_on() -> None:
        feed.add({"type": "end", "at": 2})
        feed.end()

    threading.Timer(0.05, go_on).start()
    rest = answer.read().decode()
    assert '{"type":"end","at":2}' in rest
    assert rest.endswith("event: end\ndata: {}\n\n")


def test_it_is_gone_afterwards(feed: Feed) -> None:
    with PageServer(Page("<p>page", ""), feed) as server:
        port = server.port
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection("127.0.0.1", port, timeout=2).request("GET", "/")

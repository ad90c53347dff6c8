"""The life of a server: what it offers, what it refuses, how it ends."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lsp.client import TIMEOUT, Client, ErrorAnswer


def test_initialize(tmp_path: Path) -> None:
    with Client(tmp_path) as client:
        assert client.initialized["serverInfo"]["name"] == "nigari"
        assert client.initialized["capabilities"]["textDocumentSync"]["change"] == 2


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (None, "utf-16"),
        (["utf-16"], "utf-16"),
        (["utf-8", "utf-16"], "utf-16"),
        (["utf-8"], "utf-8"),
        (["utf-8", "utf-32"], "utf-32"),
        (["unheard-of"], "utf-16"),
    ],
)
def test_position_encoding(tmp_path: Path, offered: list[str] | None, chosen: str) -> None:
    general = {} if offered is None else {"general": {"positionEncodings": offered}}
    with Client(tmp_path, capabilities=general) as client:
        assert client.initialized["capabilities"]["positionEncoding"] == chosen


def test_requests_out_of_turn(tmp_path: Path) -> None:
    client = Client(tmp_path)
    with pytest.raises(ErrorAnswer) as early:
        client.request("textDocument/hover", {})
    assert early.value.code == -32002
    with client:
        with pytest.raises(ErrorAnswer) as again:
            client.request("initialize", {"capabilities": {}})
        assert again.value.code == -32600
        with pytest.raises(ErrorAnswer) as unknown:
            client.request("textDocument/unheardOf", {})
        assert unknown.value.code == -32601


def test_after_shutdown_nothing_is_answered(tmp_path: Path) -> None:
    with Client(tmp_path) as client:
        client.request("shutdown")
        with pytest.raises(ErrorAnswer) as late:
            client.request("textDocument/diagnostic", {})
        assert late.value.code == -32600
        client.notify("exit")
        assert client.process.wait(TIMEOUT) == 0


def test_a_client_that_vanishes(tmp_path: Path) -> None:
    client = Client(tmp_path)
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(TIMEOUT) == 1
    assert client.unread() == []
    client.end()


def test_messages_that_are_none(tmp_path: Path) -> None:
    with Client(tmp_path) as client:
        client.send_raw(b"{nonsense")
        broken = client._take(lambda each: each.get("id") is None and "error" in each)
        assert broken["error"]["code"] == -32700
        with pytest.raises(ErrorAnswer) as wrong:
            client.request("textDocument/diagnostic", {"textDocument": {"uri": "untitled:1"}})
        assert wrong.value.code == -32602


def test_cancelled_requests_cost_nothing(tmp_path: Path) -> None:
    """A cancellation is noted while earlier requests are still being answered."""
    text = "".join(f'variable "v{n}" {{}}\n' for n in range(20_000))
    with Client(tmp_path, capabilities={"textDocument": {"diagnostic": {}}}) as client:
        client.open("main.tf", text)
        asked = [
            client.begin("textDocument/diagnostic", {"textDocument": client.document("main.tf")})
            for _ in range(20)
        ]
        for id_ in asked[1:]:
            client.notify("$/cancelRequest", {"id": id_})
        client.finish(asked[0])
        codes = []
        for id_ in asked[1:]:
            try:
                client.finish(id_)
            except ErrorAnswer as error:
                codes.append(error.code)
        assert codes.count(-32800) == len(codes) > 0


def test_socket(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "nigari", "lsp", "-port=0"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        port = int(process.stderr.readline().rpartition(b":")[2].strip(b".\n"))
        with socket.create_connection(("127.0.0.1", port)) as client:
            body = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
            client.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            assert client.recv(20).startswith(b"Content-Length: ")
        assert process.wait(TIMEOUT) == 1
    finally:
        process.kill()
        process.wait()
        for stream in (process.stderr, process.stdout):
            if stream is not None:
                stream.close()

import base64

import pytest

from nigari.providers.handshake import (
    COOKIE,
    COOKIE_NAME,
    Handshake,
    HandshakeError,
    PluginAddress,
    environment,
    parse,
)

CERTIFICATE = bytes(range(100))
ENCODED = base64.b64encode(CERTIFICATE).decode().rstrip("=")
SOCKET = PluginAddress("unix", "/tmp/p")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1|5|unix|/tmp/p|grpc|\n", Handshake(5, SOCKET)),
        ("1|6|unix|/tmp/p|grpc", Handshake(6, SOCKET)),
        ("1|6|tcp|127.0.0.1:99|grpc|", Handshake(6, PluginAddress("tcp", "127.0.0.1:99"))),
        (f"1|6|unix|/tmp/p|grpc|{ENCODED}", Handshake(6, SOCKET, CERTIFICATE)),
        (f"1|6|unix|/tmp/p|grpc|{ENCODED}|true", Handshake(6, SOCKET, CERTIFICATE)),
        ("1|5|unix|/tmp/p|grpc|extra", Handshake(5, SOCKET)),
    ],
)
def test_lines_that_are_understood(line: str, expected: Handshake) -> None:
    assert parse(line) == expected


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("hello", "instead of its connection details"),
        ("x" * 5000, "..."),
        ("2|5|unix|/tmp/p|grpc", "handshake instead of version 1"),
        ("1|4|unix|/tmp/p|grpc", "protocol '4'"),
        ("1|seven|unix|/tmp/p|grpc", "only protocols 5 and 6"),
        ("1|5|unix|/tmp/p", "gRPC"),
        ("1|5|unix|/tmp/p|netrpc", "gRPC"),
        ("1|5|pipe|/tmp/p|grpc", "pipe"),
        ("1|5|unix|/tmp/p|grpc|" + "!" * 60, "certificate"),
    ],
)
def test_lines_that_are_refused(line: str, part: str) -> None:
    with pytest.raises(HandshakeError, match=part):
        parse(line)


def test_environment_offers_both_protocols_and_no_certificate() -> None:
    result = environment({"HOME": "/h", "PLUGIN_CLIENT_CERT": "x"}, "/private")
    assert result["HOME"] == "/h"
    assert result[COOKIE_NAME] == COOKIE
    assert result["PLUGIN_PROTOCOL_VERSIONS"] == "5,6"
    assert result["PLUGIN_UNIX_SOCKET_DIR"] == "/private"
    assert "PLUGIN_CLIENT_CERT" not in result

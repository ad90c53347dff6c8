"""Starting the server on a pair of streams, or on a socket for one client."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from nigari.lsp.server import Server
from nigari.lsp.wire import Connection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, Final

_SWITCH_SECONDS: Final = 0.002
"""The seconds for which a thread may compute before others get their turn: requests come before
background work.
"""


def serve(reader: BinaryIO, writer: BinaryIO, environ: Mapping[str, str]) -> int:
    """Serve one client on two streams; the exit status."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    return Server(Connection(reader, writer), environ).run()


def serve_socket(
    host: str, port: int, environ: Mapping[str, str], listening: Callable[[str, int], None]
) -> int:
    """Serve the first client that connects. `listening` is called with the address; port 0 means
    any that is free.
    """
    import socket

    with socket.create_server((host, port)) as server:
        listening(*server.getsockname()[:2])
        client, _ = server.accept()
    with client, client.makefile("rb") as reader, client.makefile("wb") as writer:
        return serve(reader, writer, environ)

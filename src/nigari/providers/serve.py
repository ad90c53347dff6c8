"""Plugin server: any `Provider` behind plugin protocol 6, for `tofu` and for this program.

The gRPC server listens on a socket in a private directory. For callers that require mutual TLS
(they put their certificate into the environment) there is a relay in front of it, since gRPC's own
TLS rejects the certificates of such callers. Records of Python's `logging` are written to standard
error as the JSON lines that `tofu` and `nigari.providers.log` read.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, TextIO

from nigari.providers import api
from nigari.providers.fork_server import VARIABLE, be_fork_server
from nigari.providers.handshake import COOKIE, COOKIE_NAME
from nigari.providers.log import LogSettings
from nigari.providers.tunnel import ServerTunnel
from nigari.providers.wire.protocol import CONTROLLER, MAX_MESSAGE, SERVICE6

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    import grpc
    import grpc.aio

_PROTOCOL: Final = 6


def serve(provider: api.Provider) -> None:
    """Serve until the caller ends the plugin."""
    # go-plugin: without the cookie, the program explains itself and ends.
    if os.environ.get(COOKIE_NAME) != COOKIE:
        raise SystemExit(
            "This program is a provider plugin. It is started by tofu or nigari, not by hand."
        )
    # Ctrl-C reaches all programs of a terminal; the caller decides whether to end this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = os.environ.pop(VARIABLE, "")
    if not server or not be_fork_server(server, _import_all, lambda: _begin(provider)):
        _begin(provider)


def _begin(provider: api.Provider) -> None:
    log_to_caller(os.environ)
    asyncio.run(_serve(provider))


def _import_all() -> None:
    """Import the server's modules without starting anything that a fork would break."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    import grpc.aio  # noqa: F401

    import nigari.providers.wire.service  # noqa: F401


async def _serve(provider: api.Provider) -> None:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    import grpc.aio

    from nigari.providers.wire.service import ProviderService

    directory = tempfile.mkdtemp(
        prefix="plugin-", dir=os.environ.get("PLUGIN_UNIX_SOCKET_DIR") or None
    )
    ending = asyncio.Event()
    server = grpc.aio.server(
        options=[
            ("grpc.max_receive_message_length", MAX_MESSAGE),
            ("grpc.max_send_message_length", -1),
        ]
    )
    server.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler(SERVICE6, ProviderService(provider).handlers()),
            grpc.method_handlers_generic_handler(CONTROLLER, _controller(ending)),
        )
    )
    tunnel: ServerTunnel | None = None
    certificate = ""
    try:
        address = f"{directory}/plugin"
        server.add_insecure_port(f"unix:{address}")
        await server.start()
        if caller := os.environ.get("PLUGIN_CLIENT_CERT"):
            tunnel = ServerTunnel(address, caller)
            address, certificate = await tunnel.open(f"{directory}/tls")
        # go-plugin: core version, protocol, network, address, kind and certificate, in
        # one line. The caller waits for its end.
        sys.stdout.write(f"1|{_PROTOCOL}|unix|{address}|grpc|{certificate}\n")
        sys.stdout.flush()
        await ending.wait()
    finally:
        await server.stop(grace=1)
        if tunnel is not None:
            await tunnel.close()
        await provider.close()
        shutil.rmtree(directory, ignore_errors=True)


def _controller(ending: asyncio.Event) -> dict[str, grpc.RpcMethodHandler[object, object]]:
    import grpc

    from nigari.providers.wire import plugin_pb2

    async def shut_down(_request: plugin_pb2.Empty, _context: object) -> plugin_pb2.Empty:
        ending.set()
        return plugin_pb2.Empty()

    return {
        "Shutdown": grpc.unary_unary_rpc_method_handler(
            shut_down,
            request_deserializer=plugin_pb2.Empty.FromString,
            response_serializer=plugin_pb2.Empty.SerializeToString,
        )
    }


_LEVELS: Final = {
    "TRACE": 5,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    # Errors are always written: they explain failures.
    "OFF": logging.ERROR,
}
_USUAL: Final = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"})


def log_to_caller(environment: Mapping[str, str]) -> None:
    """Send log records from now on to the program that started this one."""
    settings = LogSettings.from_environment(environment)
    logging.basicConfig(
        level=_LEVELS[settings.level], handlers=[CallerHandler(sys.stderr)], force=True
    )


class CallerHandler(logging.StreamHandler[TextIO]):
    """Writes a line of JSON for each record."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "@level": _level(record.levelno),
            "@message": record.getMessage(),
            "@module": record.name,
            "@timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(),
        }
        line |= {name: value for name, value in vars(record).items() if name not in _USUAL}
        if record.exc_info:
            line["error"] = logging.Formatter().formatException(record.exc_info)
        return json.dumps(line, default=str)


def _level(number: int) -> str:
    for name in ("ERROR", "WARN", "INFO", "DEBUG"):
        if number >= _LEVELS[name]:
            return name.lower()
    return "trace"

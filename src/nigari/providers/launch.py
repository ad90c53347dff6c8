"""Connections to plugins: started ones, running ones, and their shutdown.

The result is a `Plugin`: an open connection with everything needed to explain its loss.
Deliberately unknown here: the messages on the connection (`client`) and the origin of programs
(`packages`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Mapping, Sequence

from nigari.diagnostics import Severity
from nigari.providers.api import ProviderDiagnostic
from nigari.providers.handshake import PROTOCOLS, Handshake, HandshakeError, PluginAddress, parse
from nigari.providers.log import LogSettings, PluginLog
from nigari.providers.process import PluginProcess, status_text
from nigari.providers.start import LaunchError, StartedPlugin, start, start_failure
from nigari.providers.wire.protocol import CONTROLLER, MAX_MESSAGE, STDIO
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    import grpc.aio

    from nigari.providers.tunnel import ClientTunnel

START_TIMEOUT: Final = 60.0
_GRACE: Final = 2.0


@record
class Reattach:
    """A running plugin that another process started and will end, from `TF_REATTACH_PROVIDERS`."""

    protocol: int
    address: PluginAddress


class Plugin:
    """A running plugin and the connection to it."""

    def __init__(
        self,
        name: str,
        protocol: int,
        channel: grpc.aio.Channel,
        log: PluginLog,
        process: PluginProcess | None = None,
        tunnel: ClientTunnel | None = None,
    ) -> None:
        self.name = name
        self.protocol = protocol
        self.channel = channel
        self._log = log
        self._process = process
        self._tunnel = tunnel
        self._stdio = asyncio.create_task(self._follow_stdio())
        self._closed = False

    async def failure(self, reason: str) -> ProviderDiagnostic:
        """Explain why a call failed. The explanation is the same for all calls that one crash
        interrupts.
        """
        status = await self._process.ended(within=_GRACE) if self._process is not None else None
        if status is None:
            what = f"The connection to the plugin {self.name} was lost: {reason}."
        else:
            what = f"The plugin {self.name} {status_text(status)} while it was working."
        advice = "This is a bug in the provider, not in the configuration."
        return ProviderDiagnostic(
            Severity.ERROR,
            "Provider plugin failure",
            f"{what} {advice}{_log_ending(self._log)}",
            about_provider=True,
        )

    async def close(self) -> None:
        """Shut the plugin down gracefully, and after a moment by force. A reattached one keeps
        running.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if self._process is not None:
                await self._shut_down()
        finally:
            self._stdio.cancel()
            await self.channel.close(None)
            if self._process is not None:
                await self._process.ended(within=_GRACE)
                await self._process.kill()
            if self._tunnel is not None:
                await self._tunnel.close()

    async def _shut_down(self) -> None:
        import grpc.aio

        from nigari.providers.wire import plugin_pb2

        # go-plugin: GRPCController.Shutdown asks the plugin to end by itself. It may end
        # before it answers.
        shut_down = self.channel.unary_unary(
            f"/{CONTROLLER}/Shutdown",
            request_serializer=plugin_pb2.Empty.SerializeToString,
            response_deserializer=plugin_pb2.Empty.FromString,
        )
        with contextlib.suppress(grpc.aio.AioRpcError):
            await shut_down(plugin_pb2.Empty(), timeout=_GRACE)

    async def _follow_stdio(self) -> None:
        """Consume the program's output while it serves: unread, it would block the program."""
        import grpc.aio

        from nigari.providers.wire import plugin_pb2

        # go-plugin: after the handshake, standard output and error of the program go
        # through GRPCStdio.
        stream = self.channel.unary_stream(
            f"/{STDIO}/StreamStdio",
            request_serializer=plugin_pb2.Empty.SerializeToString,
            response_deserializer=plugin_pb2.StdioData.FromString,
        )
        try:
            async for piece in stream(plugin_pb2.Empty()):
                self._log.feed(f"served {piece.channel}", piece.data)
        except grpc.aio.AioRpcError:
            pass


async def connect(started: StartedPlugin, start_timeout: float = START_TIMEOUT) -> Plugin:
    """Wait for a started plugin to be ready; raise `LaunchError` if it never is."""
    name, log = started.name, started.log
    process = await PluginProcess.adopt(started.program, log)
    try:
        shake = await _shake_hands(process, name, log, start_timeout)
        tunnel, address = await _address_of(shake)
        return Plugin(name, shake.protocol, _open_channel(address), log, process, tunnel)
    except BaseException:
        await process.kill()
        raise


async def launch(
    command: Sequence[str],
    name: str,
    environment: Mapping[str, str],
    start_timeout: float = START_TIMEOUT,
) -> Plugin:
    """Start a plugin program and connect to it."""
    return await connect(start(command, name, environment), start_timeout)


async def attach(reattach: Reattach, name: str, environment: Mapping[str, str]) -> Plugin:
    """Connect to a plugin that already runs."""
    log = PluginLog(name, LogSettings.from_environment(environment))
    return Plugin(name, reattach.protocol, _open_channel(reattach.address), log)


def parse_reattach(text: str) -> dict[str, Reattach]:
    """Parse `TF_REATTACH_PROVIDERS`: provider address to plugin; raise `ValueError` if it is
    invalid.
    """
    if not text:
        return {}
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("it is not valid JSON") from None
    if not isinstance(entries, dict):
        raise ValueError("it is not a JSON object")
    return {provider: _reattach(provider, entry) for provider, entry in entries.items()}


def _reattach(provider: str, entry: object) -> Reattach:
    match entry:
        case {
            "Protocol": "grpc",
            "Addr": {"Network": "unix" | "tcp" as network, "String": str(at)},
            **rest,
        }:
            # go-plugin: plugins from before 2021 omit the protocol version, which is 5.
            protocol = rest.get("ProtocolVersion") or 5
        case _:
            raise ValueError(f"the entry of {provider} does not name a gRPC plugin and its address")
    if protocol not in PROTOCOLS:
        raise ValueError(f"{provider} uses protocol {protocol}; only 5 and 6 are supported")
    return Reattach(protocol, PluginAddress(network, at))


async def _shake_hands(
    process: PluginProcess, name: str, log: PluginLog, within: float
) -> Handshake:
    try:
        line = await asyncio.wait_for(process.first_line(), within)
    except TimeoutError:
        raise LaunchError(_too_slow(name, within, log)) from None
    if not line:
        status = await process.ended(within=_GRACE)
        reason = "closed its output" if status is None else status_text(status)
        raise LaunchError(_no_handshake(name, f"{reason} before it printed anything", log))
    try:
        return parse(line)
    except HandshakeError as error:
        await process.ended(within=0.1)
        raise LaunchError(_no_handshake(name, str(error), log)) from None


async def _address_of(shake: Handshake) -> tuple[ClientTunnel | None, PluginAddress]:
    if shake.address.network == "unix":
        _make_private(shake.address.text)
    if shake.certificate is None:
        return None, shake.address
    from nigari.providers.tunnel import ClientTunnel

    tunnel = ClientTunnel(shake.address, shake.certificate)
    return tunnel, await tunnel.open()


def _make_private(socket: str) -> None:
    """Restrict the socket: old plugins choose its directory themselves, and it may be accessible to
    other users.
    """
    with contextlib.suppress(OSError):
        os.chmod(socket, 0o600)


def prepare_to_talk() -> None:
    """Import the modules for connections, which takes a while, during another wait."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    import grpc.aio  # noqa: F401 - imported only to be there when it is needed


def _open_channel(address: PluginAddress) -> grpc.aio.Channel:
    prepare_to_talk()
    import grpc.aio

    target = f"unix:{address.text}" if address.network == "unix" else address.text
    return grpc.aio.insecure_channel(
        target,
        options=[
            ("grpc.max_receive_message_length", MAX_MESSAGE),
            # gRPC limits messages to 4 MiB by default, which schemas and large states
            # exceed.
            ("grpc.max_send_message_length", -1),
            # Go servers reject the authority that gRPC would derive from the path of
            # a socket.
            ("grpc.default_authority", "localhost"),
            # The address is local, whatever proxy the environment names.
            ("grpc.enable_http_proxy", 0),
        ],
    )


def _log_ending(log: PluginLog) -> str:
    ending = log.ending()
    return f"\n\nThe end of its log:\n{ending}" if ending else ""


def _too_slow(name: str, timeout: float, log: PluginLog) -> ProviderDiagnostic:
    return start_failure(
        f"The plugin of {name} did not print its connection details within {timeout:g} seconds."
        + _log_ending(log)
    )


def _no_handshake(name: str, reason: str, log: PluginLog) -> ProviderDiagnostic:
    return start_failure(f"The plugin of {name} {reason}.{_log_ending(log)}")

"""Plugin handshake: the plugin's environment, and the parser of its first output line.

Pure text in, data out; `launch` starts the program.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


COOKIE_NAME: Final = "TF_PLUGIN_MAGIC_COOKIE"
COOKIE: Final = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2"
"""Magic cookie without which every plugin of this family refuses to run. Not a secret: it prevents
accidental execution.
"""

PROTOCOLS: Final = (5, 6)

_CORE_PROTOCOL: Final = "1"
_SHORTEST_CERTIFICATE: Final = 50
"""Some old plugins print other, shorter text in the certificate's field."""


class HandshakeError(Exception):
    """An unusable first line; the text completes "the plugin …"."""


@record
class PluginAddress:
    """Address of a plugin: `unix` and a path, or `tcp` and host:port."""

    network: str
    text: str


@record
class Handshake:
    """Connection details of a ready plugin."""

    protocol: int
    address: PluginAddress
    certificate: bytes | None = None
    """In DER, if the plugin requires TLS."""


def environment(base: Mapping[str, str], socket_directory: str) -> dict[str, str]:
    """Build a plugin's environment: the user's own, and the variables of the handshake."""
    # A certificate in the environment is a demand for mutual TLS. It came from the caller of
    # this process and does not concern the plugin.
    result = {name: value for name, value in base.items() if name != "PLUGIN_CLIENT_CERT"}
    result[COOKIE_NAME] = COOKIE
    result["PLUGIN_PROTOCOL_VERSIONS"] = ",".join(str(version) for version in PROTOCOLS)
    result["PLUGIN_UNIX_SOCKET_DIR"] = socket_directory
    # go-plugin: the range for plugins without Unix sockets.
    result["PLUGIN_MIN_PORT"] = "10000"
    result["PLUGIN_MAX_PORT"] = "25000"
    return result


def parse(line: str) -> Handshake:
    """Parse `core|protocol|network|address|kind|certificate`; the last two may be missing."""
    parts = line.strip().split("|")
    if len(parts) < 4:
        raise HandshakeError(
            f"printed {_quoted(line)} instead of its connection details, so it is not a provider "
            "plugin, or something else writes to its standard output"
        )
    core, protocol, network, address = parts[:4]
    # go-plugin: the field was added with gRPC; plugins without it speak net/rpc.
    kind = parts[4] if len(parts) > 4 else "netrpc"
    certificate = parts[5] if len(parts) > 5 else ""
    if core != _CORE_PROTOCOL:
        raise HandshakeError(f"uses version {_quoted(core)} of the handshake instead of version 1")
    if not protocol.isdecimal() or int(protocol) not in PROTOCOLS:
        raise HandshakeError(
            f"uses plugin protocol {_quoted(protocol)}; only protocols 5 and 6 are supported, so "
            "a different version of the provider is required"
        )
    if kind != "grpc":
        raise HandshakeError(
            f"uses {_quoted(kind)} instead of gRPC, as very old plugins did; a newer version of "
            "the provider is required"
        )
    if network not in ("unix", "tcp") or not address:
        raise HandshakeError(f"offers only a connection by {_quoted(network + ' ' + address)}")
    return Handshake(int(protocol), PluginAddress(network, address), _certificate(certificate))


def _certificate(text: str) -> bytes | None:
    # go-plugin uses the same threshold.
    if len(text) <= _SHORTEST_CERTIFICATE:
        return None
    try:
        # go-plugin writes base64 without padding (RawStdEncoding).
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        raise HandshakeError("sent a certificate that cannot be read") from None


def _quoted(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 120 else text[:117] + "...")

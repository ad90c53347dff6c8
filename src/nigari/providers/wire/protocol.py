"""The names of the methods of the provider service in each protocol.

Methods have the names of protocol 6 here; protocol 5 calls some of them differently.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_PROTOCOL5_NAMES: Final = {
    "GetProviderSchema": "GetSchema",
    "ValidateProviderConfig": "PrepareProviderConfig",
    "ValidateResourceConfig": "ValidateResourceTypeConfig",
    "ValidateDataResourceConfig": "ValidateDataSourceConfig",
    "ConfigureProvider": "Configure",
    "StopProvider": "Stop",
}

SERVICE6: Final = "tfplugin6.Provider"
CONTROLLER: Final = "plugin.GRPCController"
STDIO: Final = "plugin.GRPCStdio"

MAX_MESSAGE: Final = 2**31 - 1
"""What OpenTofu takes; gRPC's own limit of 4 MiB is far below what objects may have in them."""

MAX_SCHEMA: Final = 64 * 1024 * 1024
"""What OpenTofu takes of a schema."""


def method_path(protocol: int, method: str) -> str:
    """The full name of a provider method on the wire."""
    if protocol == 5:
        return f"/tfplugin5.Provider/{_PROTOCOL5_NAMES.get(method, method)}"
    return f"/{SERVICE6}/{method}"

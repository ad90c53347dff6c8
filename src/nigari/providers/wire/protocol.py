"""Method names of the provider service in each protocol version.

Methods have their names of protocol 6 here; protocol 5 has other names for some of them.
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
"""OpenTofu's limit; gRPC's default of 4 MiB is far too low for large objects."""

MAX_SCHEMA: Final = 64 * 1024 * 1024
"""OpenTofu's limit for schemas."""


def method_path(protocol: int, method: str) -> str:
    """Return the full name of a provider method on the wire."""
    if protocol == 5:
        return f"/tfplugin5.Provider/{_PROTOCOL5_NAMES.get(method, method)}"
    return f"/{SERVICE6}/{method}"

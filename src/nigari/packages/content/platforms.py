"""Platform names of provider packages."""

from __future__ import annotations

import sys

from nigari.system_calls import machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


# Names of processors in Go (GOARCH), which provider packages use.
_MACHINES: Final = {
    "x86_64": "amd64",
    "amd64": "amd64",
    "aarch64": "arm64",
    "arm64": "arm64",
    "i386": "386",
    "i686": "386",
    "armv6l": "arm",
    "armv7l": "arm",
}


def current_platform() -> str:
    """Return the platform of this machine, such as `linux_amd64`."""
    processor = machine().lower()
    # Some systems append their version to the name.
    system = "windows" if sys.platform == "win32" else sys.platform.rstrip("0123456789")
    return f"{system}_{_MACHINES.get(processor, processor)}"

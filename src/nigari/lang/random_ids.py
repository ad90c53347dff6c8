"""Random identifiers, in the notation of UUIDs.

All bits are random, as in OpenTofu's. `uuid` would do the same, and imports `platform` for what is
not needed here.
"""

from __future__ import annotations

import os


def random_uuid() -> str:
    """An identifier that nothing else has."""
    digits = os.urandom(16).hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

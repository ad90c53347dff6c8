"""Random identifiers in UUID notation.

All bits are random, as in OpenTofu's. The module `uuid` would do the same, but imports `platform`,
which is not needed here.
"""

from __future__ import annotations

import os


def random_uuid() -> str:
    """Create a unique identifier."""
    digits = os.urandom(16).hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

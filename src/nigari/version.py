"""The versions this program speaks of: its own, and the OpenTofu whose behaviour it follows.

Knows nothing else, so that `nigari version` costs nothing to import.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


VERSION: Final = "0.1.0"
OPENTOFU_VERSION: Final = "1.12.6"
NEXT_LANGUAGE: Final = "1.13.0"
"""The version whose language is known already, so that modules may require it:
`docs/decisions/opentofu-version.md`.
"""

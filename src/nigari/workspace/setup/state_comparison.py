"""States that are moved from one backend to another, seen from outside: empty, or the same."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_CONTENT: Final = ("lineage", "outputs", "resources", "check_results")


def is_empty(data: bytes) -> bool:
    """Whether there is nothing worth moving. What cannot be read, such as an encrypted state, is."""
    try:
        state = json.loads(data or b"{}")
        return not state.get("encrypted_data") and not (
            state.get("resources") or state.get("outputs")
        )
    except (ValueError, AttributeError):
        return False


def is_same(first: bytes, second: bytes) -> bool:
    """Whether two texts are the same state of the same lineage, whatever their layout, serial and
    the program that wrote them.
    """
    try:
        one, other = json.loads(first or b"{}"), json.loads(second or b"{}")
        if one.get("encrypted_data") or other.get("encrypted_data") or not one.get("lineage"):
            return False
        return all((one.get(name) or None) == (other.get(name) or None) for name in _CONTENT)
    except (ValueError, AttributeError):
        return False

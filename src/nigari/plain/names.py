"""Names for what one block becomes: `m["eu-west"]` is `m_eu-west`, `m[0]` is `m_0`."""

from __future__ import annotations

from collections.abc import Container, Iterable

from nigari.addrs.keys import InstanceKey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_ALLOWED: Final = frozenset("_-")


def names_for_keys(
    base: str, keys: Iterable[InstanceKey], taken: Container[str]
) -> dict[InstanceKey, str]:
    """A free identifier for each instance of a block; an instance without a key keeps the name."""
    found: dict[InstanceKey, str] = {}
    used: set[str] = set()
    for key in keys:
        name = base if key is None else free_name(f"{base}_{identifier(str(key))}", taken, used)
        found[key] = name
        used.add(name)
    return found


def free_name(name: str, *taken: Container[str]) -> str:
    """The name, or the name with the first number that makes it free."""
    number, free = 2, name
    while any(free in each for each in taken):
        free, number = f"{name}_{number}", number + 1
    return free


def identifier(text: str) -> str:
    """A text with an underscore for each character that cannot be part of a name."""
    return "".join(each if each.isalnum() or each in _ALLOWED else "_" for each in text)

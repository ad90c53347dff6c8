"""Instance keys: the parts in brackets of `module.a[0]` and `aws_vpc.b["eu"]`.

A key is plain data: `None` (not expanded), an integer (`count`), a string (`for_each`), or
`DEFERRED`, which represents all instances of an unknown expansion.
"""

from __future__ import annotations

from enum import Enum

from nigari.hcl.quoting import quoted

TYPE_CHECKING = False
# Loading values costs start-up time, and only parsed addresses need them.
if TYPE_CHECKING:
    from typing import Final, TypeAlias

    from nigari.cty.values import Value


class Deferred(Enum):
    """Type of `DEFERRED`, the single key of all instances of an unknown expansion."""

    DEFERRED = "[*]"


DEFERRED: Final = Deferred.DEFERRED

_INTEGERS: Final = range(-(2**63), 2**63)
"""The range of integer keys: 64 bits."""

InstanceKey: TypeAlias = int | str | Deferred | None


def key_text(key: InstanceKey) -> str:
    """Format a key with its brackets, as in an address; empty for no key."""
    if key is None:
        return ""
    if isinstance(key, str):
        return f"[{quoted(key)}]"
    if isinstance(key, Deferred):
        return "[*]"
    return f"[{key}]"


def key_order(key: InstanceKey) -> tuple[int, int, str]:
    """Sort keys: none, deferred, integers by size, strings by code point."""
    if key is None:
        return (0, 0, "")
    if isinstance(key, str):
        return (3, 0, key)
    if isinstance(key, Deferred):
        return (1, 0, "")
    return (2, key, "")


def key_from_value(value: Value) -> int | str | None:
    """Convert an index value to a key; None if no instance can have such a key."""
    if not value.is_known or value.is_null:
        return None
    from nigari.cty.types import KIND_NUMBER, KIND_STRING

    if value.type.kind == KIND_STRING:
        return value.as_string()
    if value.type.kind == KIND_NUMBER:
        number = value.as_number()
        return number if isinstance(number, int) and number in _INTEGERS else None
    return None

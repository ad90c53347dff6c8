"""By which attribute people recognise an object: its id, or else its name."""

from __future__ import annotations

from nigari.cty.types import STRING
from nigari.cty.values import Value
from nigari.hcl.quoting import visible

_KEYS = ("id", "name")


def object_id(value: Value | None) -> tuple[str, str] | None:
    """The attribute and its value; an object that has an id is not known by its name."""
    if value is None or not isinstance(value.data, dict):
        return None
    for key in _KEYS:
        found = value.data.get(key)
        if isinstance(found, Value) and found.type == STRING:
            is_shown = not found.is_marked and isinstance(found.data, str)
            return (key, str(found.data)) if is_shown and found.data else None
    return None


def object_id_or_name(value: Value | None) -> tuple[str, str] | None:
    """The same; an object whose id is not known yet may have a name."""
    found = object_id(value)
    if found is not None or value is None or not isinstance(value.data, dict):
        return found
    name = value.data.get("name")
    if isinstance(name, Value) and not name.is_marked and isinstance(name.data, str) and name.data:
        return "name", name.data
    return None


def id_note(found: tuple[str, str] | None) -> str:
    """The note in brackets that follows a line about an object."""
    return "" if found is None else f" [{found[0]}={visible(found[1])}]"

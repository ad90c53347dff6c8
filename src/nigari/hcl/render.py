"""Values as source of the native syntax.

The source reads back as the same value, as far as the language can express it: collections come
back as tuples and objects, which convert to every other type.
"""

from __future__ import annotations

from nigari.cty import numbers
from nigari.cty.values import Value
from nigari.hcl.quoting import quoted
from nigari.hcl.scanner import is_identifier


def render_value(value: Value, indent: str = "") -> str:
    """Write a wholly known, unmarked value as source; raise `ValueError` for others.

    Objects and maps have a line for each attribute, indented by `indent`.
    """
    if not value.is_wholly_known:
        raise ValueError("an unknown value cannot be written as source")
    if value.contains_marked:
        raise ValueError("a marked value must not be written as source")
    return _render(value, indent)


def render_key(name: str) -> str:
    """Write an attribute name in an object constructor: bare if possible, otherwise quoted."""
    return name if is_identifier(name) else quoted(name)


def _render(value: Value, indent: str) -> str:
    data = value.data
    if data is None:
        return "null"
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, str):
        return quoted(data)
    if isinstance(data, int | numbers.Number):
        if numbers.is_infinite(data):
            raise ValueError("an infinite number cannot be written as source")
        return numbers.to_text(data)
    if isinstance(data, tuple):
        return f"[{', '.join([_render(element, indent) for element in value.elements()])}]"
    if not isinstance(data, dict):
        raise ValueError(f"{value.type.with_article()} cannot be written as source")
    if not data:
        return "{}"
    inner = f"{indent}  "
    keys = {name: render_key(name) for name in sorted(data)}
    widest = max([len(key) for key in keys.values()])
    lines = [
        f"{inner}{key.ljust(widest)} = {_render(value.mapping()[name], inner)}\n"
        for name, key in keys.items()
    ]
    return f"{{\n{''.join(lines)}{indent}}}"

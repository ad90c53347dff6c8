"""Two values side by side: what is new, what goes, what changes, and how much stays the same.

A value is shown as lines of which the first follows an equals sign. A mark before each part says
what becomes of it. What must not be shown is not, and what is not known is said to be so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Final, TypeAlias

from nigari.cty.paths import GetAttr, Index, Path
from nigari.cty.types import KIND_MAP, KIND_OBJECT, KIND_SET, STRING
from nigari.cty.values import Value
from nigari.hcl.scanner import is_identifier
from nigari.lang.marks import SENSITIVE
from nigari.lang.render import value_display

UNKNOWN: Final = "(known after apply)"
SECRET: Final = "(sensitive value)"
FORCES: Final = " # forces replacement"

Forces: TypeAlias = Callable[[Path], bool]
"""Whether a change at a path makes another object necessary."""


def never(path: Path) -> bool:
    """Nothing forces a replacement."""
    return False


def whole(value: Value, mark: str, indent: int) -> list[str]:
    """A value that is all new, all going or all the same."""
    if SENSITIVE in value.marks:
        return [SECRET]
    if not value.is_known:
        return [UNKNOWN]
    if value.is_null or not isinstance(value.data, dict | tuple):
        return simple(value, indent)
    is_mapping = isinstance(value.data, dict)
    if not value.data:
        return ["{}" if is_mapping else "[]"]
    space = " " * (indent + 4)
    lines = ["{" if is_mapping else "["]
    if is_mapping:
        keys = keys_of(value, value)
        width = max(len(shown) for shown in keys.values())
        for key, shown in keys.items():
            inner = whole(value.mapping()[key], mark, indent + 4)
            lines.append(f"{space}{mark} {shown:<{width}} = {inner[0]}")
            lines.extend(inner[1:])
    else:
        for element in value.sequence():
            inner = whole(element, mark, indent + 4)
            lines.append(f"{space}{mark} {inner[0]}")
            lines.extend(inner[1:])
            lines[-1] += ","
    lines.append(f"{' ' * (indent + 2)}{'}' if is_mapping else ']'}")
    return lines


def simple(value: Value, indent: int) -> list[str]:
    """A value without parts."""
    if value.is_null:
        return ["null"]
    if isinstance(value.data, str):
        return text_lines(value.data, indent)
    return [value_display(value)]


def text_lines(text: str, indent: int) -> list[str]:
    """A string: quoted, or over several lines where it has some."""
    if "\n" not in text.rstrip("\n") or not text.replace("\n", "").isprintable():
        return [json.dumps(text, ensure_ascii=False)]
    space = " " * (indent + 4)
    return ["<<-EOT", *[f"{space}{line}" for line in text.splitlines()], f"{' ' * (indent + 2)}EOT"]


def keys_of(before: Value, after: Value) -> dict[str, str]:
    """The keys of two mappings in order, each as it is shown."""
    found = sorted({*before.mapping(), *after.mapping()})
    is_map = after.type.kind == KIND_MAP
    return {
        key: json.dumps(key, ensure_ascii=False) if is_map or not is_identifier(key) else key
        for key in found
    }


def changed(
    before: Value, after: Value, indent: int, path: Path = (), forces: Forces = never
) -> list[str]:
    """A value that becomes another one."""
    note = FORCES if forces(path) else ""
    if SENSITIVE in before.marks or SENSITIVE in after.marks:
        return [f"{SECRET}{note}"]
    if _is_comparable(before, after):
        if isinstance(after.data, dict):
            return _noted(_mappings(before, after, indent, path, forces), note)
        if after.type.kind == KIND_SET:
            return _noted(_sets(before, after, indent), note)
        return _noted(_sequences(before, after, indent, path, forces), note)
    old, new = whole(before, "-", indent), whole(after, "+", indent)
    if len(old) == 1 and len(new) == 1:
        return [f"{old[0]} -> {new[0]}{note}"]
    return [*old[:-1], f"{old[-1]} -> {new[0]}{note if len(new) == 1 else ''}", *new[1:]]


def _noted(lines: list[str], note: str) -> list[str]:
    return [f"{lines[0]}{note}", *lines[1:]]


def _is_comparable(before: Value, after: Value) -> bool:
    if before.is_null or after.is_null or not before.is_known or not after.is_known:
        return False
    if isinstance(before.data, dict):
        return isinstance(after.data, dict)
    if not isinstance(before.data, tuple) or not isinstance(after.data, tuple):
        return False
    return (before.type.kind == KIND_SET) is (after.type.kind == KIND_SET)


def hidden(count: int, what: str, indent: int) -> list[str]:
    """That so many parts stay the same."""
    if not count:
        return []
    return [f"{' ' * indent}# ({count} unchanged {what}{'s' if count > 1 else ''} hidden)"]


def _mappings(before: Value, after: Value, indent: int, path: Path, forces: Forces) -> list[str]:
    space = " " * (indent + 4)
    one, other = before.mapping(), after.mapping()
    keys = keys_of(before, after)
    differing = [key for key in keys if one.get(key) != other.get(key)]
    width = max((len(keys[key]) for key in differing), default=0)
    is_object = after.type.kind == KIND_OBJECT
    lines = ["{"]
    for key in differing:
        here = (*path, GetAttr(key) if is_object else Index(Value(STRING, key)))
        mark, inner = part(one.get(key), other.get(key), indent + 4, here, forces)
        lines.append(f"{space}{mark} {keys[key]:<{width}} = {inner[0]}")
        lines.extend(inner[1:])
    what = "attribute" if is_object else "element"
    lines += hidden(len(keys) - len(differing), what, indent + 6)
    return [*lines, f"{' ' * (indent + 2)}}}"]


def part(
    before: Value | None, after: Value | None, indent: int, path: Path = (), forces: Forces = never
) -> tuple[str, list[str]]:
    """The mark of a part that may be there only before or only after, and its lines."""
    if before is None or (before.is_null and after is not None and not after.is_null):
        assert after is not None
        lines = whole(after, "+", indent)
        return "+", _noted(lines, FORCES) if forces(path) else lines
    if after is None or (after.is_null and not before.is_null):
        lines = whole(before, "-", indent)
        lines[-1] += " -> null"
        return "-", _noted(lines, FORCES) if forces(path) else lines
    return "~", changed(before, after, indent, path, forces)


def _sets(before: Value, after: Value, indent: int) -> list[str]:
    space = " " * (indent + 4)
    one, other = list(before.sequence()), list(after.sequence())
    lines = ["["]
    for mark, elements, others in (("-", one, other), ("+", other, one)):
        for element in elements:
            if element not in others:
                inner = whole(element, mark, indent + 4)
                lines += [f"{space}{mark} {inner[0]}", *inner[1:]]
                lines[-1] += ","
    same = sum(1 for element in other if element in one)
    lines += hidden(same, "element", indent + 6)
    return [*lines, f"{' ' * (indent + 2)}]"]


def _sequences(before: Value, after: Value, indent: int, path: Path, forces: Forces) -> list[str]:
    one, other = before.sequence(), after.sequence()
    space = " " * (indent + 4)
    lines = ["["]

    def show(mark: str, inner: list[str]) -> None:
        lines.append(f"{space}{mark} {inner[0]}")
        lines.extend(inner[1:])
        lines[-1] += ","

    matcher = SequenceMatcher(None, one, other, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            lines += hidden(b - a, "element", indent + 6)
            continue
        pairs = min(b - a, d - c)
        for offset in range(pairs):
            show("~", changed(one[a + offset], other[c + offset], indent + 4))
        for element in one[a + pairs : b]:
            show("-", whole(element, "-", indent + 4))
        for element in other[c + pairs : d]:
            show("+", whole(element, "+", indent + 4))
    return [*lines, f"{' ' * (indent + 2)}]"]

"""Paths into values: steps, walking a value, and rebuilding one from its parts."""

from collections.abc import Callable, Iterator

from nigari.cty import numbers
from nigari.cty.errors import Step
from nigari.cty.types import (
    KIND_NUMBER,
    KIND_OBJECT,
    KIND_SET,
    KIND_STRING,
    KIND_TUPLE,
    NUMBER,
    STRING,
)
from nigari.cty.values import (
    HAS_UNKNOWN,
    Value,
    list_value,
    map_value,
    null,
    object_value,
    set_value,
    tuple_value,
)


class GetAttr(Step):
    """Step to an attribute of an object."""

    __slots__ = ("name",)

    name: str

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GetAttr) and self.name == other.name

    def __hash__(self) -> int:
        return hash(("attr", self.name))

    def __reduce__(self) -> tuple[object, ...]:
        return (GetAttr, (self.name,))

    def __repr__(self) -> str:
        return f".{self.name}"


class Index(Step):
    """Step to an element of a list, tuple, map or set; the key may be unknown."""

    __slots__ = ("key",)

    key: Value

    def __init__(self, key: Value) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Index) and self.key == other.key

    def __hash__(self) -> int:
        return hash(("index", self.key))

    def __reduce__(self) -> tuple[object, ...]:
        return (Index, (self.key,))

    def __repr__(self) -> str:
        return f"[{_key_text(self.key)}]"


Path = tuple[Step, ...]


def index_step(key: int | str) -> Index:
    """Build the step to an element from a plain Python key."""
    return Index(Value(STRING, key) if isinstance(key, str) else Value(NUMBER, key))


def path_text(path: Path) -> str:
    """Write a path as it would follow a name: `.tags["a"][0]`."""
    return "".join([repr(step) for step in path])


def _key_text(key: Value) -> str:
    if not key.is_known or key.is_null or key.is_marked:
        return "…"
    if key.type.kind == KIND_STRING:
        escaped = key.as_string().replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if key.type.kind == KIND_NUMBER:
        return numbers.to_text(key.as_number())
    return "…"


def child_steps(value: Value) -> list[tuple[Step, Value]]:
    """List the parts of a known value, each with the step that leads to it."""
    data = value.data
    if isinstance(data, dict):
        if value.type.is_collection:
            return [(Index(Value(STRING, key)), data[key]) for key in sorted(data)]
        return [(GetAttr(name), data[name]) for name in sorted(data)]
    if isinstance(data, tuple):
        if value.type.kind == KIND_SET:
            return [(Index(element), element) for element in data]
        return [(Index(Value(NUMBER, i)), element) for i, element in enumerate(data)]
    return []


def walk(value: Value) -> Iterator[tuple[Path, Value]]:
    """Yield the value and all its parts at any depth, outermost first, each with its path."""
    pending: list[tuple[Path, Value]] = [((), value)]
    while pending:
        path, current = pending.pop()
        yield path, current
        for step, part in reversed(child_steps(current)):
            pending.append(((*path, step), part))


def transform(value: Value, change: Callable[[Path, Value], Value], path: Path = ()) -> Value:
    """Replace every part by the result of `change`, innermost first.

    A part that changes its type changes the types of its containers, except for collections, whose
    elements must keep one type.
    """
    parts = child_steps(value)
    if parts:
        changed = [transform(part, change, (*path, step)) for step, part in parts]
        if any(new is not old for new, (_, old) in zip(changed, parts, strict=True)):
            value = replace_parts(value, changed)
    return change(path, value)


def replace_parts(value: Value, parts: list[Value]) -> Value:
    """Rebuild a value of the same kind and marks from other parts, in the order of `child_steps`."""
    data = value.data
    kind = value.type.kind
    if isinstance(data, dict):
        attributes = dict(zip(sorted(data), parts, strict=True))
        if kind == KIND_OBJECT:
            return object_value(attributes).with_marks(value.marks)
        return map_value(parts[0].type, attributes).with_marks(value.marks)
    if kind == KIND_TUPLE:
        return tuple_value(parts).with_marks(value.marks)
    if kind == KIND_SET:
        return set_value(parts[0].type, parts).with_marks(value.marks)
    return list_value(parts[0].type, parts).with_marks(value.marks)


def unknown_as_null(value: Value) -> Value:
    """Replace every unknown part by null, for formats that cannot represent unknown values."""
    if not value.flags & HAS_UNKNOWN:
        return value
    if not value.is_known:
        return null(value.type).with_marks(value.marks)
    return replace_parts(value, [unknown_as_null(part) for _, part in child_steps(value)])


def infinite_as_null(value: Value) -> tuple[Value, list[Path]]:
    """Replace every infinite number by null, and list their paths."""
    found: list[Path] = []
    for path, part in walk(value):
        number = part.data
        if isinstance(number, numbers.Number) and numbers.is_infinite(number):
            found.append(path)
    if not found:
        return value, found
    return transform(value, _finite), found


def _finite(_path: Path, part: Value) -> Value:
    number = part.data
    if isinstance(number, numbers.Number) and numbers.is_infinite(number):
        return null(part.type).with_marks(part.marks)
    return part

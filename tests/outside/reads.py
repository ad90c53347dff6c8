"""What configurations read of resources: `aws_x.y[0].endpoint[0].address` is a path into one.

Owns following references through indexes, splats, `for` and locals to the resource they begin at.
Deliberately unknown: what types follow from the paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import For
from nigari.hcl.expressions import Expression, Index, Parentheses, Reference, RelativeTraversal
from nigari.hcl.splats import Splat, SplatItem
from nigari.hcl.templates import TemplateWrap
from nigari.hcl.traversal import Step, TraverseAttr, TraverseIndex, TraverseRoot

ELEMENT: Final = "[]"
"""The step to an element of a list, beside the names of attributes."""
FIELD: Final = "{}"
"""The step to an element by a key that is a text, as of a map."""
_FIRST_OF: Final = ("one", "element", "try", "tolist", "toset", "sort", "compact", "coalesce")
_TAKES_LIST: Final = frozenset(
    (
        *("length", "slice", "element", "concat", "toset", "tolist", "sort", "one", "compact"),
        *("distinct", "reverse", "setproduct", "zipmap", "contains", "index", "flatten"),
        *("setunion", "setintersection", "setsubtract", "coalescelist", "chunklist", "join"),
    )
)
_DEEPEST: Final = 6

Kind = tuple[str, str]
"""A mode (`resource`, `data`, `ephemeral`) and a type."""


@dataclass(frozen=True)
class Path:
    """Steps into the resources of a kind."""

    kind: Kind
    steps: tuple[str, ...] = ()
    splat: bool = False
    """Whether a splat has collected what the steps lead to, so that it is a list already."""

    def then(self, *steps: str) -> Path:
        return Path(self.kind, self.steps + steps, self.splat)

    def element(self) -> Path:
        """The path to an element of what this leads to."""
        return Path(self.kind, self.steps) if self.splat else self.then(ELEMENT)

    def collected(self) -> Path:
        """The path to all elements, by a splat."""
        return Path(self.kind, (*self.steps, ELEMENT), splat=True)


@dataclass
class Names:
    """What names mean in one module: locals by their expressions, and what is bound around."""

    locals: Mapping[str, Expression] = field(default_factory=dict)
    bound: dict[str, Path | None] = field(default_factory=dict)
    self_kind: Kind | None = None
    depth: int = 0

    def binding(self, names: dict[str, Path | None]) -> Names:
        return Names(self.locals, {**self.bound, **names}, self.self_kind, self.depth)

    def deeper(self) -> Names:
        return Names(self.locals, {}, None, self.depth + 1)


def paths(expression: Expression, names: Names) -> Iterator[tuple[Path, bool]]:
    """Every path that an expression reads, and whether a list is expected at its end."""
    found = _path(expression, names)
    if found is not None:
        yield found, False
    if isinstance(expression, For):
        yield from _in_loop(expression, names)
        return
    lists = isinstance(expression, FunctionCall) and expression.name in _TAKES_LIST
    for child in expression.children():
        if lists and (inner := _path(child, names)) is not None:
            yield inner, not inner.splat
        yield from paths(child, names)


def _in_loop(loop: For, names: Names) -> Iterator[tuple[Path, bool]]:
    over = _path(loop.collection, names)
    if over is not None and len(over.steps) > 0:
        yield over, not over.splat
    else:
        yield from paths(loop.collection, names)
    inside = names.binding(
        {
            loop.key_name: None,
            loop.value_name: None if over is None else over.element(),
        }
    )
    for child in loop.children()[1:]:
        yield from paths(child, inside)


def _path(expression: Expression, names: Names) -> Path | None:
    """The path that an expression is, where it is one."""
    if isinstance(expression, Parentheses | TemplateWrap):
        return _path(expression.children()[0], names)
    if isinstance(expression, Reference):
        return _reference(expression.steps, names)
    if isinstance(expression, Index):
        base = _path(expression.collection, names)
        return None if base is None else base.element()
    if isinstance(expression, RelativeTraversal):
        base = _path(expression.base, names)
        return None if base is None else base.then(*texts(expression.steps))
    if isinstance(expression, Splat):
        base = _path(expression.operand, names)
        return None if base is None else _each(expression.each, base.collected())
    if isinstance(expression, FunctionCall) and expression.name in _FIRST_OF:
        base = _path(expression.arguments[0], names) if expression.arguments else None
        one = expression.name in ("one", "element")
        return base if base is None or not one else base.element()
    return None


def _each(expression: Expression, base: Path) -> Path | None:
    if isinstance(expression, SplatItem):
        return base
    if isinstance(expression, RelativeTraversal):
        inner = _each(expression.base, base)
        return None if inner is None else inner.then(*texts(expression.steps))
    if isinstance(expression, Index):
        inner = _each(expression.collection, base)
        return None if inner is None else inner.then(ELEMENT)
    if isinstance(expression, Splat):
        inner = _each(expression.operand, base)
        return None if inner is None else _each(expression.each, inner.then(ELEMENT))
    return None


def _reference(steps: list[Step], names: Names) -> Path | None:
    root = steps[0]
    assert isinstance(root, TraverseRoot)
    rest = texts(steps[1:])
    if root.name in names.bound:
        bound = names.bound[root.name]
        return None if bound is None else bound.then(*rest)
    if root.name == "self":
        return None if names.self_kind is None else Path(names.self_kind, rest)
    if root.name == "local" and rest and names.depth < _DEEPEST:
        meant = names.locals.get(rest[0])
        base = None if meant is None else _path(meant, names.deeper())
        return None if base is None else base.then(*rest[1:])
    if root.name in ("data", "ephemeral", "resource") and len(rest) > 1:
        return Path((root.name, rest[0]), rest[2:])
    if "_" in root.name and rest:
        return Path(("resource", root.name), rest[1:])
    return None


def texts(steps: list[Step]) -> tuple[str, ...]:
    """Steps as a path has them."""
    return tuple(_text(step) for step in steps)


def _text(step: Step) -> str:
    if isinstance(step, TraverseAttr):
        return step.name
    if isinstance(step, TraverseIndex) and isinstance(step.key.to_python(), str):
        return FIELD
    return ELEMENT

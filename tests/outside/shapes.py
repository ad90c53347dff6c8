"""What expressions show of the types of arguments, and the types that follow.

A shape is a guess from how a value is written, over all configurations: a string, a number, a
list of plain values, or nothing at all. Where guesses contradict, the type is left open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from nigari import cty
from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import For, ObjectConstructor, TupleConstructor
from nigari.hcl.expressions import Expression, Literal, Parentheses, Reference
from nigari.hcl.operators import Conditional, Operation, UnaryOperation
from nigari.hcl.splats import Splat
from nigari.hcl.templates import StringLiteral, Template, TemplateWrap
from nigari.hcl.traversal import TraverseAttr, TraverseRoot
from tests.outside.reads import ELEMENT, FIELD

Shape = str
"""`string`, `number`, `bool`, `list`, `map`, or `deep` for anything with structure inside."""

_CALLS: Final[Mapping[str, Shape]] = {
    **dict.fromkeys(("toset", "tolist", "compact", "split", "keys", "sort", "formatlist"), "list"),
    **dict.fromkeys(("join", "format", "jsonencode", "file", "templatefile", "replace"), "string"),
    **dict.fromkeys(("base64encode", "lower", "upper", "trimspace", "substr", "md5"), "string"),
    **dict.fromkeys(("merge", "tomap"), "map"),
    **dict.fromkeys(("element", "one"), "string"),
    **dict.fromkeys(("length", "min", "max", "tonumber"), "number"),
    **dict.fromkeys(("can", "contains", "alltrue", "anytrue", "tobool"), "bool"),
}
_DEEPEST: Final = 5
_PLAIN: Final = frozenset(("string", "number", "bool"))


@dataclass
class ModuleShapes:
    """What one module says of the shapes of its names."""

    variables: Mapping[str, cty.Type] = field(default_factory=dict)
    locals: Mapping[str, Expression] = field(default_factory=dict)


def shapes(expression: Expression, known: ModuleShapes, depth: int = 0) -> frozenset[Shape]:
    """What an expression shows of its type; nothing where it does not."""
    if depth > _DEEPEST:
        return frozenset()
    match expression:
        case Literal():
            return _of_type(expression.literal.type)
        case StringLiteral() | Template():
            return frozenset(("string",))
        case Parentheses() | TemplateWrap():
            return shapes(expression.children()[0], known, depth + 1)
        case Conditional():
            ends = [*expression.results, expression.otherwise]
            return frozenset().union(*(shapes(end, known, depth + 1) for end in ends))
        case TupleConstructor():
            return _collected("list", expression.elements, known, depth)
        case ObjectConstructor():
            values = [value for _, value in expression.items]
            return _collected("map", values, known, depth)
        case For():
            whole = "list" if expression.key is None else "map"
            return _collected(whole, [expression.result], known, depth)
        case Splat():
            return frozenset(("list",))
        case Operation() | UnaryOperation():
            return frozenset()
        case FunctionCall() if expression.name in ("try", "coalesce", "lookup"):
            parts = expression.arguments[2 * (expression.name == "lookup") :]
            return frozenset().union(*(shapes(part, known, depth + 1) for part in parts))
        case FunctionCall():
            return frozenset((_CALLS[expression.name],)) if expression.name in _CALLS else _NONE
        case Reference():
            return _of_name(expression, known, depth)
    return _NONE


_NONE: Final[frozenset[Shape]] = frozenset()


def _collected(
    whole: Shape, parts: list[Expression], known: ModuleShapes, depth: int
) -> frozenset[Shape]:
    inner: frozenset[Shape] = frozenset().union(*(shapes(p, known, depth + 1) for p in parts))
    return frozenset((whole,)) if inner <= _PLAIN else frozenset(("deep",))


def _of_name(reference: Reference, known: ModuleShapes, depth: int) -> frozenset[Shape]:
    root, *rest = reference.steps
    assert isinstance(root, TraverseRoot)
    names = [step.name for step in rest if isinstance(step, TraverseAttr)]
    if root.name == "var" and len(rest) == len(names) and names:
        type_: cty.Type = known.variables.get(names[0], cty.DYNAMIC)
        for name in names[1:]:
            inside = type_.attributes if isinstance(type_, cty.ObjectType) else {}
            type_ = inside.get(name, cty.DYNAMIC)
        return _of_type(type_)
    if root.name == "local" and len(rest) == 1 and names and names[0] in known.locals:
        return shapes(known.locals[names[0]], known, depth + 1)
    if names and names[-1] in ("id", "arn", "name", "self_link", "key", "region"):
        return frozenset(("string",))
    return _NONE


def _of_type(type_: cty.Type) -> frozenset[Shape]:
    match type_:
        case cty.STRING | cty.NUMBER | cty.BOOL:
            return frozenset((str(type_),))
        case cty.ListType() | cty.SetType():
            return frozenset(("list",) if _of_type(type_.element) <= _PLAIN else ("deep",))
        case cty.MapType():
            return frozenset(("map",) if _of_type(type_.element) <= _PLAIN else ("deep",))
        case cty.ObjectType() | cty.TupleType():
            return frozenset(("deep",))
    return _NONE


@dataclass
class Read:
    """What is read below a path: nothing, elements, or attributes by name."""

    attributes: dict[str, Read] = field(default_factory=dict)
    element: Read | None = None
    by_key: bool = False
    is_list: bool = False

    def add(self, steps: tuple[str, ...], is_list: bool) -> None:
        if not steps:
            self.is_list = self.is_list or is_list
            return
        step, *rest = steps
        if step in (ELEMENT, FIELD):
            self.by_key = self.by_key or step == FIELD
            if self.element is None:
                self.element = Read()
            self.element.add(tuple(rest), is_list)
        else:
            self.attributes.setdefault(step, Read()).add(tuple(rest), is_list)

    @property
    def is_leaf(self) -> bool:
        return not self.attributes and self.element is None and not self.is_list

    def type(self) -> cty.Type:
        """The type that has everything that is read."""
        if self.attributes and (self.element is not None or self.is_list):
            return cty.DYNAMIC
        if self.attributes:
            return cty.ObjectType({name: each.type() for name, each in self.attributes.items()})
        if self.element is None:
            return cty.ListType(cty.STRING) if self.is_list else cty.STRING
        inner = self.element.type()
        if inner.has_dynamic:
            return cty.DYNAMIC
        return cty.MapType(inner) if self.by_key else cty.ListType(inner)


def argument_type(written: frozenset[Shape], read: Read | None) -> cty.Type:
    """The type of an argument by how it is written and read."""
    if read is not None and not read.is_leaf:
        type_ = read.type()
        if not written or (written == {"list"} and type_ == cty.ListType(cty.STRING)):
            return type_
        return cty.MapType(cty.STRING) if written == {"map"} else cty.DYNAMIC
    if not written:
        return cty.DYNAMIC if read is None else cty.STRING
    if written <= _PLAIN:
        (only,) = written if len(written) == 1 else ("string",)
        return {"string": cty.STRING, "number": cty.NUMBER, "bool": cty.BOOL}[only]
    if written == {"list"}:
        return cty.ListType(cty.STRING)
    if written == {"map"}:
        return cty.MapType(cty.STRING)
    return cty.DYNAMIC

"""Small faults of one place each that a module could have, found in its syntax tree.

A fault swaps an operator, turns a condition or a constant round, leaves out a statement or leaves out
a named argument. Only what runs in functions is changed: the rest is what the types and the layers
of a module are made of.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class SmallFault:
    """A fault: the function that has it, and the text that is replaced there."""

    function: str
    """The outermost function, with the classes it is in."""
    kind: str
    line: int
    start: int
    """Where the text begins, in bytes, as the end."""
    end: int
    new: str

    def applied(self, source: str) -> str:
        """The source with the fault in it."""
        data = source.encode()
        return (data[: self.start] + self.new.encode() + data[self.end :]).decode()

    def told(self, source: str) -> str:
        """What is replaced by what."""
        old = source.encode()[self.start : self.end].decode()
        return f"{' '.join(old.split())}  ->  {' '.join(self.new.split())}"


def small_faults(source: str) -> list[SmallFault]:
    """All faults that a module could have."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for name, function in _functions(ast.parse(source), ()):
        for node in _within(function):
            for kind, changed in _changes(node):
                old = node.test if isinstance(node, ast.If) else node
                assert old.end_lineno is not None
                assert old.end_col_offset is not None
                start = starts[old.lineno - 1] + old.col_offset
                end = starts[old.end_lineno - 1] + old.end_col_offset
                new = ast.unparse(changed)
                text = f"({new})" if isinstance(changed, ast.expr) else new
                found.append(SmallFault(name, kind, old.lineno, start, end, text))
    return found


def _functions(node: ast.AST, path: tuple[str, ...]) -> Iterator[tuple[str, _Function]]:
    """The outermost functions of a module, by their names with the classes they are in."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, _Function) and each.name not in ("__repr__", "__str__"):
            yield ".".join((*path, each.name)), each
        elif isinstance(each, ast.ClassDef):
            yield from _functions(each, (*path, each.name))


def _within(function: _Function) -> Iterator[ast.stmt | ast.expr]:
    """What a function does, without annotations, defaults, assertions and parts of texts."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.stmt | ast.expr):
            yield node
        if isinstance(node, _Function):
            pending += node.body
        elif isinstance(node, ast.AnnAssign):
            pending += [node.value] if node.value else []
        elif not isinstance(node, ast.Assert | ast.JoinedStr):
            pending += ast.iter_child_nodes(node)


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What can take the place of an expression or a statement; of `if`, of its condition."""
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in _COMPARISONS:
            other = _COMPARISONS[type(operator)]()
            yield "operator", ast.Compare(left, [other], [right])
        case ast.BoolOp(operator, values):
            other_way = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield "operator", ast.BoolOp(other_way, values)
        case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
            yield "operator", ast.BinOp(left, _OPERATORS[type(operator)](), right)
        case ast.UnaryOp(ast.Not(), operand):
            yield "condition", operand
        case ast.IfExp(test, body, orelse):
            yield "condition", ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Constant(bool() as value):
            yield "constant", ast.Constant(not value)
        case ast.Constant(int() as value):
            yield "constant", ast.Constant(value + 1)
        case ast.Call(function, arguments, keywords):
            for each in keywords:
                rest = [other for other in keywords if other is not each]
                yield "argument", ast.Call(function, arguments, rest)
            if isinstance(function, ast.Name) and function.id in ("all", "any"):
                name = "any" if function.id == "all" else "all"
                yield "operator", ast.Call(ast.Name(name), arguments, keywords)
        case _:
            yield from _statement_changes(node)


def _statement_changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.If(test):
            yield "condition", ast.UnaryOp(ast.Not(), test)
        case ast.Expr(ast.Call() | ast.Await()) | ast.Continue() | ast.Break() | ast.Raise():
            yield "statement", ast.Pass()
        case ast.Assign([ast.Attribute() | ast.Subscript()]) | ast.AugAssign():
            yield "statement", ast.Pass()
        case ast.Return(ast.Name() | ast.Call() | ast.Tuple() | ast.List()):
            yield "statement", ast.Return(ast.Constant(None))

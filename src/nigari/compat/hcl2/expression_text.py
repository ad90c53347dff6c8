"""Source of expressions in the layout of python-hcl2: on one line, or with a line for each element.

Only the layout changes: names, strings and numbers are copied from the source.
"""

from __future__ import annotations

from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import For, ObjectConstructor, TupleConstructor
from nigari.hcl.expressions import Expression, Index, Parentheses, Reference, RelativeTraversal
from nigari.hcl.operators import Conditional, Operation, UnaryOperation
from nigari.hcl.splats import Splat, SplatItem
from nigari.hcl.traversal import Step


def source_text(expr: Expression) -> str:
    return expr.source.text[expr.start : expr.end]


def inline(expr: Expression, force_parentheses: bool = False) -> str:
    """Write an expression on one line."""
    return _Writer(force_parentheses).text(expr)


class _Writer:
    def __init__(self, force_parentheses: bool) -> None:
        self.force_parentheses = force_parentheses

    def text(self, expr: Expression) -> str:
        if isinstance(expr, Parentheses):
            # An expression already in parentheses needs no further ones.
            return f"({_Writer(False).text(expr.inner)})"
        if isinstance(expr, Operation):
            return self._operation(expr)
        if isinstance(expr, UnaryOperation):
            return f"{expr.symbol}{self._operand(expr.operand)}"
        if isinstance(expr, Conditional):
            pairs = zip(expr.conditions, expr.results, strict=True)
            chosen = [f"{self._operand(c)} ? {self._operand(r)} : " for c, r in pairs]
            return "".join(chosen) + self._operand(expr.otherwise)
        if isinstance(expr, FunctionCall):
            rest = " ..." if expr.expand_final else ""
            return f"{expr.name}({', '.join([self.text(each) for each in expr.arguments])}{rest})"
        if isinstance(expr, TupleConstructor):
            return f"[{', '.join([self.text(each) for each in expr.elements])}]"
        if isinstance(expr, ObjectConstructor):
            items = [f"{self.text(key)} = {self.text(value)}" for key, value in expr.items]
            return f"{{{', '.join(items)}}}"
        if isinstance(expr, For):
            return self._for(expr)
        return self._access(expr)

    def _access(self, expr: Expression) -> str:
        if isinstance(expr, Reference):
            return "".join([_step_text(expr, step) for step in expr.steps])
        if isinstance(expr, RelativeTraversal):
            steps = [_step_text(expr, step) for step in expr.steps]
            return self.text(expr.base) + "".join(steps)
        if isinstance(expr, Index):
            return f"{self.text(expr.collection)}[{self.text(expr.key)}]"
        if isinstance(expr, Splat):
            marker = expr.source.text[expr.marker_start : expr.marker_end]
            return f"{self.text(expr.operand)}{''.join(marker.split())}{self.text(expr.each)}"
        return "" if isinstance(expr, SplatItem) else source_text(expr)

    def _operation(self, expr: Operation) -> str:
        result = self._operand(expr.operands[0])
        last = len(expr.operators) - 1
        for position, symbol in enumerate(expr.symbols):
            result = f"{result} {symbol} {self._operand(expr.operands[position + 1])}"
            if self.force_parentheses and position < last:
                result = f"({result})"
        return result

    def _operand(self, expr: Expression) -> str:
        text = self.text(expr)
        is_compound = isinstance(expr, Operation | UnaryOperation | Conditional)
        return f"({text})" if self.force_parentheses and is_compound else text

    def _for(self, expr: For) -> str:
        head = f"{for_names(expr)} in {self.text(expr.collection)} :"
        condition = "" if expr.condition is None else f" if {self.text(expr.condition)}"
        if expr.key is None:
            return f"[for {head} {self.text(expr.result)}{condition}]"
        pair = f"{self.text(expr.key)} => {self.text(expr.result)}"
        return f"{{for {head} {pair}{'...' if expr.is_grouped else ''}{condition}}}"


def for_names(expr: For) -> str:
    """Return the names that a `for` binds, as in the source."""
    return f"{expr.key_name}, {expr.value_name}" if expr.key_name else expr.value_name


def laid_out(expr: Expression, level: int, indent: str, align: bool = True) -> str:
    """Write an expression with a line for each element; `level` is that of the elements' lines."""
    return _Layout(indent, align).text(expr, level)


class _Layout:
    def __init__(self, indent: str, align: bool) -> None:
        self.indent = indent
        self.align = align

    def text(self, expr: Expression, level: int) -> str:
        line, end = f"\n{self.indent * level}", f"\n{self.indent * (level - 1)}"
        if isinstance(expr, TupleConstructor) and expr.elements:
            elements = [self.text(each, level + 1) for each in expr.elements]
            return f"[{line}{f',{line}'.join(elements)}{end}]"
        if isinstance(expr, ObjectConstructor) and expr.items:
            pairs = [(inline(key), self.text(value, level + 1)) for key, value in expr.items]
            return f"{{{line}{f',{line}'.join(aligned(pairs, self.align))}{end}}}"
        if isinstance(expr, For):
            return self._for(expr, level, line, end)
        if isinstance(expr, FunctionCall):
            rest = " ... " if expr.expand_final else ""
            arguments = [self.text(each, level) for each in expr.arguments]
            return f"{expr.name}({', '.join(arguments)}{rest})"
        return inline(expr)

    def _for(self, expr: For, level: int, line: str, end: str) -> str:
        head = f"for {for_names(expr)} in {self.text(expr.collection, level + 1)} :"
        result = self.text(expr.result, level + 1)
        condition = ""
        if expr.condition is not None:
            condition = f"{line}if {self.text(expr.condition, level + 1)}"
        if expr.key is None:
            return f"[{line}{head}{line}{result}{condition}{end}]"
        rest = " ..." if expr.is_grouped else ""
        pair = f"{self.text(expr.key, level + 1)} => {result}{rest}"
        return f"{{{line}{head}{line}{pair}{condition}{end}}}"


def aligned(pairs: list[tuple[str, str]], align: bool, sign: str = "=") -> list[str]:
    """Align the equals signs between names and values."""
    widest = max([len(name) for name, _ in pairs]) if align else 0
    if sign == ":":
        return [f"{name}{' ' * max(widest - len(name) + 1, 1)}: {value}" for name, value in pairs]
    return [f"{name.ljust(widest)} = {value}" for name, value in pairs]


def _step_text(expr: Expression, step: Step) -> str:
    text = expr.source.text[step.start : step.end]
    if text.startswith("["):
        return f"[{text[1:-1].strip()}]"
    return "".join(text.split())

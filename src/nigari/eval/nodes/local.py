"""Local values: the value of an expression, or of one attribute of it."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.config.blocks.local import Local
from nigari.diagnostics import Range
from nigari.eval.core.instances import Frame, LocalNode, Origin, ValueNode
from nigari.eval.core.scope import evaluate_origin
from nigari.eval.core.worklist import Need
from nigari.hcl.expressions import Expression
from nigari.hcl.static import attribute_expression


class LocalValueNode(LocalNode):
    """A local value. Its attributes have nodes of their own, made when they are asked for."""

    __slots__ = ("_parts", "local")

    def __init__(self, frame: Frame, local: Local) -> None:
        super().__init__(frame)
        self.local: Local = local
        self._parts: dict[tuple[str, ...], LocalPart] = {}

    @property
    def label(self) -> str:
        return self.frame.label(f"local.{self.local.name}")

    @property
    def range(self) -> Range:
        return self.local.range

    def origin(self) -> Origin:
        return Origin(self.frame, self.frame.instance.compiled.expression(self.local.expr))

    def step(self) -> Sequence[Need]:
        return self.take(evaluate_origin(self.origin()))

    def part(self, names: Sequence[str]) -> tuple[ValueNode, int]:
        expr = self.local.expr
        used = 0
        for name in names:
            inner = attribute_expression(expr, name)
            if inner is None:
                break
            expr = inner
            used += 1
        if used == 0:
            return self, 0
        key = tuple(names[:used])
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = LocalPart(self, key, expr)
        return part, used


class LocalPart(ValueNode):
    """One attribute of a local value that is written as an object."""

    __slots__ = ("expr", "names", "whole")

    def __init__(self, whole: LocalValueNode, names: tuple[str, ...], expr: Expression) -> None:
        super().__init__(whole.frame)
        self.whole: LocalValueNode = whole
        self.names: tuple[str, ...] = names
        self.expr: Expression = expr

    @property
    def label(self) -> str:
        return self.frame.label(".".join(("local", self.whole.local.name, *self.names)))

    @property
    def range(self) -> Range:
        return self.expr.range

    def origin(self) -> Origin:
        return Origin(self.frame, self.frame.instance.compiled.expression(self.expr))

    def step(self) -> Sequence[Need]:
        return self.take(evaluate_origin(self.origin()))

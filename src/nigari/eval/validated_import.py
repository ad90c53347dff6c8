"""What an `import` block means while nothing is known of the objects: are its arguments fit?

The keys of its target are left alone: which instance is meant is decided when planning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nigari.config.imports import Import
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import (
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_OBJECT,
    KIND_SET,
    KIND_TUPLE,
    STRING,
)
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, unknown
from nigari.diagnostics import Range
from nigari.eval.expansion import NO_INSTANCE_DATA, InstanceData
from nigari.eval.instances import Frame
from nigari.eval.once import Need, Node, Stages
from nigari.eval.scope import evaluate
from nigari.hcl.expressions import Expression

_REPEATABLE: Final = (KIND_MAP, KIND_OBJECT, KIND_SET, KIND_TUPLE, KIND_LIST, KIND_DYNAMIC)


class ValidatedImport(Node):
    """An import block of the root module."""

    __slots__ = ("_block", "_data", "_frame", "_stages")

    def __init__(self, frame: Frame, block: Import) -> None:
        super().__init__()
        self._frame = frame
        self._block = block
        self._data = NO_INSTANCE_DATA
        if block.for_each is not None:
            self._data = InstanceData(each_key=unknown(STRING), each_value=DYNAMIC_UNKNOWN)
        self._stages = Stages(self._check_repetition, self._check_id, self._check_identity)

    @property
    def label(self) -> str:
        return f"import of {self._block.shape}"

    @property
    def range(self) -> Range:
        return self._block.range

    def fail(self) -> None:
        """Nobody asks for its result."""

    def step(self) -> Sequence[Need]:
        return self._stages.step()

    def _value(self, expr: Expression, data: InstanceData) -> Value | list[Need]:
        return evaluate(self._frame, self._frame.instance.compiled.expression(expr), data)

    def _check_repetition(self) -> Sequence[Need]:
        expr = self._block.for_each
        if expr is None:
            return ()
        value = self._value(expr, NO_INSTANCE_DATA)
        if not isinstance(value, Value):
            return value
        if value.is_null:
            self._report("for_each", expr, "it is null")
        elif value.type.kind not in _REPEATABLE:
            self._report("for_each", expr, "a map, a set or a list is needed")
        return ()

    def _check_id(self) -> Sequence[Need]:
        expr = self._block.id
        if expr is None:
            return ()
        value = self._value(expr, self._data)
        if not isinstance(value, Value):
            return value
        if value.is_null:
            self._report("id", expr, "it is null")
            return ()
        try:
            convert(value, STRING)
        except CtyError as error:
            self._report("id", expr, error.message)
        return ()

    def _check_identity(self) -> Sequence[Need]:
        expr = self._block.identity
        value = None if expr is None else self._value(expr, self._data)
        return value if isinstance(value, list) else ()

    def _report(self, argument: str, expr: Expression, problem: str) -> None:
        self._frame.run.diags.error(
            "Unsuitable argument of an import",
            f"The {argument} of the import of {self._block.shape} cannot be used: {problem}.",
            expr.range,
        )

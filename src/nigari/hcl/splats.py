"""Splats: one expression evaluated for every element of a value.

Owns which values are sequences here: as in HCL, lists, sets and tuples; any other value is a
sequence of itself, and null an empty one.
"""

# ruff: noqa: SIM109 - two comparisons cost less than making a tuple

from __future__ import annotations

from nigari.cty.types import (
    DYNAMIC,
    KIND_LIST,
    KIND_SET,
    KIND_TUPLE,
    CollectionType,
    ListType,
    TupleType,
    Type,
)
from nigari.cty.unknown import NOT_NULL, Unknown
from nigari.cty.values import (
    DYNAMIC_UNKNOWN,
    EMPTY_TUPLE,
    Value,
    list_value,
    tuple_value,
    unknown,
)
from nigari.diagnostics import Diagnostics
from nigari.hcl.evaluation import unknown_from
from nigari.hcl.expressions import CostlyExpression, Expression
from nigari.hcl.reference_values import scope_values
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source


class SplatItem(Expression):
    """The current element of a splat operator."""

    __slots__ = ()

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        item = scope.splat_item()
        return DYNAMIC_UNKNOWN if item is None else item


class Splat(CostlyExpression):
    """`operand[*].each` or `operand.*.each`: an expression for every element of its operand.

    `marker_start` and `marker_end` delimit the operator itself.
    """

    __slots__ = ("each", "marker_end", "marker_start", "operand")

    operand: Expression
    each: Expression
    marker_start: int
    marker_end: int

    def __init__(
        self,
        source: Source,
        start: int,
        end: int,
        operand: Expression,
        each: Expression,
        marker_start: int,
        marker_end: int,
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.operand = operand
        self.each = each
        self.marker_start = marker_start
        self.marker_end = marker_end

    def start_span(self) -> tuple[int, int]:
        return self.marker_start, self.marker_end

    def children(self) -> list[Expression]:
        return [self.operand, self.each]

    def computed(self, scope: Scope, diags: Diagnostics) -> Value:
        errors = diags.error_count
        operand = self.operand.value(scope, diags)
        if diags.error_count > errors:
            return DYNAMIC_UNKNOWN
        kind = operand.type.kind
        is_sequence = kind == KIND_LIST or kind == KIND_TUPLE or kind == KIND_SET
        if operand.is_null:
            if not is_sequence:
                # SplatExpr.Value: null, unless it is a list, is an empty
                # sequence. This makes x[*] a test for null.
                return EMPTY_TUPLE.with_marks(operand.marks)
            self._report_null(scope, diags)
            return DYNAMIC_UNKNOWN
        if operand.type is DYNAMIC:
            return unknown_from(DYNAMIC, operand).with_marks(operand.marks)
        if is_sequence:
            if not operand.is_known:
                return self._of_unknown(operand, scope, diags)
            return self._of_elements(operand, scope, diags)
        # HCL treats any other value as a sequence of one, or of none if it is null; if it may be
        # null, the length is unknown.
        marks = operand.marks
        result = self._of_elements(tuple_value([operand]).with_marks(marks), scope, diags)
        data = operand.data
        # It may turn out to be null, and then the result is empty.
        if isinstance(data, Unknown) and not data.not_null:
            return unknown_from(DYNAMIC, operand).with_marks(marks)
        return result

    def _report_null(self, scope: Scope, diags: Diagnostics) -> None:
        diags.error(
            "Splat of a null value",
            "A splat needs elements to iterate over, and this list, set or tuple is null.",
            self.operand.range,
            self.source.range(self.operand.start, self.marker_end),
            values=scope_values(self.operand, scope),
        )

    def _of_elements(self, operand: Value, scope: Scope, diags: Diagnostics) -> Value:
        marks = operand.marks
        errors = diags.error_count
        inner = Scope(None, None, scope)
        results: list[Value] = []
        for element in operand.sequence():
            inner.item = element
            results.append(self.each.value(inner, diags))
        if diags.error_count > errors:
            # Computing the type would repeat the errors already reported.
            return unknown(self._result_type(operand.type, scope, Diagnostics())).with_marks(marks)
        # Results over a tuple may differ in type; over a list or set they form a list.
        if operand.type.kind == KIND_TUPLE:
            return tuple_value(results).with_marks(marks)
        # An empty list still has an element type, found with an unknown element.
        if not results:
            type_ = self._result_type(operand.type, scope, diags)
            element_type = type_.element if isinstance(type_, ListType) else DYNAMIC
            return list_value(element_type, []).with_marks(marks)
        # SplatExpr.Value: the result over a list or set is a list, so all results need one type.
        common = _common_type(results)
        if common is None:
            self._report_mixed(diags)
            return DYNAMIC_UNKNOWN
        return list_value(common, results).with_marks(marks)

    def _report_mixed(self, diags: Diagnostics) -> None:
        diags.error(
            "Nested splat with results of different types",
            "The inner splat produces values of different types for the elements of the outer "
            "one, and all elements of a list must have the same type. Use a for expression, "
            "which produces a tuple.",
            self.each.range,
            self.range,
        )

    def _of_unknown(self, operand: Value, scope: Scope, diags: Diagnostics) -> Value:
        have = operand.refinements
        type_ = self._result_type(operand.type, scope, diags)
        refined = NOT_NULL.with_causes(have.causes)
        if isinstance(type_, ListType):
            # The result has as many elements as the operand.
            refined = Unknown(
                not_null=True,
                min_length=have.min_length,
                max_length=have.max_length,
                causes=have.causes,
            )
        return unknown(type_, refined).with_marks(operand.marks)

    def _result_type(self, operand: Type, scope: Scope, diags: Diagnostics) -> Type:
        """Compute the result type of a splat over an operand of some type."""
        inner = Scope(None, None, scope)
        if isinstance(operand, TupleType):
            types: list[Type] = []
            for element in operand.elements:
                inner.item = unknown(element)
                types.append(self.each.value(inner, diags).type)
            return TupleType(tuple(types))
        inner.item = unknown(_element_type(operand))
        return ListType(self.each.value(inner, diags).type)


def _element_type(type_: Type) -> Type:
    return type_.element if isinstance(type_, CollectionType) else DYNAMIC


def _common_type(values: list[Value]) -> Type | None:
    """Return the type shared by all values, apart from those of unknown type; None if there are
    several.
    """
    common: Type = DYNAMIC
    for value in values:
        type_ = value.type
        if type_ is DYNAMIC or type_ is common:
            continue
        if common is DYNAMIC:
            common = type_
        elif type_ != common:
            return None
    return common

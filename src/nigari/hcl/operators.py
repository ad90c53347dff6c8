"""Operators and conditionals.

Consecutive operators of one precedence are one flat node, and so is a conditional whose last result
is another conditional, so that long chains cost no depth. Deliberately unknown here: precedence,
which the parser owns, and the operations on values, which cty owns.
"""

from __future__ import annotations

from collections.abc import Callable

from nigari.cty import operations
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.numbers import Number, compare, is_infinite
from nigari.cty.refinements import (
    Refinement,
    definitely_not_null,
    length_bounds,
    number_bounds,
    refine,
)
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    KIND_DYNAMIC,
    KIND_NUMBER,
    NUMBER,
    CollectionType,
    ObjectType,
    TupleType,
    Type,
)
from nigari.cty.unify import unify
from nigari.cty.unknown import NOT_NULL, join_causes
from nigari.cty.values import (
    DYNAMIC_UNKNOWN,
    FALSE,
    HAS_MARKS,
    HAS_UNKNOWN,
    TRUE,
    Value,
    null,
    unknown,
)
from nigari.diagnostics import Diagnostics
from nigari.hcl.evaluation import sentence, unknown_from
from nigari.hcl.expressions import Expression
from nigari.hcl.reference_values import scope_values
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


OR: Final = 0
AND: Final = 1
EQUAL: Final = 2
NOT_EQUAL: Final = 3
GREATER: Final = 4
GREATER_EQUAL: Final = 5
LESS: Final = 6
LESS_EQUAL: Final = 7
ADD: Final = 8
SUBTRACT: Final = 9
MULTIPLY: Final = 10
DIVIDE: Final = 11
MODULO: Final = 12

SYMBOLS: Final = ("||", "&&", "==", "!=", ">", ">=", "<", "<=", "+", "-", "*", "/", "%")
"""The symbol of each operator."""


def _equals(a: Value, b: Value) -> Value:
    """Compare two values. Marks at any depth are copied, even if one value is null."""
    if not (a.flags | b.flags) & HAS_MARKS:
        return operations.equals(a, b)
    plain_a, marks_a = a.unmark_deep()
    plain_b, marks_b = b.unmark_deep()
    return operations.equals(plain_a, plain_b).with_marks(marks_a | marks_b)


def _not_equals(a: Value, b: Value) -> Value:
    return operations.logical_not(_equals(a, b))


def _modulo(a: Value, b: Value) -> Value:
    for operand in (a, b):
        if operand.data is not None and is_infinite(operand.as_number()):
            raise CtyError("the remainder of a division by infinity is undefined")
    return operations.modulo(a, b)


_MEANINGS: Final[tuple[Callable[[Value, Value], Value], ...]] = (
    operations.logical_or,
    operations.logical_and,
    _equals,
    _not_equals,
    operations.greater_than,
    operations.greater_than_or_equal,
    operations.less_than,
    operations.less_than_or_equal,
    operations.add,
    operations.subtract,
    operations.multiply,
    operations.divide,
    _modulo,
)


class Operation(Expression):
    """`a + b - c`: operands, and the operators between them, from left to right."""

    __slots__ = ("operands", "operators")

    operands: list[Expression]
    operators: list[int]

    def __init__(
        self,
        source: Source,
        start: int,
        end: int,
        operands: list[Expression],
        operators: list[int],
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.operands = operands
        self.operators = operators

    @property
    def symbols(self) -> list[str]:
        """The symbols of the operators."""
        return [SYMBOLS[operator] for operator in self.operators]

    def start_span(self) -> tuple[int, int]:
        return self.operands[0].start_span()

    def children(self) -> list[Expression]:
        return self.operands

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        operands = self.operands
        # HCL: only || and && can have a result with an operand that has errors.
        if self.operators[0] <= AND:
            return self._logical(scope, diags)
        errors = diags.error_count
        result = operands[0].value(scope, diags)
        for position, operator in enumerate(self.operators):
            operand = operands[position + 1]
            right = operand.value(scope, diags)
            # Operators have fixed result types, so even a failed operation has a
            # type.
            result_type = BOOL if operator < ADD else NUMBER
            # HCL: == and != compare any types, the others convert their operands to
            # numbers.
            if operator > NOT_EQUAL:
                before = diags.error_count
                result = self._number(result, position, position > 0, scope, diags)
                right = self._number(right, position + 1, False, scope, diags)
                if diags.error_count > before:
                    # A value that is not a number contributes no marks to the result.
                    result = unknown(result_type)
                    continue
            if diags.error_count > errors:
                result = unknown(result_type).with_marks(result.marks | right.marks)
                continue
            try:
                if operator > NOT_EQUAL and (result.flags | right.flags) & HAS_UNKNOWN:
                    result = _with_unknown(operator, result, right)
                else:
                    result = _MEANINGS[operator](result, right)
            except CtyError as error:
                self._report_failure(operator, position, error, scope, diags)
                result = unknown(result_type)
        return result

    def _number(
        self, value: Value, position: int, is_result: bool, scope: Scope, diags: Diagnostics
    ) -> Value:
        """Convert an operand to a number; `is_result` is set if it is the result of the operators
        before it.
        """
        if value.type.kind == KIND_NUMBER:
            return value
        try:
            return convert(value, NUMBER)
        except CtyError as error:
            self._report_operand(position, error, scope, diags, is_result)
            return unknown(NUMBER)

    def _report_operand(
        self,
        position: int,
        error: CtyError,
        scope: Scope,
        diags: Diagnostics,
        is_result: bool = False,
    ) -> None:
        operand = self.operands[position]
        operator = self.operators[position if is_result else max(position - 1, 0)]
        detail = f"Invalid operand for {SYMBOLS[operator]}: {sentence(error)}"
        subject = self.source.range(self.start, operand.end) if is_result else None
        operand.report(diags, scope, "Invalid operand", detail, self, subject)

    def _report_failure(
        self, operator: int, position: int, error: CtyError, scope: Scope, diags: Diagnostics
    ) -> None:
        diags.error(
            "Operation failed",
            f"The {SYMBOLS[operator]} operation failed: {sentence(error)}",
            self.source.range(self.start, self.operands[position + 1].end),
            values=scope_values(self, scope),
        )

    # -- && and || ----------------------------------------------------------------------------

    def _logical(self, scope: Scope, diags: Diagnostics) -> Value:
        """Evaluate every operand, so that its names and type are always checked, but drop the
        errors of one that cannot affect the result.
        """
        is_or = self.operators[0] == OR
        left_diags = Diagnostics()
        first = self.operands[0].value(scope, left_diags)
        left = self._bool(first, 0, scope, left_diags)
        for position in range(1, len(self.operands)):
            right_diags = Diagnostics()
            operand = self.operands[position]
            right = self._bool(operand.value(scope, right_diags), position, scope, right_diags)
            if left is None or right is None:
                left_diags.extend(right_diags)
                left = unknown(BOOL)
                continue
            left, left_diags = self._decide(
                left, right, left_diags, right_diags, is_or, position, scope
            )
        diags.extend(left_diags)
        assert left is not None
        return left

    def _bool(self, value: Value, position: int, scope: Scope, diags: Diagnostics) -> Value | None:
        if value.type is BOOL:
            return value
        try:
            return convert(value, BOOL)
        except CtyError as error:
            self._report_operand(position, error, scope, diags)
            return None

    def _decide(
        self,
        left: Value,
        right: Value,
        left_diags: Diagnostics,
        right_diags: Diagnostics,
        is_or: bool,
        position: int,
        scope: Scope,
    ) -> tuple[Value, Diagnostics]:
        marks = left.marks | right.marks
        left_open, right_open = not left.is_known, not right.is_known
        result: Value | None = None
        chosen = left_diags
        if left_open and right_open:
            if not left_diags.has_errors:
                result = _open(left, right)
        # BinaryOpExpr.Value: a known operand that decides makes errors of the other one
        # irrelevant.
        elif not left_open and _truth(left) == is_or:
            result = TRUE if is_or else FALSE
        elif not right_open and _truth(right) == is_or:
            result, chosen = (TRUE if is_or else FALSE), right_diags
        # An unknown left operand may decide later, so errors of the right one are not
        # reported.
        elif left_open:
            result = _open(left, right)
        elif right_open:
            result, chosen = _open(left, right), right_diags
        if result is None:
            chosen = Diagnostics(left_diags)
            chosen.extend(right_diags)
            result = unknown(BOOL)
            if not chosen.has_errors:
                try:
                    result = _MEANINGS[OR if is_or else AND](left, right)
                except CtyError as error:
                    self._report_failure(OR if is_or else AND, position - 1, error, scope, chosen)
        return result.with_marks(marks), chosen


def _with_unknown(operator: int, a: Value, b: Value) -> Value:
    """Compute the result if an operand is unknown. HCL rejects a null even then, and gives sums and
    products no range.
    """
    if a.data is None or b.data is None:
        raise CtyError("a number is required, not null")
    return _MEANINGS[operator](a, b) if operator < ADD else _unknown_number(a, b)


def _unknown_number(a: Value, b: Value) -> Value:
    known = NOT_NULL.with_causes(join_causes(a.causes, b.causes))
    return unknown(NUMBER, known).with_marks(a.marks | b.marks)


def _open(left: Value, right: Value) -> Value:
    """Build an unknown bool with the operands' causes."""
    return unknown(BOOL, NOT_NULL.with_causes(join_causes(left.causes, right.causes)))


def _truth(value: Value) -> bool:
    """Return the truth of a known bool; null counts as false."""
    return value.data is True


class UnaryOperation(Expression):
    """`-a` or `!a`."""

    __slots__ = ("is_not", "operand")

    operand: Expression
    is_not: bool

    def __init__(
        self, source: Source, start: int, end: int, operand: Expression, is_not: bool
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.operand = operand
        self.is_not = is_not

    @property
    def symbol(self) -> str:
        """The symbol of the operator."""
        return "!" if self.is_not else "-"

    def start_span(self) -> tuple[int, int]:
        return self.start, self.start + 1

    def children(self) -> list[Expression]:
        return [self.operand]

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        type_ = BOOL if self.is_not else NUMBER
        errors = diags.error_count
        value = self.operand.value(scope, diags)
        if value.type is not type_:
            try:
                value = convert(value, type_)
            except CtyError as error:
                symbol = self.symbol
                detail = f"Invalid operand for {symbol}: {sentence(error)}"
                self.operand.report(diags, scope, "Invalid operand", detail, self)
        if diags.error_count > errors:
            return unknown(type_)
        try:
            if self.is_not:
                return operations.logical_not(value)
            return operations.negate(value) if value.is_known else _unknown_number(value, value)
        except CtyError as error:
            detail = f"The operation failed: {sentence(error)}"
            self.report(diags, scope, "Operation failed", detail)
            return unknown(type_)


# -- conditionals -----------------------------------------------------------------------------


class Conditional(Expression):
    """`a ? x : b ? y : z`: conditions, the result of each, and the final result."""

    __slots__ = ("conditions", "otherwise", "results")

    conditions: list[Expression]
    results: list[Expression]
    otherwise: Expression

    def __init__(
        self,
        source: Source,
        start: int,
        end: int,
        conditions: list[Expression],
        results: list[Expression],
        otherwise: Expression,
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.conditions = conditions
        self.results = results
        self.otherwise = otherwise

    def start_span(self) -> tuple[int, int]:
        return self.conditions[0].start_span()

    def children(self) -> list[Expression]:
        ordered: list[Expression] = []
        for condition, result in zip(self.conditions, self.results, strict=True):
            ordered.append(condition)
            ordered.append(result)
        ordered.append(self.otherwise)
        return ordered

    def value(self, scope: Scope, diags: Diagnostics) -> Value:
        rest_diags = Diagnostics()
        # ConditionalExpr.Value evaluates both results, because they determine the type;
        # only errors of the chosen one are reported.
        rest = self.otherwise.value(scope, rest_diags)
        for position in range(len(self.conditions) - 1, -1, -1):
            found = Diagnostics()
            rest = self._choose(position, rest, rest_diags, scope, found)
            rest_diags = found
        diags.extend(rest_diags)
        return rest

    def _choose(
        self, position: int, no: Value, no_diags: Diagnostics, scope: Scope, diags: Diagnostics
    ) -> Value:
        """Evaluate one condition and its result; `no` is the value of the rest of the chain."""
        yes_diags = Diagnostics()
        yes = self.results[position].value(scope, yes_diags)
        type_ = _result_type(yes, no)
        if type_ is None:
            self._report_types(position, yes.type, no.type, scope, diags)
            return DYNAMIC_UNKNOWN
        expression = self.conditions[position]
        condition = expression.value(scope, diags)
        # A null condition is a mistake even if both results agree.
        if condition.is_null:
            detail = "The condition is null. It must be true or false."
            expression.report(diags, scope, "Null condition", detail, self)
            return unknown(type_)
        # ConditionalExpr.Value: all three carry over. The unmarked result would reveal
        # which one was chosen.
        marks = condition.marks | yes.marks | no.marks
        if not condition.is_known:
            return _either(condition, yes.unmark()[0], no.unmark()[0], type_).with_marks(marks)
        try:
            truth = convert(condition, BOOL).as_bool()
        except CtyError:
            detail = (
                f"The condition must be true or false, and this is {condition.type.with_article()}."
            )
            expression.report(diags, scope, "Invalid condition", detail, self)
            return unknown(type_)
        diags.extend(yes_diags if truth else no_diags)
        chosen = yes if truth else no
        if type_.kind != KIND_DYNAMIC and chosen.type is not type_:
            try:
                chosen = convert(chosen, type_)
            except CtyError as error:
                self._report_result(position, truth, error, scope, diags)
                chosen = unknown(type_)
        return chosen.with_marks(marks)

    def _report_result(
        self, position: int, truth: bool, error: CtyError, scope: Scope, diags: Diagnostics
    ) -> None:
        if truth or position + 1 == len(self.conditions):
            result = self.results[position] if truth else self.otherwise
        else:
            result = self.results[position + 1]
        detail = f"This result does not match the type of the other one: {sentence(error)}"
        result.report(diags, scope, "Conditional results of different types", detail, self)

    def _report_types(
        self, position: int, yes: Type, no: Type, scope: Scope, diags: Diagnostics
    ) -> None:
        diags.error(
            "Conditional results of different types",
            "Both results of a conditional must have the same type. "
            f"{describe_difference(yes, no)}.",
            self.source.range(self.results[position].start, self.otherwise.end),
            self.range,
            values=scope_values(self, scope),
        )


def _is_bare_null(value: Value) -> bool:
    return value.data is None and value.type is DYNAMIC and not value.marks


def _result_type(yes: Value, no: Value) -> Type | None:
    # A null without a type has the type of the other result.
    if _is_bare_null(yes):
        return no.type
    if _is_bare_null(no):
        return yes.type
    if yes.type is no.type:
        return yes.type
    # While one type is unknown, the conversion cannot be determined either.
    if yes.type is DYNAMIC or no.type is DYNAMIC:
        return DYNAMIC
    return unify([yes.type, no.type], True)


def _either(condition: Value, yes: Value, no: Value, type_: Type) -> Value:
    """Combine the refinements of both results while the condition is unknown."""
    if yes.is_null and no.is_null:
        return null(type_)
    result = unknown_from(type_, condition)
    if type_.kind == KIND_DYNAMIC:
        return result
    # ConditionalExpr.Value: whatever holds for both results holds for the conditional.
    not_null = definitely_not_null(yes) and definitely_not_null(no)
    by = Refinement(not_null=not_null)
    # The result may be null, and then nothing else holds.
    if yes.is_null or no.is_null:
        return result
    if yes.type is NUMBER and no.type is NUMBER:
        lower, lower_in, upper, upper_in = number_bounds(yes)
        other_lower, other_lower_in, other_upper, other_upper_in = number_bounds(no)
        by.lower = _outer(lower, lower_in, other_lower, other_lower_in, -1)
        by.upper = _outer(upper, upper_in, other_upper, other_upper_in, 1)
    elif isinstance(yes.type, CollectionType) and yes.type == no.type:
        least, most = length_bounds(yes)
        other_least, other_most = length_bounds(no)
        by.min_length = min(least, other_least)
        by.max_length = -1 if most < 0 or other_most < 0 else max(most, other_most)
    return refine(result, by)


def _outer(
    first: int | Number, first_in: bool, second: int | Number, second_in: bool, sign: int
) -> tuple[int | Number, bool]:
    """Return the wider of two bounds."""
    order = compare(first, second) * sign
    if order == 0:
        return first, first_in or second_in
    return (first, first_in) if order > 0 else (second, second_in)


def describe_difference(yes: Type, no: Type) -> str:
    """Describe the difference of two types without a common type, as a sentence without its full
    stop.
    """
    if isinstance(yes, ObjectType) and isinstance(no, ObjectType):
        for name in sorted(yes.attributes):
            if name not in no.attributes:
                return f'The first result has an attribute "{name}" that the second lacks'
            if yes.attributes[name] != no.attributes[name]:
                inner = describe_difference(yes.attributes[name], no.attributes[name])
                return f'The attribute "{name}" differs. {inner}'
        for name in sorted(no.attributes):
            if name not in yes.attributes:
                return f'The second result has an attribute "{name}" that the first lacks'
    if isinstance(yes, TupleType) and isinstance(no, TupleType):
        if len(yes.elements) != len(no.elements):
            return (
                f"The first result has {len(yes.elements)} elements, "
                f"the second has {len(no.elements)}"
            )
        for position, element in enumerate(yes.elements):
            if element != no.elements[position]:
                inner = describe_difference(element, no.elements[position])
                return f"Element {position} differs. {inner}"
    if (
        isinstance(yes, CollectionType)
        and isinstance(no, CollectionType)
        and yes.kind == no.kind
        and yes.element != no.element
    ):
        return f"The elements differ. {describe_difference(yes.element, no.element)}"
    return f"The first is {yes.with_article()}, the second {no.with_article()}"

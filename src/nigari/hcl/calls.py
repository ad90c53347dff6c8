"""Function calls, including arguments that a function receives unevaluated.

Owns the lookup of the function, expansion and conversion of arguments, and the diagnostic for a
failed call at the argument concerned. Deliberately unknown here: the available functions.
"""

from __future__ import annotations

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.function import Function, FunctionError, Parameter
from nigari.cty.types import (
    DYNAMIC,
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_SET,
    KIND_TUPLE,
    CapsuleType,
)
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, capsule_value
from nigari.diagnostics import CalledFunction, Diagnostics
from nigari.hcl.evaluation import sentence, unknown_from
from nigari.hcl.expressions import CostlyExpression, Expression, Literal
from nigari.hcl.reference_values import scope_values
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.suggestion import did_you_mean
from nigari.hcl.traversal import Traversal


class Closure:
    """An unevaluated argument: the expression and its scope."""

    __slots__ = ("expression", "scope")

    expression: Expression
    scope: Scope

    def __init__(self, expression: Expression, scope: Scope) -> None:
        self.expression = expression
        self.scope = scope

    def value(self, diags: Diagnostics) -> Value:
        return self.expression.value(self.scope, diags)


CLOSURE_TYPE = CapsuleType("expression closure", Closure)
"""A parameter of this type receives its argument as a `Closure`, unevaluated."""

TYPE_ARGUMENTS = {"convert": 1, "core::convert": 1}
"""Index of the argument that is a type expression, by function name."""


class FunctionCall(CostlyExpression):
    """`name(arguments)`; the last argument may be expanded with `...`.

    `name` includes its namespaces, as in `provider::aws::f`. The parenthesis that opens at
    `open_start` closes before `end`.
    """

    __slots__ = ("arguments", "expand_final", "name", "name_end", "open_start")

    name: str
    arguments: list[Expression]
    expand_final: bool
    name_end: int
    open_start: int

    def __init__(
        self,
        source: Source,
        start: int,
        end: int,
        name: str,
        arguments: list[Expression],
        expand_final: bool,
        name_end: int,
        open_start: int,
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.name = name
        self.arguments = arguments
        self.expand_final = expand_final
        self.name_end = name_end
        self.open_start = open_start

    def start_span(self) -> tuple[int, int]:
        return self.start, self.open_start + 1

    def children(self) -> list[Expression]:
        return self.arguments

    def add_variables(self, found: list[Traversal], bound: frozenset[str]) -> None:
        """Add the references in the arguments; names in a type expression are not references."""
        type_argument = TYPE_ARGUMENTS.get(self.name, -1)
        for position, argument in enumerate(self.arguments):
            if position != type_argument:
                argument.add_variables(found, bound)

    def computed(self, scope: Scope, diags: Diagnostics) -> Value:
        function = scope.function(self.name)
        if function is None:
            self._report_unknown_function(scope, diags)
            return DYNAMIC_UNKNOWN
        arguments: list[Expression] | None = self.arguments
        if self.expand_final:
            result = self._expand(scope, diags)
            if isinstance(result, Value):
                return result
            arguments = result
        assert arguments is not None
        if not self._check_count(function, arguments, scope, diags):
            return DYNAMIC_UNKNOWN
        errors = diags.error_count
        values: list[Value] = []
        for position, argument in enumerate(arguments):
            parameter = _parameter(function, position)
            assert parameter is not None
            values.append(self._argument(function, parameter, argument, scope, diags))
        # FunctionCallExpr.Value: with a wrong argument the function is not called, so
        # that it reports no consequences.
        if diags.error_count > errors:
            return DYNAMIC_UNKNOWN
        try:
            return function.call(values)
        except FunctionError as error:
            self._report_failure(error, error.argument, function, arguments, scope, diags)
        except CtyError as error:
            self._report_failure(error, None, function, arguments, scope, diags)
        return DYNAMIC_UNKNOWN

    def _argument(
        self,
        function: Function,
        parameter: Parameter,
        argument: Expression,
        scope: Scope,
        diags: Diagnostics,
    ) -> Value:
        if parameter.type is CLOSURE_TYPE:
            # customdecode.ExpressionClosureType of HCL: try, can and convert get the
            # expression, not its value.
            return capsule_value(CLOSURE_TYPE, Closure(argument, scope))
        value = argument.value(scope, diags)
        wanted = parameter.type
        # The usual case, without a conversion.
        if value.type is wanted or wanted.kind == KIND_DYNAMIC:
            return value
        try:
            return convert(value, wanted)
        except CtyError as error:
            self._report_argument(function, parameter, argument, error, scope, diags)
            return value

    def _expand(self, scope: Scope, diags: Diagnostics) -> list[Expression] | Value:
        """Replace the last argument by its elements; if those are unknown, return the call's
        result.
        """
        last = self.arguments[-1]
        errors = diags.error_count
        value = last.value(scope, diags)
        if diags.error_count > errors:
            return DYNAMIC_UNKNOWN
        kind = value.type.kind
        if kind not in (KIND_DYNAMIC, KIND_LIST, KIND_SET, KIND_TUPLE):
            detail = (
                f"Only a list, set or tuple can be expanded into arguments with `...`, "
                f"and this is {value.type.with_article()}."
            )
            last.report(diags, scope, "Invalid expanded argument", detail, self)
            return DYNAMIC_UNKNOWN
        if value.is_null:
            detail = "The argument that `...` expands is null."
            last.report(diags, scope, "Invalid expanded argument", detail, self)
            return DYNAMIC_UNKNOWN
        # FunctionCallExpr.Value: without the number of arguments, neither their check nor
        # the type of the result is possible.
        if not value.is_known:
            return unknown_from(DYNAMIC, value)
        expanded = self.arguments[:-1]
        for element in value.sequence():
            expanded.append(
                # Marks of the list may hide in any element, so each argument
                # carries them.
                Literal(self.source, last.start, last.end, element.with_marks(value.marks))
            )
        return expanded

    def _check_count(
        self, function: Function, arguments: list[Expression], scope: Scope, diags: Diagnostics
    ) -> bool:
        parameters = function.parameters
        have, want = len(arguments), len(parameters)
        if have < want:
            self._report_too_few(function, have, scope, diags)
            return False
        if have > want and function.variadic is None:
            takes = "no arguments" if want == 0 else _counted(want)
            diags.error(
                "Too many function arguments",
                f'The function "{self.name}" takes {takes}, but {have} were passed.',
                arguments[want].start_range,
                self.range,
                values=scope_values(self, scope),
                call=self._called(function),
            )
            return False
        return True

    def _report_too_few(
        self, function: Function, have: int, scope: Scope, diags: Diagnostics
    ) -> None:
        want = _counted(len(function.parameters))
        least = "" if function.variadic is None else "at least "
        diags.error(
            "Too few function arguments",
            f'The function "{self.name}" takes {least}{want}. '
            f'The argument "{function.parameters[have].name}" is missing.',
            self.source.range(max(self.end - 1, self.start), self.end),
            self.range,
            values=scope_values(self, scope),
            call=self._called(function),
        )

    def _called(self, function: Function) -> CalledFunction:
        """Describe the function for a diagnostic about a wrong call."""
        from nigari.hcl.signatures import called_function

        return called_function(self.name, function)

    def _report_unknown_function(self, scope: Scope, diags: Diagnostics) -> None:
        if not scope.allows_functions:
            self.report(
                diags, scope, "Function calls not allowed", "Functions cannot be called here."
            )
            return
        where = self.source.range(self.start, self.name_end)
        namespace, separator, name = self.name.rpartition("::")
        names = scope.function_names()
        if not separator:
            detail = f'There is no function named "{name}".{did_you_mean(name, names)}'
        else:
            # The nearest name in the same namespace is likelier than one in another.
            inside = [known for known in names if known.startswith(namespace + "::")]
            if inside:
                hint = did_you_mean(self.name, inside)
                detail = f'There is no function "{name}" in the namespace {namespace}.{hint}'
            else:
                detail = f"There is no namespace {namespace} with functions."
        diags.error("Unknown function", detail, where, self.range)

    def _report_argument(
        self,
        function: Function,
        parameter: Parameter,
        argument: Expression,
        error: CtyError,
        scope: Scope,
        diags: Diagnostics,
    ) -> None:
        detail = f'Invalid value for the argument "{parameter.name}": {sentence(error)}'
        called = self._called(function)
        argument.report(
            diags,
            scope,
            "Invalid function argument",
            detail,
            self,
            argument.start_range,
            called,
        )

    def _report_failure(
        self,
        error: CtyError,
        position: int | None,
        function: Function,
        arguments: list[Expression],
        scope: Scope,
        diags: Diagnostics,
    ) -> None:
        if position is not None and 0 <= position < len(arguments):
            parameter = _parameter(function, position)
            if parameter is not None:
                self._report_argument(function, parameter, arguments[position], error, scope, diags)
                return
        detail = f'The call to "{self.name}" failed: {sentence(error)}'
        called = self._called(function)
        self.report(diags, scope, "Error in function call", detail, self, self.start_range, called)


def _parameter(function: Function, position: int) -> Parameter | None:
    parameters = function.parameters
    return parameters[position] if position < len(parameters) else function.variadic


def _counted(count: int) -> str:
    return "one argument" if count == 1 else f"{count} arguments"

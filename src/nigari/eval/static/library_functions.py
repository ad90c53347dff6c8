"""Functions that symbol libraries declare, as functions of the language.

A call evaluates the `return` expression with the arguments, and those local values that it leads
to. Their order is found once, so a chain of local values may have any length. Deliberately unknown
here: where libraries come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.config.symbol_files import LibraryFunction, LibraryParameter
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.function import Function, FunctionError, Parameter
from nigari.cty.types import BOOL, STRING, Type, allow_depth, without_optional
from nigari.cty.values import Value, list_value, object_value, tuple_value
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.hcl.traversal import Traversal, TraverseAttr
from nigari.hcl.type_expressions import ANY_TYPE, TypeConstraint
from nigari.hcl.user_functions import caller_sentence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.config.core.declared import CheckRule


MAX_DEPTH: Final = 1024
"""Maximum nesting of calls of the functions of a library, as in OpenTofu."""


class CallDepth:
    """Number of active calls of the functions of one library."""

    __slots__ = ("calls",)

    def __init__(self) -> None:
        self.calls: int = 0


def library_function(
    declared: LibraryFunction,
    types: Mapping[str, TypeConstraint],
    result: TypeConstraint,
    scope: Scope,
    depth: CallDepth,
) -> Function:
    """Make a function from its declaration, with the types of its parameters by name.

    `scope` has what its expressions may refer to besides its parameters and local values; it may be
    filled later.
    """
    allow_depth(0)
    parameters = [_parameter(each, types[each.name].type) for each in declared.parameters]
    has_variadic = bool(declared.parameters) and declared.parameters[-1].is_variadic
    variadic = parameters.pop() if has_variadic else None
    return Function(
        tuple(parameters),
        variadic,
        without_optional(result.type),
        _Body(declared, types, result, scope, depth).value,
        description=declared.description,
    )


def _parameter(declared: LibraryParameter, type_: Type) -> Parameter:
    return Parameter(
        declared.name,
        type_,
        allow_null=declared.allow_null,
        allow_unknown=declared.allow_unknown,
        # A literal null has no type of its own.
        allow_dynamic=True,
        allow_marked=True,
        description=declared.description,
    )


class _Body:
    """The implementation of a function."""

    __slots__ = ("declared", "depth", "locals", "result", "scope", "types")

    def __init__(
        self,
        declared: LibraryFunction,
        types: Mapping[str, TypeConstraint],
        result: TypeConstraint,
        scope: Scope,
        depth: CallDepth,
    ) -> None:
        self.declared = declared
        self.types = types
        self.result = result
        self.scope = scope
        self.depth = depth
        self.locals: list[str] | None = None
        """The local values that the result leads to, each after those it refers to itself."""

    def value(self, arguments: list[Value], _: Type) -> Value:
        name = self.declared.name
        if self.depth.calls >= MAX_DEPTH:
            raise FunctionError(
                f"calls of symbols::{name} are nested more than {MAX_DEPTH:,} levels deep"
            )
        self.depth.calls += 1
        try:
            return self._value(self._arguments(arguments))
        finally:
            self.depth.calls -= 1

    def _arguments(self, arguments: list[Value]) -> dict[str, Value]:
        """The arguments by parameter, with the defaults of optional attributes."""
        found: dict[str, Value] = {}
        for index, parameter in enumerate(self.declared.parameters):
            constraint = self.types[parameter.name]
            if parameter.is_variadic:
                further = [constraint.convert(each) for each in arguments[index:]]
                found[parameter.name] = _collected(further, without_optional(constraint.type))
            else:
                found[parameter.name] = constraint.convert(arguments[index])
        return found

    def _value(self, arguments: Mapping[str, Value]) -> Value:
        names: dict[str, object] = {"param": object_value(arguments)}
        scope = Scope(names, parent=self.scope)
        for index, parameter in enumerate(self.declared.parameters):
            for rule in parameter.validations:
                _check(rule, index, scope)
        if self.locals is None:
            self.locals = _local_order(self.declared)
        local: dict[str, Value] = {}
        for name in self.locals:
            local[name] = _evaluated(self.declared.locals[name], scope)
            scope = Scope({**names, "local": object_value(local)}, parent=self.scope)
        value = _evaluated(self.declared.result, scope)
        try:
            return value if self.result is ANY_TYPE else self.result.convert(value)
        except CtyError as error:
            raise FunctionError(
                f"the result of symbols::{self.declared.name} does not match its type: "
                f"{error.message}"
            ) from error


def _collected(arguments: Sequence[Value], type_: Type) -> Value:
    """The value of a variadic parameter: a list, unless the arguments are of different types."""
    if not arguments:
        return list_value(type_, [])
    exact = arguments[0].type
    if any(each.type != exact for each in arguments):
        return tuple_value(list(arguments))
    return list_value(exact, list(arguments))


def _check(rule: CheckRule, index: int, scope: Scope) -> None:
    """Refuse an argument that a validation does not accept."""
    condition = _converted(rule.condition, scope, BOOL, "condition")
    if not condition.is_known or (not condition.is_null and condition.unmark()[0].as_bool()):
        return
    if condition.is_null:
        raise FunctionError(f"the condition of a validation is null (at {rule.condition.range})")
    message = _converted(rule.error_message, scope, STRING, "error message")
    text = "it is not valid"
    if message.is_known and not message.is_null and not message.marks:
        text = message.as_string().strip().removesuffix(".")
    raise FunctionError(f"{text} (checked at {rule.condition.range})", index)


def _converted(expr: Expression, scope: Scope, type_: Type, what: str) -> Value:
    try:
        return convert(_evaluated(expr, scope), type_)
    except CtyError as error:
        if isinstance(error, FunctionError):
            raise
        raise FunctionError(
            f"the {what} of a validation is not {type_.with_article()} (at {expr.range})"
        ) from error


def _evaluated(expr: Expression, scope: Scope) -> Value:
    diags = Diagnostics()
    value = expr.value(scope, diags)
    for found in diags:
        if found.severity is Severity.ERROR:
            raise FunctionError(_reason(found))
    return value


def _reason(found: Diagnostic) -> str:
    """Word an error inside a function for a diagnostic about its call: the innermost one is enough,
    where functions call each other many levels deep.
    """
    call = found.call
    prefix = "" if call is None else f'The call to "{call.called_as}" failed: '
    if (
        call is None
        or not call.called_as.startswith("symbols::")
        or not found.detail.startswith(prefix)
    ):
        return caller_sentence(found)
    return found.detail.removeprefix(prefix).removesuffix(".")


def selected_names(expr: Expression, root: str) -> list[str]:
    """The names that an expression selects from a root, such as `local` or `value`."""
    return [name for each in expr.variables() if (name := selected_name(each, root)) is not None]


def selected_name(traversal: Traversal, root: str) -> str | None:
    """The name that a traversal selects from a root; None for others."""
    if traversal.root_name != root or len(traversal) < 2:
        return None
    step = traversal[1]
    return step.name if isinstance(step, TraverseAttr) else None


def _local_order(declared: LibraryFunction) -> list[str]:
    """Put the local values that the result leads to in an order in which each can be evaluated."""
    order: dict[str, None] = {}
    active: dict[str, None] = {}
    pending = [*reversed(selected_names(declared.result, "local"))]
    while pending:
        name = pending[-1]
        expr = declared.locals.get(name)
        inner = [] if expr is None or name in order else selected_names(expr, "local")
        missing = [each for each in inner if each not in order and each in declared.locals]
        if not missing or expr is None:
            pending.pop()
            active.pop(name, None)
            if expr is not None:
                order[name] = None
            continue
        active[name] = None
        for each in missing:
            if each in active:
                raise FunctionError(f"local.{each} of symbols::{declared.name} depends on itself")
        pending.extend(reversed(missing))
    return list(order)

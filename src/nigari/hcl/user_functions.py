"""User-defined functions in the language itself.

function "greet" {
params         = [name]
variadic_param = others      # optional: receives all further arguments, as a tuple
result         = "Hello, ${name}!"
}

An extension for authors of languages: decode the blocks first, and put the functions into the scope
in which the rest is evaluated.
"""

from __future__ import annotations

from nigari.cty.function import Function, FunctionError, Parameter
from nigari.cty.types import DYNAMIC, Type, allow_depth
from nigari.cty.values import Value, tuple_value
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.hcl.body import AttributeSchema, Block, BlockSchema, Body, BodySchema
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.hcl.static import expr_as_keyword, expr_list

MAX_DEPTH = 100
"""Maximum nesting of calls of user-defined functions."""

_FUNCTION = BodySchema(
    (
        AttributeSchema("params", True),
        AttributeSchema("variadic_param"),
        AttributeSchema("result", True),
    )
)


class Depth:
    """Number of active calls of the functions of one body."""

    __slots__ = ("calls",)

    calls: int

    def __init__(self) -> None:
        self.calls = 0


class _Result:
    """The implementation of a function: evaluates its expression with the arguments in scope."""

    __slots__ = ("depth", "expr", "name", "names", "scope", "variadic")

    def __init__(
        self,
        name: str,
        names: list[str],
        variadic: str | None,
        expr: Expression,
        scope: Scope,
        depth: Depth,
    ) -> None:
        self.name = name
        self.names = names
        self.variadic = variadic
        self.expr = expr
        self.scope = scope
        self.depth = depth

    def value(self, arguments: list[Value], _: Type) -> Value:
        if self.depth.calls >= MAX_DEPTH:
            raise FunctionError(
                f"calls of {self.name} are nested more than {MAX_DEPTH} levels deep"
            )
        count = len(self.names)
        variables = dict(zip(self.names, arguments, strict=False))
        if self.variadic is not None:
            variables[self.variadic] = tuple_value(arguments[count:])
        diags = Diagnostics()
        self.depth.calls += 1
        try:
            value = self.expr.value(Scope(variables, parent=self.scope), diags)
        finally:
            self.depth.calls -= 1
        for found in diags:
            if found.severity is Severity.ERROR:
                raise FunctionError(caller_sentence(found))
        return value


def decode_functions(
    body: Body, scope: Scope, diags: Diagnostics, block_type: str = "function"
) -> tuple[dict[str, Function], Body]:
    """Decode the functions that a body defines; the second result is the rest of the body.

    The scope is what the functions' expressions see besides their parameters. It may be filled
    after this call: if it contains the functions themselves, they can call each other.
    """
    schema = BodySchema((), (BlockSchema(block_type, ("name",)),))
    content, rest = body.partial_content(schema, diags)
    functions: dict[str, Function] = {}
    depth = Depth()
    allow_depth(0)
    for block in content.blocks:
        function = _decode_function(block, scope, depth, diags)
        if function is None:
            continue
        if block.labels[0] in functions:
            _report_duplicate(block, diags)
            continue
        functions[block.labels[0]] = function
    return functions, rest


def _decode_function(
    block: Block, scope: Scope, depth: Depth, diags: Diagnostics
) -> Function | None:
    errors = diags.error_count
    content = block.body.content(_FUNCTION, diags)
    if diags.error_count > errors:
        return None
    names: list[str] = []
    for expr in expr_list(content.attributes["params"].expr, diags) or []:
        _add_name(expr, names, diags)
    variadic: str | None = None
    attribute = content.attributes.get("variadic_param")
    if attribute is not None:
        variadic = _add_name(attribute.expr, list(names), diags)
    if diags.error_count > errors:
        return None
    result = content.attributes["result"].expr
    return Function(
        tuple([_parameter(name) for name in names]),
        None if variadic is None else _parameter(variadic),
        DYNAMIC,
        _Result(block.labels[0], names, variadic, result, scope, depth).value,
    )


def _parameter(name: str) -> Parameter:
    # The expression itself handles unknown arguments, and often determines more than an unknown
    # result.
    return Parameter(name, DYNAMIC, allow_unknown=True, allow_dynamic=True)


def _add_name(expr: Expression, names: list[str], diags: Diagnostics) -> str | None:
    name = expr_as_keyword(expr)
    if name is None:
        diags.error(
            "Invalid parameter name",
            "A parameter must be a single name, without quotes, for the result to refer to.",
            expr.range,
        )
    elif name in names:
        diags.error(
            "Duplicate parameter name",
            f'There is already a parameter named "{name}".',
            expr.range,
        )
    else:
        names.append(name)
    return name


def caller_sentence(found: Diagnostic) -> str:
    """Word an error inside a function for a diagnostic about its call."""
    detail = (found.detail or found.summary).removesuffix(".")
    return detail if found.subject is None else f"{detail} (at {found.subject})"


def _report_duplicate(block: Block, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate function",
        f'There is already a function named "{block.labels[0]}".',
        block.def_range,
    )

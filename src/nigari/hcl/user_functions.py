"""Functions that are written in the language itself.

    function "greet" {
      params         = [name]
      variadic_param = others      # optional: takes all further arguments, as a tuple
      result         = "Hello, ${name}!"
    }

An extension for authors of languages: read the blocks before anything else, and put the functions
into the scope in which the rest is evaluated.
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
"""How many calls of functions written in the language may be inside each other."""

_FUNCTION = BodySchema(
    (
        AttributeSchema("params", True),
        AttributeSchema("variadic_param"),
        AttributeSchema("result", True),
    )
)


class Depth:
    """How many calls of the functions of one body are going on."""

    __slots__ = ("calls",)

    calls: int

    def __init__(self) -> None:
        self.calls = 0


class _Result:
    """What a function does: evaluate an expression with its arguments in scope."""

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
                raise FunctionError(_told_by_the_caller(found))
        return value


def decode_functions(
    body: Body, scope: Scope, diags: Diagnostics, block_type: str = "function"
) -> tuple[dict[str, Function], Body]:
    """The functions that a body defines, and the body without them.

    The scope is what the functions' expressions see besides their parameters. It may be filled
    after this call: let it hold the functions themselves, and they can call each other.
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
    # The expression itself says what becomes of an unknown, and often knows more than that the
    # result is unknown too.
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


def _told_by_the_caller(found: Diagnostic) -> str:
    """What went wrong inside, for a sentence of the call that names the function."""
    detail = (found.detail or found.summary).removesuffix(".")
    return detail if found.subject is None else f"{detail} (at {found.subject})"


def _report_duplicate(block: Block, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate function",
        f'There is already a function named "{block.labels[0]}".',
        block.def_range,
    )

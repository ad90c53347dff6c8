r"""Static analysis of expressions: keywords, references, lists, maps and calls, without evaluation.

Some arguments are syntax rather than values: a keyword, an address, a list of addresses. Both
syntaxes can be read this way. A bare `true`, `false` or `null` is an ordinary word here; the caller
interprets the words.

    from nigari import hcl
    from nigari.hcl import static

    file = hcl.parse('on = failure\nafter = [aws_vpc.main, module.net["eu"]]\n')
    found = file.body.just_attributes(file.diagnostics)
    print(static.expr_as_keyword(found["on"].expr))  # failure
    items = static.expr_list(found["after"].expr, file.diagnostics)
    addresses = [static.abs_traversal_for_expr(each, file.diagnostics) for each in items]
    print([each.root_name for each in addresses])  # ['aws_vpc', 'module']
"""

from __future__ import annotations

from nigari.cty.paths import GetAttr, Index, Path
from nigari.cty.types import NUMBER, STRING
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.calls import FunctionCall
from nigari.hcl.expressions import Expression, SyntaxFault
from nigari.hcl.parser import parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.templates import StringLiteral
from nigari.hcl.traversal import Traversal, TraverseAttr, TraverseRoot

__all__ = [
    "FunctionCall",
    "abs_traversal_for_expr",
    "expr_as_keyword",
    "expr_call",
    "expr_list",
    "expr_map",
    "rel_traversal_for_expr",
]


def expr_as_keyword(expr: Expression) -> str | None:
    """Return the expression's single bare word; None if it is anything else."""
    traversal = expr.static_traversal()
    if traversal is None or len(traversal) != 1:
        return None
    return traversal.root_name


def abs_traversal_for_expr(expr: Expression, diags: Diagnostics) -> Traversal | None:
    """Read the expression as a reference that begins with a name of the scope."""
    traversal = expr.static_traversal()
    if traversal is None:
        form = "a name, with dots and index brackets after it"
        _report_shape(expr, "a reference", form, expr.range, diags)
    return traversal


def attribute_expression(expr: Expression, name: str) -> Expression | None:
    """Return the expression of one attribute of an object whose keys are all literal."""
    found: Expression | None = None
    for key, inner in expr.static_map() or ():
        written = key.text if isinstance(key, StringLiteral) else expr_as_keyword(key)
        if written is None:
            return None
        if written == name:
            found = inner
    return found


def rel_traversal_for_expr(expr: Expression, diags: Diagnostics) -> Traversal | None:
    """Read the expression as steps into a value that the caller determines."""
    traversal = abs_traversal_for_expr(expr, diags)
    if traversal is None:
        return None
    root = traversal.steps[0]
    assert isinstance(root, TraverseRoot)
    # RelTraversalForExpr: as in ignore_changes, the first name is an attribute.
    first = TraverseAttr(root.name, root.start, root.end)
    return Traversal(traversal.source, [first, *traversal.steps[1:]])


def expr_list(expr: Expression, diags: Diagnostics) -> list[Expression] | None:
    """List the elements of an expression that is a list constructor."""
    elements = expr.static_list()
    if elements is None:
        _report_shape(
            expr, "a list", "square brackets around the elements", expr.start_range, diags
        )
    return elements


def expr_map(expr: Expression, diags: Diagnostics) -> list[tuple[Expression, Expression]] | None:
    """List the keys and values of an expression that is an object constructor."""
    items = expr.static_map()
    if items is None:
        _report_shape(expr, "a map", "braces around keys and values", expr.start_range, diags)
    return items


def expr_call(expr: Expression, diags: Diagnostics) -> FunctionCall | None:
    """Read the expression as a function call, whose arguments can be read statically too."""
    call = static_call(expr)
    if call is None:
        form = "a name and arguments in parentheses"
        _report_shape(expr, "a function call", form, expr.start_range, diags)
    return call


def static_call(expr: Expression) -> FunctionCall | None:
    """Return the function call; None if the expression is anything else."""
    source = expr.native_source()
    if source is not None:
        faults = Diagnostics()
        # JSON syntax of HCL: in static positions a string holds a native expression.
        expr = parse_expression(source, faults)
        if faults.has_errors:
            return None
    return expr if isinstance(expr, FunctionCall) else None


def _report_shape(expr: Expression, what: str, form: str, where: Range, diags: Diagnostics) -> None:
    if isinstance(expr, SyntaxFault):
        return
    diags.error(
        f"{what.removeprefix('a ').capitalize()} required",
        f"Write {what} itself here, not an expression that produces one: {form}.",
        where,
    )


def expr_part(expression: Expression, path: Path) -> Expression:
    """Follow a path as far as the expression is written out, and return the part's expression."""
    for step in path:
        key = step.name if isinstance(step, GetAttr) else plain_key(step)
        inner: Expression | None = None
        if isinstance(key, int):
            elements = expression.static_list()
            if elements is not None and 0 <= key < len(elements):
                inner = elements[key]
        elif isinstance(key, str):
            for name, value in expression.static_map() or ():
                if _written_key(name) == key:
                    inner = value
        if inner is None:
            break
        expression = inner
    return expression


def _written_key(expression: Expression) -> str | None:
    value = expression.value(Scope(), Diagnostics())
    if value.is_known and not value.is_null and value.type == STRING:
        return value.as_string()
    return None


def plain_key(step: object) -> int | str | None:
    """Return the key of a step into a collection if it is a known string or whole number."""
    if not isinstance(step, Index) or step.key.is_null or not step.key.is_known:
        return None
    if step.key.type == STRING:
        return step.key.as_string()
    number = step.key.to_python() if step.key.type == NUMBER else None
    return number if isinstance(number, int) else None

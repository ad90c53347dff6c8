"""Reading expressions without evaluating them: keywords, references, lists, maps and calls.

Some arguments are syntax rather than values: the name of a keyword, an address, a list of
addresses. Both syntaxes can be read this way. A bare `true`, `false` or `null` is a word here as
good as any other; what the word means is for the caller to say.
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


def expr_as_keyword(expr: Expression) -> str | None:
    """The single bare word that the expression is, or None."""
    traversal = expr.static_traversal()
    if traversal is None or len(traversal) != 1:
        return None
    return traversal.root_name


def abs_traversal_for_expr(expr: Expression, diags: Diagnostics) -> Traversal | None:
    """The reference that the expression is, beginning with a name of the scope."""
    traversal = expr.static_traversal()
    if traversal is None:
        form = "a name, with dots and index brackets after it"
        _report_shape(expr, "a reference", form, expr.range, diags)
    return traversal


def attribute_expression(expr: Expression, name: str) -> Expression | None:
    """The expression of one attribute, where all keys of an object are written out."""
    found: Expression | None = None
    for key, inner in expr.static_map() or ():
        written = key.text if isinstance(key, StringLiteral) else expr_as_keyword(key)
        if written is None:
            return None
        if written == name:
            found = inner
    return found


def rel_traversal_for_expr(expr: Expression, diags: Diagnostics) -> Traversal | None:
    """The same, read as steps into a value that the caller has in mind."""
    traversal = abs_traversal_for_expr(expr, diags)
    if traversal is None:
        return None
    root = traversal.steps[0]
    assert isinstance(root, TraverseRoot)
    first = TraverseAttr(root.name, root.start, root.end)
    return Traversal(traversal.source, [first, *traversal.steps[1:]])


def expr_list(expr: Expression, diags: Diagnostics) -> list[Expression] | None:
    """The elements of an expression that is written as a list."""
    elements = expr.static_list()
    if elements is None:
        _report_shape(
            expr, "a list", "square brackets around the elements", expr.start_range, diags
        )
    return elements


def expr_map(expr: Expression, diags: Diagnostics) -> list[tuple[Expression, Expression]] | None:
    """The keys and values of an expression that is written as a map."""
    items = expr.static_map()
    if items is None:
        _report_shape(expr, "a map", "braces around keys and values", expr.start_range, diags)
    return items


def expr_call(expr: Expression, diags: Diagnostics) -> FunctionCall | None:
    """The function call that the expression is; its arguments can be read in the same ways."""
    call = static_call(expr)
    if call is None:
        form = "a name and arguments in parentheses"
        _report_shape(expr, "a function call", form, expr.start_range, diags)
    return call


def static_call(expr: Expression) -> FunctionCall | None:
    """The function call that the expression is, or None."""
    source = expr.native_source()
    if source is not None:
        faults = Diagnostics()
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
    """The expression for the part of a value that a path leads to, as far as it is written out."""
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
    """The key of a step into a collection, if it is known and a string or a whole number."""
    if not isinstance(step, Index) or step.key.is_null or not step.key.is_known:
        return None
    if step.key.type == STRING:
        return step.key.as_string()
    number = step.key.to_python() if step.key.type == NUMBER else None
    return number if isinstance(number, int) else None

"""Literal arguments, which need no evaluation.

Loading evaluates nothing that depends on names or functions. Arguments that must be literal are
read here; of an argument that may be any static expression, only a literal value is checked.
"""

from __future__ import annotations

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import BOOL, STRING, Type
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Attribute
from nigari.hcl.calls import FunctionCall
from nigari.hcl.evaluation import as_sentence, sentence
from nigari.hcl.expressions import Expression, Literal
from nigari.hcl.parser import parse_expression
from nigari.hcl.quoting import at_the_start, with_article
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.templates import StringLiteral


def is_written_out(expr: Expression) -> bool:
    """Check for an expression without references and functions."""
    if isinstance(expr, Literal | StringLiteral):
        return True
    return not expr.variables() and not _has_call(expr)


def _has_call(expr: Expression) -> bool:
    pending = [expr]
    while pending:
        part = pending.pop()
        if isinstance(part, FunctionCall):
            return True
        pending.extend(part.children())
    return False


def written_value(expr: Expression, type_: Type, what: str, diags: Diagnostics) -> Value | None:
    """Return the literal value, converted to a type; None if it is not literal or null.

    A literal that does not match is reported. `what` names the argument.
    """
    return _fitting(expr, type_, what, diags) if is_written_out(expr) else None


def is_written_null(expr: Expression) -> bool:
    """Check for a literal null."""
    return is_written_out(expr) and expr.value(Scope(), Diagnostics()).is_null


def constant(attribute: Attribute, type_: Type, diags: Diagnostics) -> Value | None:
    """Return the value of an argument that must be literal; None after an error."""
    return _fitting(attribute.expr, type_, attribute.name, diags)


def _fitting(expr: Expression, type_: Type, what: str, diags: Diagnostics) -> Value | None:
    errors = diags.error_count
    value = expr.value(Scope(), diags)
    if diags.error_count > errors:
        return None
    try:
        value = convert(value, type_)
    except CtyError as error:
        _report_misfit(expr, what, sentence(error), diags)
        return None
    if value.is_null:
        _report_misfit(expr, what, "it is null", diags)
        return None
    return value if value.is_wholly_known else None


def constant_text(attribute: Attribute | None, diags: Diagnostics) -> str:
    """Return the string of an argument that must be literal; empty if it is absent."""
    value = None if attribute is None else constant(attribute, STRING, diags)
    return "" if value is None else value.as_string()


def constant_flag(attribute: Attribute | None, diags: Diagnostics, default: bool = False) -> bool:
    """Return the bool of an argument that must be literal."""
    value = None if attribute is None else constant(attribute, BOOL, diags)
    return default if value is None else value.as_bool()


def native(expr: Expression, diags: Diagnostics) -> Expression:
    """Parse a JSON string as native syntax, for arguments that are syntax rather than values."""
    source = expr.native_source()
    return expr if source is None else parse_expression(source, diags)


def is_quoted(expr: Expression) -> bool:
    """Check for a quoted string in the native syntax."""
    return isinstance(expr, StringLiteral) and expr.source.text.startswith('"', expr.start)


def unquoted(expr: Expression, what: str, diags: Diagnostics) -> Expression:
    """Return the expression inside the quotes that very old configurations put around references."""
    if not isinstance(expr, StringLiteral) or not is_quoted(expr):
        return expr
    diags.warning(
        f"Quoted {what}",
        f"{at_the_start(with_article(what))} is written without quotes here. The quoted form still works, but may not in "
        "later versions: remove the quotes.",
        expr.range,
    )
    source = expr.source
    return parse_expression(Source(source.filename, expr.text, source.pos(expr.start + 1)), diags)


def _report_misfit(expr: Expression, what: str, reason: str, diags: Diagnostics) -> None:
    diags.error(
        "Invalid value",
        f'Invalid value for the argument "{what}": {as_sentence(reason)}',
        expr.start_range,
        expr.range,
    )

"""Evaluation of a text in one call: plain data and Python functions in, plain data out.

A text is an expression, or a whole file whose arguments are evaluated and whose blocks have the
shape of `python_data`. A result that cannot be evaluated or shown raises an `HclError`.
"""

from __future__ import annotations

import re

from nigari.cty.errors import CtyError
from nigari.diagnostics import Diagnostics, to_text
from nigari.hcl.body import Body
from nigari.hcl.errors import HclError
from nigari.hcl.evaluation import sentence
from nigari.hcl.expressions import Expression
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parser import parse_body, parse_expression
from nigari.hcl.python_data import labelled
from nigari.hcl.reference_values import scope_values
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


# A name followed by an equals sign, a brace, a label or the end of the text begins no expression.
_BODY: Final = lazy_pattern(
    r"(?:\s|\#[^\n]*|//[^\n]*|/\*.*?\*/)*(?:\Z|[^\W\d][\w-]*+[ \t]*+(?:=(?![=>])|[{\"]|[^\W\d]))",
    re.DOTALL,
)


def evaluate_text(source: Source, scope: Scope) -> object:
    """Evaluate an expression, or every argument of a file, to plain data."""
    diags = Diagnostics()
    parsed = _parsed(source, diags)
    raise_for_errors(source, diags)
    if isinstance(parsed, Body):
        found: object = evaluated_body(parsed, scope, diags)
    else:
        found = _evaluated(parsed, scope, diags)
    raise_for_errors(source, diags)
    return found


def raise_for_errors(source: Source, diags: Diagnostics) -> None:
    """Raise an `HclError` if an error was collected."""
    if diags.has_errors:
        data = source.text.encode("utf-8", "surrogateescape")
        raise HclError(list(diags), to_text(diags.in_order(), {source.filename: data}))


def _parsed(source: Source, diags: Diagnostics) -> Body | Expression:
    if source.filename.endswith(".json"):
        from nigari.hcl.json_body import parse_json_body

        return parse_json_body(source, diags)
    if _BODY.match(source.text):
        return parse_body(source, diags)
    return parse_expression(source, diags)


def evaluated_body(body: Body, scope: Scope, diags: Diagnostics) -> dict[str, object]:
    """Evaluate the arguments and blocks of a body, in the shape of `python_data`."""
    blocks = body.blocks if isinstance(body, NativeBody) else []
    attributes = (
        body.attributes if isinstance(body, NativeBody) else body.just_attributes(Diagnostics())
    )
    result = {name: _evaluated(each.expr, scope, diags) for name, each in attributes.items()}
    by_type: dict[str, list[object]] = {}
    for block in blocks:
        content = evaluated_body(block.body, scope, diags)
        by_type.setdefault(block.type, []).append(labelled(block.labels, content))
    result.update(by_type)
    return result


def _evaluated(expr: Expression, scope: Scope, diags: Diagnostics) -> object:
    errors = diags.error_count
    value = expr.value(scope, diags)
    if diags.error_count > errors:
        return None
    try:
        return value.to_python()
    except CtyError as error:
        diags.error(
            "Not plain data",
            f"The result cannot be represented as plain data: {sentence(error)}",
            expr.range,
            values=scope_values(expr, scope),
        )
        return None

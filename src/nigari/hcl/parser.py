"""Entry points of parsing: from a source to a body, an expression, a template or a traversal.

All of them report every syntax error in the text, and return as much as could be parsed.
"""

from __future__ import annotations

from nigari.cty.gc_pause import CollectionPaused
from nigari.diagnostics import Diagnostics
from nigari.hcl.expressions import Expression, SyntaxFault
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parse_expression import ExpressionParser
from nigari.hcl.parse_structure import StructureParser
from nigari.hcl.scanner import scan, scan_expression, scan_template
from nigari.hcl.source import Source
from nigari.hcl.token_stream import Abandon, TooDeep
from nigari.hcl.tokens import END
from nigari.hcl.traversal import Traversal


def parse_body(source: Source, diags: Diagnostics) -> NativeBody:
    """Parse a file of the native syntax."""
    with CollectionPaused(len(source.text)):
        return StructureParser(source, scan(source.text), diags).file()


def parse_expression(source: Source, diags: Diagnostics) -> Expression:
    """Parse a single expression, which may span several lines."""
    parser = ExpressionParser(source, scan_expression(source.text), diags)
    try:
        expression = parser.expression()
        if parser.kinds[parser.at] != END:
            parser.fail(
                parser.at,
                "Extra characters after an expression",
                "The expression is complete before this. Remove the rest, or put an operator "
                "between the two parts.",
            )
        return expression
    except (Abandon, TooDeep):
        return SyntaxFault(source, 0, len(source.text))


def parse_template(source: Source, diags: Diagnostics) -> Expression:
    """Parse a template without quotes, such as that of a template file."""
    parser = ExpressionParser(source, scan_template(source.text), diags)
    try:
        return parser.template(0, END, False)
    except (Abandon, TooDeep):
        return SyntaxFault(source, 0, len(source.text))


def parse_traversal(source: Source, diags: Diagnostics) -> Traversal | None:
    """Parse a name and the steps after it, with literal indexes; return None after an error."""
    errors = diags.error_count
    expression = parse_expression(source, diags)
    if diags.error_count > errors:
        return None
    traversal = expression.static_traversal()
    odd = (expression.start, expression.end) if traversal is None else traversal.odd_index()
    if odd is None:
        return traversal
    diags.error(
        "Invalid reference",
        "A name is required here. It can be followed by attributes such as .name and indexes "
        'such as [0] or ["key"], but by nothing that has to be computed.',
        source.range(*odd),
    )
    return None

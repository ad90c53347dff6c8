"""Local values: arguments of `locals` blocks."""

from __future__ import annotations

from nigari.config.core.declared import report_bad_name
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute
from nigari.hcl.expressions import Expression
from nigari.hcl.scanner import is_identifier
from nigari.record import record


@record
class Local:
    """A local value, unevaluated."""

    attribute: Attribute

    @property
    def name(self) -> str:
        """Name after `local.`."""
        return self.attribute.name

    @property
    def expr(self) -> Expression:
        """The unevaluated expression."""
        return self.attribute.expr

    @property
    def range(self) -> Range:
        """Range of the whole argument."""
        return self.attribute.range


def decode_local(attribute: Attribute, diags: Diagnostics) -> Local:
    """Decode one argument of a `locals` block."""
    if not is_identifier(attribute.name):
        report_bad_name(attribute.name, "local value name", attribute.name_range, diags)
    return Local(attribute)

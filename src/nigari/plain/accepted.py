"""Expressions that OpenTofu can evaluate before planning: it looks at references, not at values.

Such an expression may use variables and local values, `path` and `terraform.workspace`, as long as
everything that these are made of does, too, whether it is needed or not.
"""

from __future__ import annotations

from collections.abc import Container

from nigari.addrs.values import InputVariable, LocalValue, PathAttr, TerraformAttr
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame
from nigari.hcl.expressions import Expression


class StaticReferences:
    """Check for expressions that OpenTofu can evaluate before planning; results are cached."""

    def __init__(self, given: Container[str]) -> None:
        """`given` are the variables of the root module that have a value."""
        self._given = given
        self._known: dict[tuple[Frame, str], bool] = {}

    def are_all(self, frame: Frame, expr: Expression) -> bool:
        """Check an expression of a module instance."""
        compiled = frame.instance.compiled
        if compiled.is_written_out(expr):
            return True
        references = compiled.expression(expr).references
        return all(self._is_static(frame, each.subject) for each in references)

    def _is_static(self, frame: Frame, subject: object) -> bool:
        if isinstance(subject, PathAttr | TerraformAttr):
            return True
        if not isinstance(subject, InputVariable | LocalValue):
            return False
        key = frame, subject.text
        if key not in self._known:
            # A cycle is an error elsewhere.
            self._known[key] = False
            self._known[key] = self._is_value_static(frame, subject)
        return self._known[key]

    def _is_value_static(self, frame: Frame, subject: InputVariable | LocalValue) -> bool:
        if isinstance(subject, LocalValue):
            local = frame.module.locals.get(subject.name)
            return local is not None and self.are_all(frame, local.expr)
        variable = frame.module.variables.get(subject.name)
        if variable is None or variable.sensitive or variable.ephemeral:
            return False
        call, parent = frame.instance.call, frame.parent
        if call is None or parent is None:
            return subject.name in self._given or variable.default is not None
        given = parent.instance.compiled.arguments(call, Diagnostics()).get(subject.name)
        return given is None or self.are_all(parent, given.expr)

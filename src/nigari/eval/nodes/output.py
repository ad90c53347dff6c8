"""Output values: the value of an expression, with the type and marks that the block declares."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.config.blocks.output import Output
from nigari.cty.errors import CtyError
from nigari.cty.paths import path_text
from nigari.cty.types import without_optional
from nigari.cty.values import Value, unknown
from nigari.diagnostics import Diagnostic, Range, Severity
from nigari.eval.core.instances import FAILED, Frame, Origin, ValueNode
from nigari.eval.core.scope import evaluate_origin
from nigari.eval.core.worklist import Need
from nigari.eval.nodes.module_call import is_remote
from nigari.hcl.type_expressions import ANY_TYPE
from nigari.lang.marks import EPHEMERAL, SENSITIVE, Deprecated


class OutputNode(ValueNode):
    """An output value of one module instance."""

    __slots__ = ("output",)

    def __init__(self, frame: Frame, output: Output) -> None:
        super().__init__(frame)
        self.output: Output = output

    @property
    def label(self) -> str:
        return self.frame.label(f"output.{self.output.name}")

    @property
    def range(self) -> Range:
        return self.output.range

    def origin(self) -> Origin:
        return Origin(self.frame, self.frame.instance.compiled.expression(self.output.expr))

    def step(self) -> Sequence[Need]:
        output = self.output
        result = evaluate_origin(self.origin())
        if not isinstance(result, Value):
            return result
        if output.constraint is not ANY_TYPE:
            result = self._converted(result)
        self._check_secrets(result)
        if output.sensitive:
            result = result.mark(SENSITIVE)
        if output.ephemeral:
            result = result.mark(EPHEMERAL)
        if output.deprecated:
            origin = f"{self.frame.instance.addr}.{output.name}".lstrip(".")
            mark = Deprecated(output.deprecated, origin, is_remote(self.frame))
            result = result.mark(mark)
        self.value = result
        return ()

    def _converted(self, value: Value) -> Value:
        """Convert the value to the declared type, with the defaults of optional attributes."""
        constraint = self.output.constraint
        try:
            return constraint.convert(value)
        except CtyError as error:
            part = f" at {path_text(error.path)}" if error.path else ""
            self.frame.run.diags.error(
                "Invalid value for output",
                f'The value of output "{self.output.name}" does not match its type{part}: '
                f"{error.message}.",
                self.output.expr.range,
            )
            return unknown(without_optional(constraint.type)).with_causes(FAILED.causes)

    def _check_secrets(self, value: Value) -> None:
        """Report a secret that would leave the module, or the program, without saying so."""
        if not value.contains_marked:
            return
        output, diags = self.output, self.frame.run.diags
        marks = value.unmark_deep()[1]
        if EPHEMERAL in marks and not output.ephemeral:
            diags.error(
                "Ephemeral value in an output",
                f'The value of output "{output.name}" is ephemeral, but outputs are stored '
                "unless they are declared with ephemeral = true"
                + (", which is not allowed in the root module." if self._is_root else "."),
                output.expr.range,
            )
        elif SENSITIVE in marks and self._is_root and not output.sensitive:
            diags.error(
                "Sensitive value in an output",
                f'The value of output "{output.name}" is sensitive and would be shown. Add '
                "sensitive = true to the output, or remove the mark with nonsensitive() if it "
                "may be shown.",
                output.range,
            )

    @property
    def _is_root(self) -> bool:
        return self.frame.instance.addr.is_root


def infinite_output(output: Output) -> Diagnostic:
    """An output value that cannot be stored."""
    return Diagnostic(
        Severity.ERROR,
        "Infinite number in an output",
        f'The value of output "{output.name}" contains an infinite number, which a state cannot '
        "store. Check for a division by zero.",
        output.range,
    )

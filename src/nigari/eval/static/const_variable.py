"""The promise of a variable that says `const = true`: it is known before anything runs."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.diagnostics import Range
from nigari.diagnostics.advice import advice
from nigari.eval.core.causes import CauseKind, UnknownCause, causes_within
from nigari.eval.core.instances import ValueNode
from nigari.eval.core.static_position import RequestValue, StaticPosition, explain_unknown
from nigari.eval.core.worklist import DONE, Need, Node


class ConstVariable(Node):
    """Whether a variable keeps its promise."""

    __slots__ = ("_variable", "_request")

    def __init__(self, variable: ValueNode, request: RequestValue) -> None:
        super().__init__()
        self._variable = variable
        self._request = request

    @property
    def label(self) -> str:
        return self._variable.label

    @property
    def range(self) -> Range | None:
        return self._variable.range

    def fail(self) -> None:
        """The cycle has been reported."""

    def step(self) -> Sequence[Need]:
        variable = self._variable
        if variable.state != DONE:
            return (variable,)
        if variable.value.is_wholly_known:
            return ()
        origin = variable.origin()
        if origin is None:
            for cause in causes_within(variable.value):
                if cause.kind is CauseKind.MISSING_ARGUMENT:
                    _report_no_argument(variable, cause)
                    break
                if cause.kind is not CauseKind.REPORTED and not self._request(cause):
                    _report_missing(variable)
                    break
            return ()
        what = f"constant {variable.label}"
        explain_unknown(
            StaticPosition(what, origin.frame, origin.compiled.expr, self._request, origin.data),
            variable.value,
        )
        return ()


def _report_missing(variable: ValueNode) -> None:
    variable.frame.run.diags.error(
        "No value for variable",
        f"{variable.label} is declared with const = true, so its value must be known before "
        f"anything runs, but it has no value. Set it {advice().set_variable()}, or declare a "
        "default.",
        variable.range,
    )


def _report_no_argument(variable: ValueNode, cause: UnknownCause) -> None:
    variable.frame.run.diags.error(
        "Missing argument",
        f"{variable.label} is declared with const = true, so its value must be known before "
        "anything runs, but the call has no argument for it. Add the argument, or declare a "
        "default.",
        cause.range,
    )

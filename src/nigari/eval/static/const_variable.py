"""Variables whose values or defaults must be known before anything runs.

`const = true` promises it of a value. A default that is not a literal must be known, too, though a
variable that has no value yet may be part of it: whatever needs the default will ask for that. A
default that depends on `each` or `count` of a call has the call expanded: each instance has its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.cty.values import Value
from nigari.diagnostics import Range
from nigari.diagnostics.advice import advice
from nigari.eval.core.causes import CauseKind, UnknownCause, causes_within
from nigari.eval.core.instances import Frame, ValueNode
from nigari.eval.core.scope import evaluate_origin
from nigari.eval.core.static_position import RequestValue, StaticPosition, explain_unknown
from nigari.eval.core.worklist import DONE, Need, Node, Stages
from nigari.eval.nodes.check_node import CheckNode
from nigari.hcl.expressions import Expression

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class ConstVariable(Node):
    """Checks that a `const` variable has a static value."""

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
                    # Static positions that depend on it don't report it again.
                    variable.fail()
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


_COMES_LATER: Final = (CauseKind.MISSING_VARIABLE, CauseKind.MISSING_ARGUMENT)
_OF_INSTANCES: Final = (CauseKind.EACH, CauseKind.COUNT)


def default_check(frame: Frame, name: str, default: Expression, request: RequestValue) -> CheckNode:
    """The check of a variable's default that is not a literal."""
    slot = StaticPosition(
        f"default of {frame.label(f'var.{name}')}",
        frame,
        default,
        request=lambda cause: cause.kind in _OF_INSTANCES and request(cause),
    )
    return CheckNode(slot.what, Stages(lambda: _check(slot)), default.range)


def _check(slot: StaticPosition) -> Sequence[Need]:
    value = evaluate_origin(slot.origin)
    if not isinstance(value, Value):
        return value
    if any(cause.kind not in _COMES_LATER for cause in causes_within(value)):
        explain_unknown(slot, value)
    return ()

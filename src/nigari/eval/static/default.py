"""The rule for defaults that are not written out: they are known before anything runs.

A variable that has no value yet may be part of one: whatever needs the default will ask for it. Where a
default depends on `each` or `count` of a call, each instance has its own, so the call is expanded.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.cty.values import Value
from nigari.eval.core.causes import CauseKind, causes_within
from nigari.eval.core.instances import Frame
from nigari.eval.core.scope import evaluate_origin
from nigari.eval.core.static_position import RequestValue, StaticPosition, explain_unknown
from nigari.eval.core.worklist import Need, Stages
from nigari.eval.nodes.check_node import CheckNode
from nigari.hcl.expressions import Expression

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


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

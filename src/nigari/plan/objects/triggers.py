"""Elements of `replace_triggered_by` that name a resource or a part of it: which one, and whether a
planned change of it counts.
"""

from __future__ import annotations

from nigari.config.core.written_address import decode_address
from nigari.cty.values import Value, object_value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import InstanceData
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.hcl.traversal import Traversal
from nigari.plan.model.changes import Action, Change


def is_triggering(change: Change, part: Traversal, frame: Frame) -> bool:
    """Return whether a change affects a trigger: the whole object, or a part of it."""
    if change.action in (Action.NO_OP, Action.READ):
        return False
    if not part.steps or change.before.is_null or change.after.is_null:
        return True
    diags = frame.run.diags
    before = part.apply_rel(change.before.unmark_deep()[0], diags)
    after = part.apply_rel(change.after.unmark_deep()[0], diags)
    return before != after


def trigger_traversal(expr: Expression, data: InstanceData) -> Traversal | None:
    """The address that an element of `replace_triggered_by` names, with its key filled in."""
    unreported = Diagnostics()
    written = decode_address(expr, unreported)
    if written is None:
        return None
    names: dict[str, Value] = {}
    if data.each_key is not None:
        names["each"] = object_value({"key": data.each_key})
    if data.count_index is not None:
        names["count"] = object_value({"index": data.count_index})
    keys = [key.value(Scope(names), unreported) for key in written.keys]
    return None if unreported.has_errors else written.with_keys(keys)

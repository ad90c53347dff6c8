"""Elements of `replace_triggered_by`: references to objects, and other values.

A reference replaces the object if the plan changes what it refers to, a value if it differs from that
at the creation of the object. The state stores a digest of each value, so that no value is stored twice. Their order does not matter.
Adding or removing an element replaces nothing, because it does not show a change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nigari.config.core.written_address import decode_address
from nigari.cty.json import value_to_json
from nigari.cty.paths import infinite_as_null
from nigari.cty.values import Value, object_value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import InstanceData
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.hcl.traversal import Traversal
from nigari.lang.marks import EPHEMERAL
from nigari.plan.model.changes import Action, Change


def trigger_digests(values: Sequence[Value]) -> tuple[str, ...] | None:
    """Return what the state records of the values; None unless all are known."""
    found = [_digest(each) for each in values if each.is_wholly_known]
    return tuple(sorted(found)) if len(found) == len(values) else None


def have_changed(stored: Sequence[str], values: Sequence[Value]) -> bool:
    """Return whether another value, or an unknown one, has taken the place of a recorded one.

    An object without recorded values was created without such elements.
    """
    now = Counter([_digest(each) if each.is_wholly_known else "" for each in values])
    before = Counter(stored)
    return bool(before - now) and bool(now - before)


def _digest(value: Value) -> str:
    import hashlib

    plain, _ = infinite_as_null(value.unmark_deep()[0])
    return hashlib.sha256(value_to_json(plain, plain.type).encode()).hexdigest()


def check_trigger_value(value: Value, expr: Expression, address: str, diags: Diagnostics) -> bool:
    """Report an ephemeral value, which the next plan cannot compare with."""
    if EPHEMERAL not in value.unmark_deep()[1]:
        return True
    diags.error(
        "Invalid replace_triggered_by",
        "This value is ephemeral: it differs in each run and cannot be recorded, so it does not show "
        "whether anything has changed. Use a value that is not ephemeral, such as a version number.",
        expr.range,
        address=address,
    )
    return False


# -- references -----------------------------------------------------------------------------------


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

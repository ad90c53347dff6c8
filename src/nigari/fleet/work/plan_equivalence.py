"""Agreement: whether a plan does nothing but what was agreed to when an earlier one was shown.

The earlier plan was made when something was not known yet. The later one may fill that in, and may
do less; it may not do anything else to any object.
"""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.cty.paths import child_steps
from nigari.cty.types import KIND_SET
from nigari.cty.values import HAS_UNKNOWN, Value
from nigari.plan.model.changes import Action, Change, Plan

_HARMLESS = frozenset((Action.NO_OP, Action.READ))


def is_covered(plan: Plan, agreed: Plan) -> bool:
    """Return whether an approved plan contains all changes of another plan."""
    known: dict[tuple[AbsResourceInstance, str], Change] = {
        (each.address, each.deposed): each for each in agreed.changes
    }
    for change in plan.changes:
        if not change.is_visible or change.action in _HARMLESS:
            continue
        before = known.get((change.address, change.deposed))
        if before is None or before.action is not change.action:
            return False
        if not fills_in(before.after.unmark_deep()[0], change.after.unmark_deep()[0]):
            return False
    return True


def fills_in(earlier: Value, later: Value) -> bool:
    """Return whether a value equals an earlier one, except where that was unknown."""
    if not earlier.flags & HAS_UNKNOWN:
        return earlier == later
    if not earlier.is_known:
        return True
    if not later.is_known or later.is_null:
        return False
    ours, theirs = child_steps(earlier), child_steps(later)
    if earlier.type.kind == KIND_SET:
        # Elements that were unknown may turn out to be the same.
        filled = [element for _, element in theirs]
        known = [element for _, element in ours if element.is_wholly_known]
        return len(filled) <= len(ours) and all(element in filled for element in known)
    return len(ours) == len(theirs) and all(
        step == other and fills_in(part, filled_part)
        for (step, part), (other, filled_part) in zip(ours, theirs, strict=True)
    )

"""Deferred changes, grouped and counted, as plans are shown."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.plan.model.changes import DeferredChange, Plan
from nigari.running.deferrals import DeferredKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_SEVERAL: Final = {
    DeferredKind.RESOURCE: "resources",
    DeferredKind.MODULE: "module calls",
    DeferredKind.PROVIDER: "providers",
    DeferredKind.IMPORT: "imports",
    DeferredKind.OUTPUT: "outputs",
    DeferredKind.CHECK: "checks",
}


def by_cause(plan: Plan) -> Mapping[str, list[DeferredChange]]:
    """The deferred changes, by the root of their chains."""
    groups: dict[str, list[DeferredChange]] = {}
    for each in plan.left:
        groups.setdefault(each.chain[-1] if each.chain else "", []).append(each)
    return groups


def cause_line(cause: str) -> str:
    """The condition under which the dependants of a cause can be done."""
    if not cause:
        return "Once the provider is ready:"
    if cause.endswith("()"):
        return f"Once {cause} has a result:"
    is_data = cause.startswith("data.") or ".data." in cause
    return f"Once {cause} is {'read' if is_data else 'applied'}:"


def waiting_line(deferred: DeferredChange) -> str:
    """One thing that is left for later, with the chain to what it waits for."""
    if not deferred.chain:
        return f"{deferred.address}: the provider is not ready for it"
    return f"{deferred.address}: waits for {' ← '.join(deferred.chain)}"


def counted_kinds(plan: Plan) -> Mapping[DeferredKind, int]:
    """The number of deferred changes of each kind."""
    counts = dict.fromkeys(DeferredKind, 0)
    for each in plan.left:
        counts[each.kind] += 1
    return {kind: count for kind, count in counts.items() if count}


def deferred_summary(plan: Plan) -> str:
    """The line that counts what is left for later."""
    parts = [
        f"{count} {kind.value if count == 1 else _SEVERAL[kind]}"
        for kind, count in counted_kinds(plan).items()
    ]
    return f"Deferred: {', '.join(parts)}. At least {plan.rounds} rounds in all."

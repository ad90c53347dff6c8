"""Reasons of changes, in words."""

from __future__ import annotations

from nigari.cty.go_text import go_quote
from nigari.cty.paths import path_text
from nigari.plan.model.changes import Change, Reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_REASONS: Final = {
    Reason.NO_RESOURCE: "because {resource} is not in configuration",
    Reason.NO_MODULE: "because {module} is not in configuration",
    Reason.COUNT_INDEX: "because index [{key}] is out of range for count",
    Reason.EACH_KEY: "because key [{key}] is not in for_each map",
    Reason.DISABLED: "because enabled is false",
    Reason.NO_MOVE_TARGET: "because {previous} was moved to {address}, which is not in configuration",
    Reason.KEPT_BY_CONFIG: "because lifecycle.destroy is false",
    Reason.KEPT_BY_STATE: "because lifecycle.destroy was false before it was removed from the configuration",
    Reason.PART_OF: "because it is part of an object that will be destroyed",
    Reason.CONFIG_UNKNOWN: "its configuration is not known yet",
    Reason.DEPENDENCY_PENDING: "something that it depends on will change",
    Reason.CHECK_NESTED: "the check it belongs to needs a fresh result",
}
_REPLACED: Final = {
    Reason.TAINTED: "because it is tainted",
    Reason.REQUESTED: "because that was requested",
    Reason.TRIGGERED: "because of changes in replace_triggered_by",
}


def why(change: Change) -> str:
    """The reason of a change that needs one."""
    if change.action.is_replace:
        forced = [path_text(path).removeprefix(".") for path in change.replace_paths]
        if forced:
            return f"because {', '.join(forced)} cannot be changed in place"
        return _REPLACED.get(change.reason, "because it cannot be changed in place")
    return reason_text(change)


def reason_text(change: Change) -> str:
    """The reason of anything but a replacement; empty if it is obvious."""
    key = change.address.item.key
    if change.reason is Reason.WRONG_REPETITION:
        if key is None:
            return "because resource uses count or for_each"
        used = "for_each" if isinstance(key, str) else "count"
        return f"because resource does not use {used}"
    return _REASONS.get(change.reason, "").format(
        resource=change.address.item.resource,
        address=change.address,
        previous=change.previous_address,
        module=change.address.module,
        key=go_quote(key) if isinstance(key, str) else key,
    )

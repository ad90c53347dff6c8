"""Events of an apply as entries: small JSON objects for journals and pages.

Entries name objects and what is done with them, and have no values in them. What provisioners print
is an entry too, which may show what they were given.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from nigari.addrs.absolute import AbsResourceInstance
from nigari.apply.listener import ApplyListener
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic
from nigari.plan.model.changes import Change
from nigari.plan.model.execution_graph import Operation, OperationKind
from nigari.plan.model.invocations import Invocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


Entry = dict[str, object]
Tell = Callable[[Entry], object]

OUTPUT: Final = "provision_progress"
"""The type of an entry with what a provisioner prints."""

_WORK: Final = {
    OperationKind.CREATE: "added",
    OperationKind.UPDATE: "changed",
    OperationKind.DELETE: "destroyed",
    OperationKind.READ: "",
}
"""The operations that take time, and what they count as."""


class ApplyEvents(ApplyListener):
    """Turns what it hears into entries. Nothing that goes wrong with them reaches the apply: after
    an exception there are no more.
    """

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._has_failed = False
        self._counts = dict.fromkeys(filter(None, _WORK.values()), 0)

    def add(self, type: str, **members: object) -> None:
        """Make an entry of something that happens now."""
        if self._has_failed:
            return
        try:
            self._tell({"type": type, "at": round(time.time(), 3), **members})
        except Exception:  # noqa: BLE001 - a listener must not disturb the apply
            self._has_failed = True

    def plan(self, operations: list[dict[str, object]], total: int) -> None:
        """Begin to carry out a plan; `total` is how many operations it has."""
        self.add("plan", operations=operations, total=total)

    def problems(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Tell what was found wrong."""
        for each in diagnostics:
            self.add(
                "diagnostic",
                severity=each.severity.value,
                text=each.summary,
                detail=each.detail,
                address=each.address,
            )

    def end(self, succeeded: bool) -> None:
        """Tell what has come of everything."""
        self.add("end", succeeded=succeeded, counts=self._counts)

    # -- what an apply tells ------------------------------------------------------------------

    def started(self, operation: Operation, change: Change) -> None:
        self._operation("apply_start", operation)

    def finished(self, operation: Operation, change: Change, value: Value | None) -> None:
        is_unread = operation.kind is OperationKind.READ and value is None
        count = _WORK.get(operation.kind)
        if count:
            self._counts[count] += 1
        self._operation("apply_errored" if is_unread else "apply_complete", operation)

    def failed(self, operation: Operation, change: Change) -> None:
        self._operation("apply_errored", operation)

    def _operation(self, type: str, operation: Operation) -> None:
        if operation.kind in _WORK:
            members = {"deposed": operation.deposed} if operation.deposed else {}
            self.add(type, address=operation.address, action=operation.kind.value, **members)

    def ephemeral_started(self, address: AbsResourceInstance, what: str) -> None:
        self.add("apply_start", address=str(address), action=what)

    def ephemeral_finished(self, address: AbsResourceInstance, what: str) -> None:
        self.add("apply_complete", address=str(address), action=what)

    def ephemeral_failed(self, address: AbsResourceInstance, what: str) -> None:
        self.add("apply_errored", address=str(address), action=what)

    def provision_started(self, address: AbsResourceInstance, kind: str) -> None:
        self.add("provision_start", address=str(address), provisioner=kind)

    def provision_said(self, address: AbsResourceInstance, kind: str, text: str) -> None:
        if text.strip():
            self.add(OUTPUT, address=str(address), provisioner=kind, text=text.rstrip())

    def provision_finished(self, address: AbsResourceInstance, kind: str, succeeded: bool) -> None:
        word = "complete" if succeeded else "errored"
        self.add(f"provision_{word}", address=str(address), provisioner=kind)

    def action_started(self, invocation: Invocation) -> None:
        self.add("apply_start", address=str(invocation.address), action=OperationKind.INVOKE.value)

    def action_said(self, invocation: Invocation, text: str) -> None:
        if text.strip():
            self.add("action_progress", address=str(invocation.address), text=text.rstrip())

    def action_finished(self, invocation: Invocation, failure: str) -> None:
        kind = "apply_errored" if failure else "apply_complete"
        self.add(kind, address=str(invocation.address), action=OperationKind.INVOKE.value)

    def interrupted(self, times: int) -> None:
        self.add("interrupted", times=times)

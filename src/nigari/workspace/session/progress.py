"""Turns what planning and applying tell into events for Python programs.

Listeners are called on the thread that does the work, so they should not take long. What it
raises stops nothing: it is raised when the work is done, and until then the listener hears nothing
more.
"""

from __future__ import annotations

import time

from nigari.addrs.absolute import AbsResourceInstance
from nigari.apply.listener import ApplyListener
from nigari.cty.values import Value
from nigari.events import (
    ActionProgress,
    Event,
    Failed,
    Finished,
    Interrupted,
    Listen,
    ProvisionerOutput,
    Started,
)
from nigari.plan.model.changes import Change
from nigari.plan.model.execution_graph import Operation, OperationKind
from nigari.plan.model.invocations import Invocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_VERBS: Final = {
    OperationKind.CREATE: "create",
    OperationKind.UPDATE: "update",
    OperationKind.DELETE: "delete",
    OperationKind.READ: "read",
    OperationKind.FORGET: "forget",
}


class Announcer(ApplyListener):
    """Turns what planning and applying tell into events."""

    def __init__(self, listen: Listen) -> None:
        self._hear = listen
        self._begun: dict[tuple[str, str], float] = {}
        self._failure: Exception | None = None

    def close(self) -> None:
        """Raise what the listener has raised."""
        if self._failure is not None:
            raise self._failure

    def _listen(self, event: Event) -> None:
        if self._failure is None:
            try:
                self._hear(event)
            except Exception as error:  # noqa: BLE001 - raised when the work is done
                self._failure = error

    def _begin(self, address: object, action: str) -> None:
        self._begun[str(address), action] = time.monotonic()
        self._listen(Started(str(address), action))

    def _end(self, address: object, action: str, succeeded: bool = True) -> None:
        begun = self._begun.pop((str(address), action), None)
        seconds = 0.0 if begun is None else time.monotonic() - begun
        self._listen((Finished if succeeded else Failed)(str(address), action, seconds))

    def started(self, operation: Operation, change: Change) -> None:
        if operation.kind in _VERBS:
            self._begin(change.address, _VERBS[operation.kind])

    def finished(self, operation: Operation, change: Change, value: Value | None) -> None:
        if operation.kind in _VERBS:
            is_read = operation.kind is OperationKind.READ
            self._end(change.address, _VERBS[operation.kind], value is not None or not is_read)

    def failed(self, operation: Operation, change: Change) -> None:
        if operation.kind in _VERBS:
            self._end(change.address, _VERBS[operation.kind], succeeded=False)

    def refresh_started(self, address: AbsResourceInstance, value: Value, deposed: str) -> None:
        self._begin(address, "refresh")

    def refresh_finished(
        self, address: AbsResourceInstance, value: Value | None, deposed: str
    ) -> None:
        self._end(address, "refresh")

    def read_started(self, address: AbsResourceInstance) -> None:
        self._begin(address, "read")

    def read_finished(self, address: AbsResourceInstance, value: Value | None) -> None:
        self._end(address, "read", value is not None)

    def import_started(self, address: AbsResourceInstance, id: str) -> None:
        self._listen(Started(str(address), "import"))

    def imported(self, change: Change) -> None:
        self._end(change.address, "import")

    def ephemeral_started(self, address: AbsResourceInstance, what: str) -> None:
        self._begin(address, what)

    def ephemeral_finished(self, address: AbsResourceInstance, what: str) -> None:
        self._end(address, what)

    def ephemeral_failed(self, address: AbsResourceInstance, what: str) -> None:
        self._end(address, what, succeeded=False)

    def provision_started(self, address: AbsResourceInstance, kind: str) -> None:
        self._begin(address, kind)

    def provision_said(self, address: AbsResourceInstance, kind: str, text: str) -> None:
        self._listen(ProvisionerOutput(str(address), kind, text))

    def provision_finished(self, address: AbsResourceInstance, kind: str, succeeded: bool) -> None:
        self._end(address, kind, succeeded)

    def action_started(self, invocation: Invocation) -> None:
        self._begin(invocation.address, "invoke")

    def action_said(self, invocation: Invocation, text: str) -> None:
        self._listen(ActionProgress(str(invocation.address), text))

    def action_finished(self, invocation: Invocation, failure: str) -> None:
        self._end(invocation.address, "invoke", not failure)

    def interrupted(self, times: int) -> None:
        self._listen(Interrupted(times))

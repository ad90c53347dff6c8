"""What is said while a plan is applied."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from nigari.apply.operations import ApplyView
from nigari.cli.command import Terminal
from nigari.cty.values import Value
from nigari.plan.changes import Action, Change
from nigari.plan.execution_graph import Operation, OperationKind

_BEGINNING: Final = {
    OperationKind.CREATE: "Creating...",
    OperationKind.UPDATE: "Modifying...",
    OperationKind.DELETE: "Destroying...",
    OperationKind.READ: "Reading...",
    OperationKind.FORGET: "Forgetting...",
}
_END: Final = {
    OperationKind.CREATE: "Creation complete",
    OperationKind.UPDATE: "Modifications complete",
    OperationKind.DELETE: "Destruction complete",
    OperationKind.READ: "Read complete",
    OperationKind.FORGET: "Forgotten",
}


class ApplyProgress:
    """Lines on the terminal, if there is one for them, and how much has been done."""

    def __init__(self, terminal: Terminal | None) -> None:
        self._terminal = terminal
        self._begun: dict[tuple[str, OperationKind], float] = {}
        self.added = 0
        self.changed = 0
        self.destroyed = 0
        self.forgotten = 0

    def started(self, operation: Operation, change: Change) -> None:
        self._begun[operation.address, operation.kind] = time.monotonic()
        known = _id(change.before) if operation.kind is not OperationKind.CREATE else ""
        self.said(f"{operation.address}: {_BEGINNING[operation.kind]}{known}")

    def finished(self, operation: Operation, change: Change, value: Value | None) -> None:
        begun = self._begun.pop((operation.address, operation.kind), time.monotonic())
        seconds = int(time.monotonic() - begun)
        known = "" if value is None else _id(value)
        self.said(f"{operation.address}: {_END[operation.kind]} after {seconds}s{known}")
        if operation.kind is OperationKind.CREATE:
            self.added += 1
        elif operation.kind is OperationKind.UPDATE:
            self.changed += 1
        elif operation.kind is OperationKind.DELETE:
            self.destroyed += 1
        elif operation.kind is OperationKind.FORGET and change.action is Action.FORGET:
            self.forgotten += 1

    def said(self, text: str) -> None:
        """What a provisioner has to say."""
        if self._terminal is not None:
            self._terminal.out(text)

    def failed(self, operation: Operation, change: Change) -> None:
        """What went wrong is told by diagnostics, when everything has come to an end."""
        self._begun.pop((operation.address, operation.kind), None)


class AllViews:
    """Several views that are told the same."""

    def __init__(self, views: Sequence[ApplyView]) -> None:
        self._views = views

    def started(self, operation: Operation, change: Change) -> None:
        for view in self._views:
            view.started(operation, change)

    def finished(self, operation: Operation, change: Change, value: Value | None) -> None:
        for view in self._views:
            view.finished(operation, change, value)

    def failed(self, operation: Operation, change: Change) -> None:
        for view in self._views:
            view.failed(operation, change)

    def said(self, text: str) -> None:
        for view in self._views:
            view.said(text)


def _id(value: Value) -> str:
    """The object's id, if it has one that can be shown."""
    plain = value.data if isinstance(value.data, dict) else {}
    found = plain.get("id")
    if not isinstance(found, Value) or found.is_marked or not isinstance(found.data, str):
        return ""
    return f" [id={found.data}]"

"""The view of an apply: hears what is done to the objects of a plan."""

from __future__ import annotations

from nigari.cty.values import Value
from nigari.events import Listener
from nigari.plan.model.changes import Change
from nigari.plan.model.execution_graph import Operation
from nigari.plan.model.invocations import Invocation


class ApplyListener(Listener):
    """Hears, beside what every listener hears, what is done to the objects of a plan."""

    def imported(self, change: Change) -> None:
        """An object that exists has been taken over; it may be about to be changed."""

    def started(self, operation: Operation, change: Change) -> None:
        """An operation on a resource begins."""

    def finished(self, operation: Operation, change: Change, value: Value | None) -> None:
        """An operation on a resource has succeeded."""

    def failed(self, operation: Operation, change: Change) -> None:
        """An operation on a resource has failed."""

    def action_started(self, invocation: Invocation) -> None:
        """An action begins."""

    def action_said(self, invocation: Invocation, text: str) -> None:
        """A provider has reported the progress of an action."""

    def action_finished(self, invocation: Invocation, failure: str) -> None:
        """An action has ended; `failure` is empty if it has succeeded."""

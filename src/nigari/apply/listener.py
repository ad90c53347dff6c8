"""Listeners of an apply, which hear what is done to the objects of a plan."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.absolute import AbsResourceInstance
from nigari.cty.values import Value
from nigari.events import FoundObject, Listener
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


class ApplyListeners(ApplyListener):
    """Passes each event to several listeners, such as a terminal and a JSON file."""

    def __init__(self, listeners: Sequence[ApplyListener]) -> None:
        self._listeners = listeners

    def imported(self, change: Change) -> None:
        for each in self._listeners:
            each.imported(change)

    def started(self, operation: Operation, change: Change) -> None:
        for each in self._listeners:
            each.started(operation, change)

    def finished(self, operation: Operation, change: Change, value: Value | None) -> None:
        for each in self._listeners:
            each.finished(operation, change, value)

    def failed(self, operation: Operation, change: Change) -> None:
        for each in self._listeners:
            each.failed(operation, change)

    def refresh_started(self, address: AbsResourceInstance, value: Value, deposed: str) -> None:
        for each in self._listeners:
            each.refresh_started(address, value, deposed)

    def refresh_finished(
        self, address: AbsResourceInstance, value: Value | None, deposed: str
    ) -> None:
        for each in self._listeners:
            each.refresh_finished(address, value, deposed)

    def read_started(self, address: AbsResourceInstance) -> None:
        for each in self._listeners:
            each.read_started(address)

    def read_finished(self, address: AbsResourceInstance, value: Value | None) -> None:
        for each in self._listeners:
            each.read_finished(address, value)

    def import_started(self, address: AbsResourceInstance, id: str) -> None:
        for each in self._listeners:
            each.import_started(address, id)

    def query_started(self, address: AbsResourceInstance, config: Value) -> None:
        for each in self._listeners:
            each.query_started(address, config)

    def query_found(self, address: AbsResourceInstance, found: FoundObject) -> None:
        for each in self._listeners:
            each.query_found(address, found)

    def query_finished(self, address: AbsResourceInstance, total: int) -> None:
        for each in self._listeners:
            each.query_finished(address, total)

    def ephemeral_deferred(self, address: AbsResourceInstance, is_known: bool) -> None:
        for each in self._listeners:
            each.ephemeral_deferred(address, is_known)

    def ephemeral_failed(self, address: AbsResourceInstance, what: str) -> None:
        for each in self._listeners:
            each.ephemeral_failed(address, what)

    def ephemeral_started(self, address: AbsResourceInstance, what: str) -> None:
        for each in self._listeners:
            each.ephemeral_started(address, what)

    def ephemeral_finished(self, address: AbsResourceInstance, what: str) -> None:
        for each in self._listeners:
            each.ephemeral_finished(address, what)

    def interrupted(self, times: int) -> None:
        for each in self._listeners:
            each.interrupted(times)

    def provision_started(self, address: AbsResourceInstance, kind: str) -> None:
        for each in self._listeners:
            each.provision_started(address, kind)

    def provision_said(self, address: AbsResourceInstance, kind: str, text: str) -> None:
        for each in self._listeners:
            each.provision_said(address, kind, text)

    def provision_hides(self, address: AbsResourceInstance, kind: str) -> None:
        for each in self._listeners:
            each.provision_hides(address, kind)

    def provision_revealed(self, address: AbsResourceInstance, kind: str, text: str) -> None:
        for each in self._listeners:
            each.provision_revealed(address, kind, text)

    def provision_finished(self, address: AbsResourceInstance, kind: str, succeeded: bool) -> None:
        for each in self._listeners:
            each.provision_finished(address, kind, succeeded)

    def action_started(self, invocation: Invocation) -> None:
        for each in self._listeners:
            each.action_started(invocation)

    def action_said(self, invocation: Invocation, text: str) -> None:
        for each in self._listeners:
            each.action_said(invocation, text)

    def action_finished(self, invocation: Invocation, failure: str) -> None:
        for each in self._listeners:
            each.action_finished(invocation, failure)

"""Listeners: pass the same events to several listeners, such as a terminal and a JSON file."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.absolute import AbsResourceInstance
from nigari.apply.listener import ApplyListener
from nigari.cty.values import Value
from nigari.events import FoundObject
from nigari.plan.model.changes import Change
from nigari.plan.model.execution_graph import Operation
from nigari.plan.model.invocations import Invocation


class ApplyListeners(ApplyListener):
    """Passes each event to several listeners."""

    def __init__(self, views: Sequence[ApplyListener]) -> None:
        self._views = views

    def imported(self, change: Change) -> None:
        for view in self._views:
            view.imported(change)

    def started(self, operation: Operation, change: Change) -> None:
        for view in self._views:
            view.started(operation, change)

    def finished(self, operation: Operation, change: Change, value: Value | None) -> None:
        for view in self._views:
            view.finished(operation, change, value)

    def failed(self, operation: Operation, change: Change) -> None:
        for view in self._views:
            view.failed(operation, change)

    def refresh_started(self, address: AbsResourceInstance, value: Value, deposed: str) -> None:
        for view in self._views:
            view.refresh_started(address, value, deposed)

    def refresh_finished(
        self, address: AbsResourceInstance, value: Value | None, deposed: str
    ) -> None:
        for view in self._views:
            view.refresh_finished(address, value, deposed)

    def read_started(self, address: AbsResourceInstance) -> None:
        for view in self._views:
            view.read_started(address)

    def read_finished(self, address: AbsResourceInstance, value: Value | None) -> None:
        for view in self._views:
            view.read_finished(address, value)

    def import_started(self, address: AbsResourceInstance, id: str) -> None:
        for view in self._views:
            view.import_started(address, id)

    def query_started(self, address: AbsResourceInstance, config: Value) -> None:
        for view in self._views:
            view.query_started(address, config)

    def query_found(self, address: AbsResourceInstance, found: FoundObject) -> None:
        for view in self._views:
            view.query_found(address, found)

    def query_finished(self, address: AbsResourceInstance, total: int) -> None:
        for view in self._views:
            view.query_finished(address, total)

    def ephemeral_deferred(self, address: AbsResourceInstance, is_known: bool) -> None:
        for view in self._views:
            view.ephemeral_deferred(address, is_known)

    def ephemeral_failed(self, address: AbsResourceInstance, what: str) -> None:
        for view in self._views:
            view.ephemeral_failed(address, what)

    def ephemeral_started(self, address: AbsResourceInstance, what: str) -> None:
        for view in self._views:
            view.ephemeral_started(address, what)

    def ephemeral_finished(self, address: AbsResourceInstance, what: str) -> None:
        for view in self._views:
            view.ephemeral_finished(address, what)

    def interrupted(self, times: int) -> None:
        for view in self._views:
            view.interrupted(times)

    def provision_started(self, address: AbsResourceInstance, kind: str) -> None:
        for view in self._views:
            view.provision_started(address, kind)

    def provision_said(self, address: AbsResourceInstance, kind: str, text: str) -> None:
        for view in self._views:
            view.provision_said(address, kind, text)

    def provision_hides(self, address: AbsResourceInstance, kind: str) -> None:
        for view in self._views:
            view.provision_hides(address, kind)

    def provision_revealed(self, address: AbsResourceInstance, kind: str, text: str) -> None:
        for view in self._views:
            view.provision_revealed(address, kind, text)

    def provision_finished(self, address: AbsResourceInstance, kind: str, succeeded: bool) -> None:
        for view in self._views:
            view.provision_finished(address, kind, succeeded)

    def action_started(self, invocation: Invocation) -> None:
        for view in self._views:
            view.action_started(invocation)

    def action_said(self, invocation: Invocation, text: str) -> None:
        for view in self._views:
            view.action_said(invocation, text)

    def action_finished(self, invocation: Invocation, failure: str) -> None:
        for view in self._views:
            view.action_finished(invocation, failure)

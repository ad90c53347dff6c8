"""The events of planning and applying, as JSON for programs.

The plan itself, and what has come of it, are in `plan_events`.
"""

from __future__ import annotations

import time

from nigari.addrs.absolute import AbsResourceInstance
from nigari.cli.views.apply_progress import INTERRUPTIONS, TimedView, duration
from nigari.cli.views.json_lines import JsonLines
from nigari.cli.views.object_name import id_note, object_id, object_id_or_name
from nigari.cli.views.plan_events import Members, action_members, resource_members
from nigari.cty.values import Value
from nigari.events import FoundObject
from nigari.plan.model.changes import Change
from nigari.plan.model.execution_graph import Operation, OperationKind
from nigari.plan.model.invocations import Invocation
from nigari.plan.show.action_json import event_name, on_failure_name
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_WORDS: Final = {
    OperationKind.CREATE: ("create", "Creating", "creating", "Creation"),
    OperationKind.UPDATE: ("update", "Modifying", "modifying", "Modifications"),
    OperationKind.DELETE: ("delete", "Destroying", "destroying", "Destruction"),
    OperationKind.READ: ("read", "Refreshing", "refreshing", "Refresh"),
}
_EPHEMERAL: Final = {
    "open": ("Opening...", "Open complete"),
    "renew": ("Renewing...", "Renew complete"),
    "close": ("Closing...", "Close complete"),
}
_REMINDER: Final = 10.0


@record
class Begun:
    """An operation that has begun."""

    address: AbsResourceInstance
    words: tuple[str, str, str, str]
    at: float


class ProgressEvents(TimedView):
    """Tells programs what happens."""

    def __init__(self, lines: JsonLines) -> None:
        self._lines = lines
        self._begun: dict[str, Begun] = {}
        self._reminded: dict[str, float] = {}

    # -- applying -----------------------------------------------------------------------------

    def started(self, operation: Operation, change: Change) -> None:
        words = _WORDS.get(operation.kind)
        if words is not None:
            is_new = operation.kind is OperationKind.CREATE
            known = None if is_new else object_id_or_name(change.before)
            self._begin(_key(operation), change.address, words, known)

    def finished(self, operation: Operation, change: Change, value: Value | None) -> None:
        if value is None and operation.kind is OperationKind.READ:
            self._fail(_key(operation))
        else:
            self._end(_key(operation), object_id(value))

    def failed(self, operation: Operation, change: Change) -> None:
        self._fail(_key(operation))

    def _begin(
        self,
        key: str,
        address: AbsResourceInstance,
        words: tuple[str, str, str, str],
        known: tuple[str, str] | None,
    ) -> None:
        self._begun[key] = Begun(address, words, time.monotonic())
        hook: Members = {"resource": resource_members(address), "action": words[0], **_id(known)}
        self._hook(f"{address}: {words[1]}...{id_note(known)}", "apply_start", hook)

    def _end(self, key: str, known: tuple[str, str] | None) -> None:
        begun = self._begun.pop(key, None)
        if begun is not None:
            passed = time.monotonic() - begun.at
            hook = {**self._passed(begun, passed), **_id(known)}
            text = f"{begun.words[3]} complete after {duration(passed)}{id_note(known)}"
            self._hook(f"{begun.address}: {text}", "apply_complete", hook)

    def _fail(self, key: str) -> None:
        begun = self._begun.pop(key, None)
        # Data that could not be read is reported by a diagnostic only.
        if begun is not None and begun.words is not _WORDS[OperationKind.READ]:
            passed = time.monotonic() - begun.at
            text = f"{begun.address}: {begun.words[3]} errored after {duration(passed)}"
            self._hook(text, "apply_errored", self._passed(begun, passed))

    def _passed(self, begun: Begun, seconds: float) -> Members:
        return {
            "resource": resource_members(begun.address),
            "action": begun.words[0],
            "elapsed_seconds": round(seconds),
        }

    def tick(self) -> None:
        now = time.monotonic()
        for key, each in self._begun.items():
            if now - self._reminded.get(key, each.at) >= _REMINDER - 0.5:
                self._reminded[key] = now
                passed = now - each.at
                text = f"{each.address}: Still {each.words[2]}... [{duration(passed)} elapsed]"
                self._hook(text, "apply_progress", self._passed(each, passed))

    # -- planning -----------------------------------------------------------------------------

    def refresh_started(self, address: AbsResourceInstance, value: Value, deposed: str) -> None:
        known = object_id(value)
        hook: Members = {"resource": resource_members(address), **_id(known)}
        self._hook(f"{address}: Refreshing state...{id_note(known)}", "refresh_start", hook)

    def refresh_finished(
        self, address: AbsResourceInstance, value: Value | None, deposed: str
    ) -> None:
        known = object_id(value)
        hook: Members = {"resource": resource_members(address), **_id(known)}
        self._hook(f"{address}: Refresh complete{id_note(known)}", "refresh_complete", hook)

    def read_started(self, address: AbsResourceInstance) -> None:
        self._begin(str(address), address, _WORDS[OperationKind.READ], None)

    def read_finished(self, address: AbsResourceInstance, value: Value | None) -> None:
        if value is None:
            self._fail(str(address))
        else:
            self._end(str(address), object_id(value))

    def query_started(self, address: AbsResourceInstance, config: Value) -> None:
        from nigari.cli.views.found_objects import started_members

        self._query(address, "Starting query...", "list_start", started_members(config))

    def query_found(self, address: AbsResourceInstance, found: FoundObject) -> None:
        from nigari.cli.views.found_objects import found_members

        self._query(address, "Result found", "list_resource_found", found_members(found))

    def query_finished(self, address: AbsResourceInstance, total: int) -> None:
        self._query(address, "List complete", "list_complete", {"total": total})

    def _query(self, address: AbsResourceInstance, text: str, kind: str, more: Members) -> None:
        type_name = address.item.resource.type
        members: Members = {"address": str(address), "resource_type": type_name, **more}
        self._lines.event(f"{address}: {text}", {"type": kind, kind: members})

    def ephemeral_started(self, address: AbsResourceInstance, what: str) -> None:
        self._ephemeral(address, _EPHEMERAL[what][0], "ephemeral_action_started")

    def ephemeral_finished(self, address: AbsResourceInstance, what: str) -> None:
        self._ephemeral(address, _EPHEMERAL[what][1], "ephemeral_action_complete")

    def _ephemeral(self, address: AbsResourceInstance, text: str, kind: str) -> None:
        hook: Members = {"resource": resource_members(address), "Msg": text}
        self._hook(f"{address}: {text}", kind, hook)

    def interrupted(self, times: int) -> None:
        self._lines.event(INTERRUPTIONS[min(times, 2)], {"type": "log"})

    # -- provisioners -------------------------------------------------------------------------

    def provision_started(self, address: AbsResourceInstance, kind: str) -> None:
        hook = _provisioner(address, kind)
        self._hook(f"{address}: Provisioning with '{kind}'...", "provision_start", hook)

    def provision_said(self, address: AbsResourceInstance, kind: str, text: str) -> None:
        text = text.rstrip()
        if text:
            hook = {**_provisioner(address, kind), "output": text}
            self._hook(f"{address}: ({kind}): {text}", "provision_progress", hook)

    def provision_finished(self, address: AbsResourceInstance, kind: str, succeeded: bool) -> None:
        word = "complete" if succeeded else "errored"
        text = f"{address}: ({kind}) Provisioning {word}"
        self._hook(text, f"provision_{word}", _provisioner(address, kind))

    # -- actions ------------------------------------------------------------------------------

    def action_started(self, invocation: Invocation) -> None:
        trigger, text = invocation.trigger, f"Action started: {invocation.address}"
        if trigger is not None:
            text = f"{invocation.caller}.trigger[{trigger.block_index}]: {text}"
        self._hook(text, "action_start", _action(invocation))

    def action_said(self, invocation: Invocation, text: str) -> None:
        line = f"{_trigger_name(invocation)}{invocation.address} - {text}"
        self._hook(line, "action_progress", {**_action(invocation), "message": text})

    def action_finished(self, invocation: Invocation, failure: str) -> None:
        where, name = _trigger_name(invocation), invocation.address
        if failure:
            hook = {**_action(invocation), "error": failure}
            self._hook(f"{where}Action errored: {name} - {failure}", "action_errored", hook)
        else:
            self._hook(f"{where}Action complete: {name}", "action_complete", _action(invocation))

    def _hook(self, text: str, kind: str, hook: Members) -> None:
        self._lines.event(text, {"type": kind, "hook": hook})


def _key(operation: Operation) -> str:
    return f"{operation.kind.value} {operation.address} {operation.deposed}"


def _id(known: tuple[str, str] | None) -> Members:
    return {} if known is None else {"id_key": known[0], "id_value": known[1]}


def _provisioner(address: AbsResourceInstance, kind: str) -> Members:
    return {"resource": resource_members(address), "provisioner": kind}


def _trigger_name(invocation: Invocation) -> str:
    trigger = invocation.trigger
    return "" if trigger is None else f"{invocation.caller} ({trigger.block_index}): "


def _action(invocation: Invocation) -> Members:
    members: Members = {"action": action_members(invocation.address)}
    trigger = invocation.trigger
    if trigger is None or invocation.caller is None:
        members["invoke"] = {}
    else:
        members["lifecycle"] = {
            "resource": resource_members(invocation.caller),
            "trigger_index": trigger.block_index,
            "actions_index": trigger.list_index,
            "trigger_event": event_name(trigger),
            "on_failure": on_failure_name(trigger),
        }
    return members

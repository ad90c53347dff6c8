"""Dispatch of operations to the modules that carry them out."""

from __future__ import annotations

from collections.abc import Callable

from nigari.addrs.module import ModuleAddr
from nigari.apply.actions import run_invoked
from nigari.apply.context import ApplyContext, OperationFailed
from nigari.apply.create_update import make
from nigari.apply.data_sources import read
from nigari.apply.declared_instance import declared_instance
from nigari.apply.destroy import delete, forget
from nigari.apply.listener import ApplyListener
from nigari.apply.provider_sessions import close_provider, open_ephemeral, open_provider
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic, Severity
from nigari.plan.model.change_operations import REPLACED
from nigari.plan.model.changes import Change
from nigari.plan.model.check_results import Noted, value_at
from nigari.plan.model.execution_graph import Operation, OperationKind
from nigari.plan.nodes.module_conditions import module_conditions


class Operations:
    """Operations of a graph, which share one context."""

    def __init__(self, context: ApplyContext) -> None:
        self.place = context
        self._changes: dict[tuple[str, str], Change] = {
            (str(change.address), change.deposed): change for change in context.plan.changes
        }
        self._ephemeral = {str(each.address): each for each in context.plan.ephemeral}
        self._values: dict[ModuleAddr, dict[str, Noted]] = {}
        """The conditions of variables and outputs, by module instance and address."""

    async def perform(self, operation: Operation) -> bool:
        """Carry out one operation; return False on any failure."""
        try:
            return await self._perform(operation)
        except Exception as error:  # noqa: BLE001 - nothing may stop the others
            self.place.diags.append(_unexpected(operation, error))
            return False

    async def _perform(self, operation: Operation) -> bool:
        kind = operation.kind
        if kind is OperationKind.SETTLE:
            return True
        if kind is OperationKind.OPEN:
            return await self._open(operation.address)
        if kind is OperationKind.CLOSE:
            await self._close(operation.address)
            return True
        if kind is OperationKind.INVOKE:
            return await run_invoked(self.place, operation.address)
        deposed = "" if operation.deposed == REPLACED else operation.deposed
        if kind is OperationKind.CHECK and (operation.address, deposed) not in self._changes:
            return await self._check_value(operation.address)
        change = self._changes[operation.address, deposed]
        if kind is OperationKind.CHECK:
            return await self._check(change)
        report = _OperationReport(self.place.view, operation, change)
        try:
            value = await self._on_resource(operation, change, report.begin)
        except Exception as error:
            report.fail()
            if not isinstance(error, OperationFailed):
                raise
            # OpenTofu checks postconditions of an object that exists even if its
            # creation failed.
            if error.left is not None:
                await self._holds(change, error.left)
            return False
        report.finish(value)
        # A failed postcondition doesn't undo the operation.
        return value is None or await self._holds(change, value)

    async def _holds(self, change: Change, value: Value) -> bool:
        """Return whether the postconditions of an object hold."""
        try:
            declared = await declared_instance(self.place, change)
            await declared.check("postcondition", value)
        except OperationFailed:
            return False
        return True

    async def _on_resource(
        self, operation: Operation, change: Change, begin: Callable[[], None]
    ) -> Value | None:
        kind = operation.kind
        if kind in (OperationKind.CREATE, OperationKind.UPDATE):
            return await make(self.place, change, begin)
        begin()
        if kind is OperationKind.FORGET:
            forget(self.place, operation, change)
            return None
        if kind is OperationKind.DELETE:
            await delete(self.place, operation, change)
            return None
        return await read(self.place, change)

    async def _check(self, change: Change) -> bool:
        try:
            declared = await declared_instance(self.place, change)
            await declared.check("precondition", None)
            await declared.check("postcondition", change.after)
        except OperationFailed:
            return False
        return True

    async def _check_value(self, address: str) -> bool:
        """Check the conditions of a variable or output."""
        run = self.place.run
        module, _ = value_at(address)
        known = self._values.get(module)
        if known is None:
            frame = await run.frame(module)
            noted = [] if frame is None else module_conditions(frame, run.unread)
            known = self._values[module] = {each[2]: each for each in noted}
        found = known.get(address)
        if found is None:
            self.place.diags.append(_undeclared(address))
            return False
        self.place.conditions.append(found)
        conditions = found[3]
        await run.finish(conditions.step, str(module) if module.has_known_key else "")
        return not conditions.is_refusing

    # -- what others need ---------------------------------------------------------------------

    async def _open(self, text: str) -> bool:
        ephemeral = self._ephemeral.get(text)
        if ephemeral is not None:
            return await open_ephemeral(self.place, ephemeral)
        return await open_provider(self.place, text)

    async def _close(self, text: str) -> None:
        ephemeral = self._ephemeral.get(text)
        if ephemeral is not None:
            await self.place.run.ephemeral.close(ephemeral.address)
        else:
            await close_provider(self.place, text)


class _OperationReport:
    """Reports one operation to the listeners: its start, and only then its end."""

    def __init__(self, view: ApplyListener, operation: Operation, change: Change) -> None:
        self._view = view
        self._operation = operation
        self._change = change
        self._has_begun = False

    def begin(self) -> None:
        self._has_begun = True
        self._view.started(self._operation, self._change)

    def fail(self) -> None:
        if self._has_begun:
            self._view.failed(self._operation, self._change)

    def finish(self, value: Value | None) -> None:
        if self._has_begun:
            self._view.finished(self._operation, self._change, value)


def _undeclared(address: str) -> Diagnostic:
    detail = f"{address} has no conditions in the configuration of the plan. Make a new plan."
    return Diagnostic(Severity.ERROR, "Plan does not match its configuration", detail)


def _unexpected(operation: Operation, error: Exception) -> Diagnostic:
    from nigari.diagnostics.unexpected import unexpected

    what = f"The operation to {operation.kind.value} {operation.address}"
    return unexpected(what, error, operation.address)

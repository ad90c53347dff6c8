"""Actions, validated without a provider process."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.resource import ResourceInstance
from nigari.addrs.values import Caller
from nigari.cty.values import Value
from nigari.eval.core.worklist import Need
from nigari.eval.nodes.action_triggers import is_triggered_by
from nigari.eval.nodes.resource import ValidatedResource
from nigari.record import replace


class ValidatedAction(ValidatedResource):
    """An action, whose configuration is checked for each resource that triggers it."""

    __slots__ = ("_callers",)

    def _check_body(self) -> Sequence[Need]:
        if self._schema is None:
            return ()
        if not hasattr(self, "_callers"):
            self._callers = self._find_callers()
        while self._callers:
            self._data = replace(self._data, caller=self._callers[-1])
            needs = super()._check_body()
            if needs:
                return needs
            self._callers.pop()
            if self._config is None:
                # Any other caller would lead to the same mistake again.
                self._callers.clear()
        return ()

    def _find_callers(self) -> list[Value | None]:
        """List what `caller` may be: unknown, of the types of the resources that trigger the action,
        and nothing where none does.
        """
        references = self.body_references()
        nodes = [
            node
            for node in self.frame.resources.values()
            if is_triggered_by(self.resource.addr, node.resource)
        ]
        names = {node.resource.addr for node in nodes}
        for reference in references:
            subject = reference.subject
            if isinstance(subject, ResourceInstance) and subject.resource in names:
                self.frame.run.diags.warning(
                    "Reference to the triggering resource",
                    f"{subject.resource} triggers this action. Write caller instead of its "
                    "address: then the action gets the instance that triggers it, and no cycle "
                    "can come of it.",
                    reference.range,
                )
        if any(isinstance(each.subject, Caller) for each in references):
            return [node.element for node in nodes] or [None]
        return [None]

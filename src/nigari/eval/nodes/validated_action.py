"""Actions and the triggers of resources, looked at without a provider process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from nigari.addrs.resource import Resource as ResourceAddr
from nigari.addrs.resource import ResourceInstance
from nigari.addrs.values import Caller, Self
from nigari.config.blocks.action_trigger import ActionTrigger, TriggeredAction, TriggerEvent
from nigari.config.blocks.resource import Resource
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import BOOL
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.core.scope import evaluate
from nigari.eval.core.worklist import Need
from nigari.eval.nodes.resource import ValidatedResource
from nigari.hcl.evaluation import as_sentence
from nigari.hcl.expressions import Expression
from nigari.hcl.suggestion import did_you_mean
from nigari.lang.references import references_in_expression
from nigari.record import replace


def is_triggered_by(action: ResourceAddr, resource: Resource) -> bool:
    """Check whether changes of a resource trigger an action."""
    triggers = resource.lifecycle.action_triggers
    return any(each.addr == action for trigger in triggers for each in trigger.actions)


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


def trigger_stages(
    node: ValidatedResource, data: InstanceData
) -> list[Callable[[], Sequence[Need]]]:
    """List the checks of a resource's triggers."""
    stages: list[Callable[[], Sequence[Need]]] = []
    for trigger in node.resource.lifecycle.action_triggers:
        for action in trigger.actions:
            _check_action(action, node.frame)
        if trigger.condition is not None and _check_events(trigger, node.frame.run.diags):
            stages.append(partial(_check_condition, trigger.condition, node, data))
    return stages


def _check_action(action: TriggeredAction, frame: Frame) -> None:
    """Check that an action exists, and that its address has a key if the action is repeated."""
    diags, addr = frame.run.diags, action.addr
    declared = frame.module.resources.get(addr)
    if declared is None:
        known = [str(each) for each in frame.module.resources if each.mode is addr.mode]
        diags.error(
            "Trigger of an undeclared action",
            f"There is no {addr} in {frame.place}.{did_you_mean(str(addr), known)}",
            action.expr.range,
        )
        return
    is_repeated = not declared.repetition.has_one_value
    if is_repeated and not action.has_key:
        key = "count.index" if declared.repetition.count is not None else "each.key"
        diags.error(
            "Missing instance key",
            f"{addr} has several instances. Name the one to invoke, for example {addr}[{key}].",
            action.expr.range,
        )
    elif action.has_key and not is_repeated:
        diags.error(
            "Unexpected instance key",
            f"{addr} has neither count nor for_each, so it has only one instance. Remove the key in "
            "brackets.",
            action.expr.range,
        )


def _check_events(trigger: ActionTrigger, diags: Diagnostics) -> bool:
    """Check that the condition can be evaluated when the events happen."""
    condition = trigger.condition
    assert condition is not None
    if any(each.is_destroy for each in trigger.events):
        # Terraform: the order of a destroy follows the state, which knows nothing of conditions.
        diags.error(
            "Condition of an action at destroy",
            "Actions before or after an object is destroyed cannot have a condition. Write another "
            "action_trigger block for these events.",
            condition.range,
        )
        return False
    references = references_in_expression(condition, Diagnostics())
    has_self = any(isinstance(each.subject, Self) for each in references)
    if has_self and TriggerEvent.BEFORE_CREATE in trigger.events:
        diags.error(
            "Reference to self before it is created",
            "The condition of an action before_create cannot refer to self: most attributes of the "
            "object are known only once it has been created.",
            condition.range,
        )
        return False
    return True


def _check_condition(
    condition: Expression, node: ValidatedResource, data: InstanceData
) -> Sequence[Need]:
    compiled = node.frame.instance.compiled.expression(condition)
    value = evaluate(node.frame, compiled, data, node.element, node)
    if not isinstance(value, Value):
        return value
    as_condition(value, condition, node.frame.run.diags)
    return ()


def as_condition(value: Value, condition: Expression, diags: Diagnostics) -> Value | None:
    """Convert the value of a condition to a bool; None after reporting that it is none."""
    try:
        found = convert(value, BOOL)
    except CtyError as error:
        reason = error.message
    else:
        if not found.is_null:
            return found
        reason = "it is null"
    diags.error(
        "Invalid condition of an action",
        as_sentence(f"The condition must be true or false: {reason}"),
        condition.range,
    )
    return None

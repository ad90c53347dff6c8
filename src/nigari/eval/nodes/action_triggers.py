"""Triggers of actions: which actions a resource triggers, and whether its `action_trigger` blocks are valid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from nigari.addrs.resource import Resource as ResourceAddr
from nigari.addrs.values import Self
from nigari.config.blocks.action_trigger import ActionTrigger, TriggeredAction, TriggerEvent
from nigari.config.blocks.resource import Resource
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import BOOL
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame, ResourceNode
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.core.scope import evaluate
from nigari.eval.core.worklist import Need
from nigari.hcl.evaluation import as_sentence
from nigari.hcl.expressions import Expression
from nigari.hcl.suggestion import did_you_mean
from nigari.lang.references import references_in_expression


def is_triggered_by(action: ResourceAddr, resource: Resource) -> bool:
    """Check whether changes of a resource trigger an action."""
    triggers = resource.lifecycle.action_triggers
    return any(each.addr == action for trigger in triggers for each in trigger.actions)


def trigger_stages(node: ResourceNode, data: InstanceData) -> list[Callable[[], Sequence[Need]]]:
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
    condition: Expression, node: ResourceNode, data: InstanceData
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

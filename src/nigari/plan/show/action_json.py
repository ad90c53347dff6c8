"""Planned actions as JSON data for other programs, in Terraform's format."""

from __future__ import annotations

from nigari.plan.model.invocations import Invocation, Trigger
from nigari.plan.show.plan_json import (
    Members,
    known_part,
    sensitive_data,
    unknown_shape,
    value_to_data,
)


def invocation_to_json(invocation: Invocation) -> Members:
    """Describe one invocation of an action."""
    resource, config = invocation.address.item.resource, invocation.config
    members: Members = {
        "address": str(invocation.address),
        "type": resource.type,
        "name": resource.name,
        "config_values": value_to_data(known_part(config)),
        "config_sensitive": sensitive_data(config),
        "config_unknown": {} if config.is_wholly_known else unknown_shape(config),
        "provider_name": str(invocation.provider.item.provider),
    }
    trigger, caller = invocation.trigger, invocation.caller
    if trigger is not None:
        members["lifecycle_action_trigger"] = {
            "triggering_resource_address": str(caller),
            "action_trigger_event": event_name(trigger),
            "action_trigger_block_index": trigger.block_index,
            "actions_list_index": trigger.list_index,
            "on_failure": on_failure_name(trigger),
        }
    else:
        called = {} if caller is None else {"calling_resource_address": str(caller)}
        members["invoke_action_trigger"] = called
    return members


def event_name(trigger: Trigger) -> str:
    """Name an event as Terraform does: `BeforeCreate`."""
    return "".join(each.capitalize() for each in trigger.event.value.split("_"))


def on_failure_name(trigger: Trigger) -> str:
    """Name what follows from a failure as Terraform does: `ActionOnFailureHalt`."""
    return f"ActionOnFailure{trigger.on_failure.value.capitalize()}"

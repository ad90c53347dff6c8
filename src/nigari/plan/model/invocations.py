"""Planned invocations of actions, as data that never changes."""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.provider import AbsProviderInstance
from nigari.config.blocks.action_trigger import OnFailure, TriggerEvent
from nigari.cty.values import Value
from nigari.record import record, replace
from nigari.schema.provider import Schema


@record
class Trigger:
    """The moment in the life of a resource instance at which an action is invoked."""

    event: TriggerEvent
    block_index: int
    """The number of the `action_trigger` block, from zero."""
    list_index: int
    """The number of the action in that block, from zero."""
    on_failure: OnFailure


@record
class Invocation:
    """One run of an action when the plan is applied."""

    address: AbsResourceInstance
    """The action."""
    provider: AbsProviderInstance
    schema: Schema
    """The schema of the action's block."""
    config: Value
    """The `config` block, which may be partly unknown; ephemeral values are null."""
    caller: AbsResourceInstance | None
    """The resource instance that triggers it, or that stands for `caller` where the user invokes an
    action that refers to it.
    """
    trigger: Trigger | None = None
    """None for an action that the user invokes."""

    def with_schema(self, schema: Schema) -> Invocation:
        """Return the same invocation, once the schema of its action is known."""
        return replace(self, schema=schema)

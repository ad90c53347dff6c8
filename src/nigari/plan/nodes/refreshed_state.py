"""The refreshed state of a plan, for commands that want nothing else of it.

An object that stays as it is depends on what the configuration says, any other also on what it
depended on, which planning has noted.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.absolute import resource_of
from nigari.config.blocks.output import Output
from nigari.plan.model.changes import Action, Plan, Reason
from nigari.plan.order.block_graph import BlockGraph
from nigari.plan.order.block_settings import BlockSettings
from nigari.state.draft import StateDraft
from nigari.state.model import OutputState, State


def found_state(
    plan: Plan, blocks: BlockGraph, settings: BlockSettings, declared: Mapping[str, Output]
) -> State:
    """The state after reading everything, with the outputs that are known from it."""
    draft = StateDraft(plan.refreshed_state)
    for change in plan.changes:
        if change.action is Action.READ and change.reason is not Reason.CHECK_NESTED:
            # What it was read from is going to change, so it is not known any more.
            draft.set_current(change.address, None, change.provider)
        state = draft.instance(change.address)
        if change.action is not Action.NO_OP or state is None or state.current is None:
            continue
        address = resource_of(change.address)
        renewed = state.current.with_lifecycle(
            tuple(sorted(blocks.resources_before(blocks.resource_block(address)), key=str)),
            settings.is_declared_first(address.module, address.item),
            settings.skips_destroy(address.module, address.item),
        )
        draft.renew(change.address, renewed, change.provider)
    outputs = dict(plan.refreshed_state.outputs)
    for name, planned in plan.outputs.items():
        value, _ = planned.after.unmark_deep()
        if value.is_null:
            outputs.pop(name, None)
        elif value.is_wholly_known:
            output = declared[name]
            outputs[name] = OutputState(value, output.sensitive, output.deprecated)
    draft.set_outputs(outputs)
    # They were about the objects as they were, and belong to what is applied.
    draft.set_checks(())
    return draft.finish()

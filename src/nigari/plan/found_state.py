"""The state that a plan has found, to be stored without applying anything.

An unchanged object depends on what the configuration says now; any other also on what it depended
on when it was last applied, which planning has recorded.
"""

from __future__ import annotations

from nigari.addrs.absolute import resource_of
from nigari.plan.engine import PlanOutcome
from nigari.plan.model.changes import Action, Reason
from nigari.state.draft import StateDraft
from nigari.state.model import OutputState, State


def found_state(outcome: PlanOutcome) -> State:
    """Return the refreshed state, with the outputs that are known from it."""
    plan, blocks, settings = outcome.plan, outcome.blocks, outcome.settings
    declared = outcome.inputs.static.root.module.outputs
    draft = StateDraft(plan.refreshed_state)
    for change in plan.changes:
        if change.action is Action.READ and change.reason is not Reason.CHECK_NESTED:
            # What it was read from is going to change, so the result is outdated.
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
    # Check results are about objects that have been applied.
    draft.set_checks(())
    return draft.finish()

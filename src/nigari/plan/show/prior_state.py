"""The state that a plan starts from, as `show -json` tells it: the `prior_state` of a plan.

It is the refreshed state, with what planning has found out about outputs. Data that is read when the
plan is applied is not there yet, and data that a destroy forgets is still there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nigari.addrs.absolute import AbsResource
from nigari.addrs.resource import DATA
from nigari.config.blocks.output import Output
from nigari.lang.marks import SENSITIVE
from nigari.plan.model.changes import Action, Plan, PlanMode, Reason
from nigari.state.draft import StateDraft
from nigari.state.model import OutputState, State


def prior_state(
    plan: Plan, declared: Mapping[str, Output], is_declared: Callable[[AbsResource], bool]
) -> State:
    """The state that a plan starts from; how checks went belongs to the plan, not to it."""
    draft = StateDraft(plan.refreshed_state)
    if plan.mode is PlanMode.DESTROY:
        for resource in plan.previous_state.resources.values():
            is_data = resource.address.item.mode is DATA
            if is_data and not draft.resource(resource.address) and is_declared(resource.address):
                draft.put_resource(resource)
    for change in plan.changes:
        if change.action is Action.READ and change.reason is not Reason.CHECK_NESTED:
            draft.remove_instance(change.address)
    draft.set_checks(())
    draft.set_outputs(_outputs(plan, declared))
    return draft.finish()


def _outputs(plan: Plan, declared: Mapping[str, Output]) -> dict[str, OutputState]:
    """The output values that are known already, and the stored ones of all others."""
    stored = plan.refreshed_state.outputs
    outputs = {name: state for name, state in stored.items() if name not in plan.outputs}
    for name, change in plan.outputs.items():
        value, marks = change.after.unmark_deep()
        if change.action is Action.DELETE or not value.is_wholly_known:
            if name in stored:
                outputs[name] = stored[name]
        elif not value.is_null:
            output = declared.get(name)
            is_secret = SENSITIVE in marks or (output is not None and output.sensitive)
            advice = "" if output is None else output.deprecated
            outputs[name] = OutputState(value, is_secret, advice)
    return outputs

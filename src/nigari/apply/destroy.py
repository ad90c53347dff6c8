"""Destruction of objects, with their destroy provisioners, and removal from the state."""

from __future__ import annotations

from nigari.apply.actions import run_around_end
from nigari.apply.context import ApplyContext, OperationFailed
from nigari.apply.provisioning import provision_before_end
from nigari.config.blocks.action_trigger import TriggerEvent
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.cty.paths import unknown_as_null
from nigari.cty.values import null
from nigari.plan.model.change_operations import REPLACED
from nigari.plan.model.changes import Action, Change
from nigari.plan.model.execution_graph import Operation
from nigari.plan.objects.prior_object import stored_identity
from nigari.plan.objects.provider_checks import ProviderFault
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.state.model import InstanceState, StoredObject
from nigari.state.objects import decode, encode


def forget(context: ApplyContext, operation: Operation, change: Change) -> None:
    """Remove an object from the state without destroying it."""
    _set(context, change, _deposed_key(context, operation, change), None)


async def delete(context: ApplyContext, operation: Operation, change: Change) -> None:
    """Destroy an object."""
    provider = context.provider(change)
    deposed = _deposed_key(context, operation, change)
    state = context.draft.instance(change.address) or InstanceState()
    stored = state.deposed.get(deposed) if deposed else state.current
    if stored is None:
        return
    prior = decode(stored, change.schema)
    # NodeDestroyResourceInstance runs provisioners for current objects only;
    # NodeDestroyDeposedResourceInstanceObject has none.
    if not deposed:
        await provision_before_end(context, change, stored, prior)
    # A deposed object that the plan does not replace triggers nothing.
    has_actions = not change.deposed
    if has_actions:
        await run_around_end(context, change, TriggerEvent.BEFORE_DESTROY)
    # Provider protocol: null as planned object and as configuration requests a destroy.
    nothing = null(change.schema.block.implied_type)
    # The private data of a plan belongs to the change that was planned. For a replacement
    # that is the creation, so the destroy gets the private data of the stored object.
    is_planned = change.action is Action.DELETE
    answer = await provider.apply(
        api.ApplyRequest(
            change.address.item.resource.type,
            prior.unmark_deep()[0],
            nothing,
            nothing,
            change.private if is_planned else stored.private,
            context.run.meta_at(change.address.module, change.provider.item.provider),
        )
    )
    context.diags.extend(located(answer.diagnostics, address=str(change.address)))
    # A destroy that fails may return what is left of the object. It keeps its status and
    # dependencies, which are not computed again for a destroy.
    left: StoredObject | None = None
    if not answer.state.is_null:
        value = mark_with_paths(answer.state, unmark_deep_with_paths(prior)[1])
        identity = stored_identity(stored, change.schema)
        left = encode(
            unknown_as_null(value),
            change.schema,
            stored.status,
            answer.private,
            stored.dependencies,
            stored.create_before_destroy,
            stored.skip_destroy,
            identity if answer.identity is None else answer.identity,
            stored.triggers,
        )
    _set(context, change, deposed, left)
    if api.has_errors(answer.diagnostics):
        raise OperationFailed
    # OpenTofu: an object that is still there without an error is a fault of the provider, and
    # stays in the state so that it is not lost.
    if left is not None:
        context.report_faults(change, [ProviderFault((), "the object is still there")])
        raise OperationFailed
    if has_actions:
        await run_around_end(context, change, TriggerEvent.AFTER_DESTROY)


def _deposed_key(context: ApplyContext, operation: Operation, change: Change) -> str:
    """Return the deposed key of the operation's object; empty for the current one."""
    if operation.deposed == REPLACED:
        return context.deposed.get(change.address, "")
    return operation.deposed


def _set(context: ApplyContext, change: Change, deposed: str, stored: StoredObject | None) -> None:
    if deposed:
        context.draft.set_deposed(change.address, deposed, stored, change.provider)
    else:
        context.draft.set_current(change.address, stored, change.provider)

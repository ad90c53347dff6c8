"""Creation and update of objects: plan again with all values known, apply, check the result.

Whatever exists after the provider was called is recorded, even if it failed or broke the protocol.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from nigari.apply.actions import run_after, run_before
from nigari.apply.context import ApplyContext, OperationFailed
from nigari.apply.declared_instance import DeclaredInstance, declared_instance
from nigari.apply.provisioning import provision
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.cty.paths import path_text, unknown_as_null
from nigari.cty.values import Value, null
from nigari.plan.model.changes import Action, Change
from nigari.plan.objects.planned_change import DesiredObject, plan_change
from nigari.plan.objects.prior_object import PriorObject, marked_as_stored, stored_identity
from nigari.plan.objects.provider_checks import ProviderFault, result_faults, type_faults
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.running.provider_objects import with_schema_marks
from nigari.state.model import ObjectStatus, StoredObject
from nigari.state.objects import encode


async def make(context: ApplyContext, change: Change, begin: Callable[[], None]) -> Value:
    """Create or update an object; it begins when the provider is asked for that.

    An update that changes nothing, now that everything is known, does not begin.
    """
    provider = context.provider(change)
    declared = await declared_instance(context, change)
    await declared.check("precondition", None)
    config = await declared.config()
    prior = _prior(context, change) if change.action is Action.UPDATE else None
    wanted = DesiredObject(
        change.address,
        config,
        change.schema,
        change.provider,
        declared.node.resource.body,
        ignore=declared.ignore() if prior is not None else None,
        meta=declared.meta,
        # Protocol 6.11: with store_planned_private, the second plan gets what the first one returned.
        planned_private=change.private,
    )
    # OpenTofu plans every change a second time (managedResourceExecute), since values that
    # were unknown in the plan may now change what the provider wants.
    final = await plan_change(provider, wanted, prior, context.diags)
    if final is None:
        raise OperationFailed
    # checkPlannedChange: the second plan may only fill in what the first one left unknown.
    # The user approved the first one.
    _check_final(context, change, final)
    # checkPlannedChange allows this: with all values known, an update can turn out to be
    # none.
    if final.action is Action.NO_OP:
        value = context.run.results[change.address] = final.after
        return value
    begin()
    await run_before(context, declared, change, final.after)
    if change.action is Action.CREATE_THEN_DELETE:
        # OpenTofu keeps the old object as deposed, so that its destruction is not lost if
        # this apply ends here.
        _depose(context, change)
    value = await _apply(context, declared, change, final, config, prior)
    try:
        # evalApplyProvisioners: creation provisioners run for new objects only.
        if change.action is not Action.UPDATE:
            await provision(context, declared, change, value)
        await run_after(context, declared, change, value)
    except OperationFailed:
        raise OperationFailed(value) from None
    return value


def _prior(context: ApplyContext, change: Change) -> PriorObject:
    stored = context.current(change.address)
    # A change has the marks of its schema, too, and these may be what it adds to the state.
    value = marked_as_stored(change.before.unmark_deep()[0], stored)
    return PriorObject(value, stored, stored.private, stored_identity(stored, change.schema))


async def _apply(
    context: ApplyContext,
    declared: DeclaredInstance,
    change: Change,
    final: Change,
    config: Value,
    prior: PriorObject | None,
) -> Value:
    block = change.schema.block
    # The protocol has no marks. They are taken off before the call and put on the result
    # again.
    planned, marks = unmark_deep_with_paths(final.after)
    before = null(block.implied_type) if prior is None else prior.value.unmark_deep()[0]
    if prior is not None and before == planned:
        # OpenTofu does not call the provider if only marks have changed, since it never sees them.
        # The state records the new ones.
        answer = api.ApplyResponse(planned, prior.private, identity=prior.identity)
    else:
        type_name, plain = change.address.item.resource.type, config.unmark_deep()[0]
        answer = await context.provider(change).apply(
            api.ApplyRequest(
                type_name=type_name,
                prior=before,
                planned=planned,
                config=plain,
                planned_private=final.private,
                provider_meta=declared.meta,
                identity=final.identity,
            )
        )
    body = declared.node.resource.body
    context.diags.extend(located(answer.diagnostics, block, body, str(change.address)))
    has_failed = api.has_errors(answer.diagnostics)
    # ApplyResourceChange: even a failed call may return an object, perhaps created in part.
    # From here on nothing may keep it from being recorded.
    value = answer.state
    faults = type_faults(block, value)
    # AssertObjectCompatible is not applied to legacy_type_system, whose conversions are too
    # imprecise for it, and not after errors, which are usually the explanation.
    if not faults and not value.is_null and not answer.legacy_type_system and not has_failed:
        faults = result_faults(block, planned, value)
    # A state cannot hold unknown values, and after apply there is no reason for any.
    if not value.is_wholly_known:
        faults = faults or [ProviderFault((), "part of it is still unknown")]
        # Of an object of which nothing is said, what was known before is all there is.
        value = unknown_as_null(value) if value.is_known else before
    context.report_faults(change, faults)
    if not value.is_null:
        value = with_schema_marks(mark_with_paths(value, marks), change.schema)
    # maybeTainted: what a failed creation left is undefined, so the next plan replaces it. A
    # failed update often changed nothing, and otherwise the provider returned what it did.
    is_new = change.action is not Action.UPDATE
    is_tainted = is_new and (has_failed or bool(faults))
    _record(context, change, value, answer, is_tainted, await declared.triggers())
    if has_failed or faults:
        raise OperationFailed(None if value.is_null else value)
    # Only a destroy may return null. Checked last, so that an error of the provider is not
    # reported twice.
    if value.is_null:
        context.report_faults(change, [ProviderFault((), "there is no object after the change")])
        raise OperationFailed
    context.run.results[change.address] = value
    return value


def _record(
    context: ApplyContext,
    change: Change,
    value: Value,
    answer: api.ApplyResponse,
    is_tainted: bool,
    triggers: tuple[str, ...],
) -> None:
    """Note what exists now, also after an error."""
    stored: StoredObject | None = None
    if not value.is_null:
        stored = encode(
            value,
            change.schema,
            ObjectStatus.TAINTED if is_tainted else ObjectStatus.READY,
            answer.private,
            context.dependencies(change),
            context.is_created_first(change),
            context.skips_destroy(change),
            identity=answer.identity,
            triggers=triggers,
        )
    # MaybeRestoreResourceInstanceDeposed: without a replacement, the deposed object becomes
    # the current one again.
    elif change.address in context.deposed:
        # Nothing came of the new object, so the old one is what there is.
        _restore(context, change)
        return
    context.draft.set_current(change.address, stored, change.provider)


# -- objects that are put aside -------------------------------------------------------------------


def _depose(context: ApplyContext, change: Change) -> None:
    """Put the current object aside, so that another can take its place."""
    state = context.draft.instance(change.address)
    if state is None or state.current is None:
        return
    # NewDeposedKey: eight hexadecimal digits, at random. Readers of the state check the
    # length.
    key = os.urandom(4).hex()
    context.deposed[change.address] = key
    context.draft.set_deposed(change.address, key, state.current, change.provider)
    context.draft.set_current(change.address, None, change.provider)


def _restore(context: ApplyContext, change: Change) -> None:
    key = context.deposed.pop(change.address)
    state = context.draft.instance(change.address)
    if state is not None and key in state.deposed:
        stored = state.deposed[key]
        context.draft.set_current(change.address, stored, change.provider)
        context.draft.set_deposed(change.address, key, None, change.provider)


# -- what the user agreed to ----------------------------------------------------------------------


def _check_final(context: ApplyContext, change: Change, final: Change) -> None:
    """Compare what is planned now with what the user agreed to."""
    planned, now = change.after.unmark_deep()[0], final.after.unmark_deep()[0]
    # The same rule as for the result: known values must stay, unknown ones may become
    # anything that fits.
    faults = result_faults(change.schema.block, planned, now)
    if change.action is Action.UPDATE and final.action not in (Action.UPDATE, Action.NO_OP):
        faults.append(
            ProviderFault((), "the object would have to be replaced, which was not planned")
        )
    for fault in faults:
        where = path_text(fault.path).removeprefix(".")
        context.diags.error(
            "Inconsistent final plan",
            f"Now that all values are known, the provider {change.provider.item.provider.display}"
            f" plans a different change for {change.address} than before"
            f"{', at ' + where if where else ''}: {fault.text}. This is a bug in the provider.",
            address=str(change.address),
        )
    if faults:
        raise OperationFailed

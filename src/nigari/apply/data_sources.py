"""Data sources that are read during the apply: deferred ones, and those of checks."""

from __future__ import annotations

from nigari.apply.context import ApplyContext, OperationFailed
from nigari.apply.declared_instance import declared_instance
from nigari.cty.values import Value
from nigari.plan.model.changes import Change
from nigari.running.provider_objects import with_schema_marks
from nigari.state.objects import encode


async def read(context: ApplyContext, change: Change) -> Value | None:
    """Read a data source; only one of a check may return None."""
    from nigari.plan.nodes.data import DataSource

    provider, run = context.provider(change), context.run
    declared = await declared_instance(context, change)
    # applyDataSource: preconditions come first, since they may guard the read.
    await declared.check("precondition", None)
    config = await declared.config()
    resource = declared.node.resource
    source = DataSource(provider, change.address, change.schema, resource, declared.meta)
    value = await source.read(config, context.diags, run.unread)
    if value is None:
        # applyDataSource: in a check block, a failed read becomes a warning and the check
        # fails; nothing else is affected.
        if resource.in_check:
            return None
        raise OperationFailed
    if run.kept is not None:
        run.kept.keep_data(change.address, config, value)
    context.draft.set_current(change.address, encode(value, change.schema), change.provider)
    value = run.results[change.address] = with_schema_marks(value, change.schema)
    return value

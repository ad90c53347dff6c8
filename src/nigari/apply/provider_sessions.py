"""Providers and ephemeral objects, which are open while operations use them."""

from __future__ import annotations

from nigari.apply.context import ApplyContext, OperationFailed
from nigari.apply.declared_instance import declared_instance
from nigari.eval.core.worklist import DONE
from nigari.plan.model.changes import EphemeralInstance
from nigari.plan.nodes.removed_modules import frame_of_old


async def open_provider(context: ApplyContext, text: str) -> bool:
    """Start and configure a provider instance; return False on failure."""
    run = context.run
    address = context.provider_address(text)
    # OpenTofu destroys what a removed module left with the provider that the state names, if
    # an enclosing module still configures it.
    frame = await run.frame(address.module) or frame_of_old(
        run.root, address.module, run.prior, run.schema_of
    )
    node = run.providers.for_stored(run.root, frame, address)
    await run.evaluate((node,))
    context.providers[text] = node
    if node.memory is not None:
        context.draft.remember(node.memory)
    return node.state == DONE and node.provider is not None


async def close_provider(context: ApplyContext, text: str) -> None:
    """Shut down a provider instance."""
    node = context.providers.pop(text, None)
    if node is not None and node.provider is not None:
        await context.run.pool.close(node.provider)


async def open_ephemeral(context: ApplyContext, instance: EphemeralInstance) -> bool:
    """Open an ephemeral object and check its conditions; return False on failure."""
    try:
        provider, run = context.provider(instance), context.run
        declared = await declared_instance(context, instance)
        # openEphemeralResource: preconditions guard the opening, postconditions the use
        # of the result.
        await declared.check("precondition", None)
        config = await declared.config()
        body = declared.node.resource.body
        value = await run.ephemeral.open(provider, instance.address, instance.schema, config, body)
        if value is None:
            return False
        run.results[instance.address] = value
        await declared.check("postcondition", value)
    except OperationFailed:
        return False
    return True

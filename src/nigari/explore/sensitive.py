"""Arguments that are sensitive because the schema of their provider says so.

Nothing in the language knows that before planning, so that it is looked up for the page. A provider
that is not installed has no schema, and what its arguments are is not known.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.diagnostics import Diagnostics
from nigari.eval.static.run import StaticRun
from nigari.plan.order.required_providers import configured_providers, providers_of
from nigari.schema.block import Attribute, Block
from nigari.schema.config_block import action_schema
from nigari.schema.provider import ProviderSchema
from nigari.state.model import State
from nigari.workspace.context.asyncio_bridge import run_to_end
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.plugins.provider_schemas import offered_schemas
from nigari.workspace.plugins.providers import InstalledProviders
from nigari.workspace.views.static_value import StaticValue, as_sensitive

Schemas = Mapping[str, ProviderSchema]
"""The schemas of providers, by their addresses."""


def schemas_of(run: StaticRun, where: WorkingDirectory) -> Schemas:
    """The schemas of all providers of a configuration that are installed."""
    root = run.root.instance
    wanted = dict.fromkeys([*providers_of(root, State()), *configured_providers(root)])
    found = run_to_end(offered_schemas(InstalledProviders(where), wanted, Diagnostics()))
    return {str(provider): each for provider, each in found.items()}


def resource_block(schemas: Schemas, provider: str, mode: str, type: str) -> Block | None:
    """The schema of a resource, if it is known."""
    offered = schemas.get(provider)
    if offered is None:
        return None
    if mode == "action":
        action = action_schema(offered, type)
        return None if action is None else action.block
    of_mode = {"data": offered.data_sources, "ephemeral": offered.ephemeral_resources}
    schema = of_mode.get(mode, offered.resources).get(type)
    return None if schema is None else schema.block


def provider_block(schemas: Schemas, provider: str) -> Block | None:
    """The schema of a provider, if it is known."""
    offered = schemas.get(provider)
    return None if offered is None else offered.provider.block


def inner_block(block: Block | None, type: str, labels: tuple[str, ...]) -> Block | None:
    """The schema of a nested block; a `dynamic` one makes blocks of the type in its label."""
    if block is None:
        return None
    if type == "content":
        return block
    nested = block.blocks.get(labels[0] if type == "dynamic" and labels else type)
    return None if nested is None else nested.block


def hidden(arguments: Mapping[str, StaticValue], block: Block | None) -> Mapping[str, StaticValue]:
    """The arguments, sensitive where the schema says so."""
    if block is None:
        return arguments
    return {
        name: as_sensitive(each) if _is_sensitive(block.attributes.get(name)) else each
        for name, each in arguments.items()
    }


def _is_sensitive(attribute: Attribute | None) -> bool:
    if attribute is None:
        return False
    if attribute.sensitive or attribute.write_only:
        return True
    nested = attribute.nested
    return nested is not None and any(map(_is_sensitive, nested.attributes.values()))

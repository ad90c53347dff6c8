"""What `nigari show -config` does: the configuration as JSON."""

from __future__ import annotations

from nigari.cli.stored_state import OpenState
from nigari.plan.required import providers_of
from nigari.plan.show_json import document
from nigari.state.json_text import escaped_for_html
from nigari.state.model import State
from nigari.workspace.show_configuration import configuration_data


async def show_configuration(state: OpenState) -> bool:
    """Print the configuration; False after reporting why that cannot be done."""
    static = state.static()
    if static is None or state.diags.has_errors:
        return False
    needed = providers_of(static.root.instance, State())
    schemas = await state.load_schemas(needed)
    if any(each not in schemas for each in needed):
        return False
    text = escaped_for_html(document(configuration_data(static, schemas.get)))
    state.into_file(text)
    if state.invocation.switch("json"):
        state.terminal.out(text)
    return True

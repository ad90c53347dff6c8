"""What `nigari show -config` and `-module=DIR` do: a configuration, or one module, as JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping

from nigari.cli.configuration import OpenConfiguration
from nigari.cli.stored_state import OpenState
from nigari.plan.json_document import document
from nigari.plan.required import providers_of
from nigari.state.json_text import escaped_for_html
from nigari.state.model import State
from nigari.workspace.show_configuration import configuration_data
from nigari.workspace.show_module import module_data


async def show_configuration(state: OpenState) -> bool:
    """Print the configuration; False after reporting why that cannot be done."""
    static = state.static()
    if static is None or state.diags.has_errors:
        return False
    needed = providers_of(static.root.instance, State())
    schemas = await state.load_schemas(needed)
    if any(each not in schemas for each in needed):
        return False
    return _print(configuration_data(static, schemas.get), state)


def show_module(directory: str, state: OpenState) -> bool:
    """Print what the module in a directory declares; False after reporting why not."""
    configuration = OpenConfiguration(state.invocation, directory)
    workspace = state.workspace = configuration.workspace
    state.diags.extend(configuration.diags)
    if not os.path.isdir(directory):
        state.diags.error("No such module", f"{directory} is not a readable directory.")
        return False
    data = module_data(workspace, configuration.inputs, configuration.selected, state.diags)
    return data is not None and _print(data, state)


def _print(data: Mapping[str, object], state: OpenState) -> bool:
    state.terminal.out(escaped_for_html(document(data)))
    return True

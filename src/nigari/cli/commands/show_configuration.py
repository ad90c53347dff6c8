"""`nigari show -config` and `-module=DIR`: a configuration, or one module, as JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping

from nigari.cli.presenter import Presenter
from nigari.cli.state_flags import open_session
from nigari.plan.order.required_providers import providers_of
from nigari.plan.show.json_document import document
from nigari.state.json_text import escaped_for_html
from nigari.state.model import State
from nigari.workspace.documents.show_configuration import configuration_data
from nigari.workspace.documents.show_module import module_data


async def show_configuration(presenter: Presenter) -> bool:
    """Print the configuration; False after reporting why that cannot be done."""
    static = presenter.session.static()
    if static is None or presenter.diags.has_errors:
        return False
    needed = providers_of(static.root.instance, State())
    schemas = await presenter.session.load_schemas(needed)
    if any(each not in schemas for each in needed):
        return False
    return _print(configuration_data(static, schemas.get), presenter)


def show_module(directory: str, presenter: Presenter) -> bool:
    """Print what the module in a directory declares; False after reporting why not."""
    session = open_session(presenter.invocation, directory)
    presenter.session.shown = session.workspace
    presenter.diags.extend(session.diags)
    if not os.path.isdir(directory):
        presenter.diags.error("No such module", f"{directory} is not a readable directory.")
        return False
    data = module_data(session.workspace, session.inputs, session.selected, presenter.diags)
    return data is not None and _print(data, presenter)


def _print(data: Mapping[str, object], presenter: Presenter) -> bool:
    presenter.terminal.out(escaped_for_html(document(data)))
    return True

"""`nigari providers schema -json`: everything that the providers in use offer."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG
from nigari.workspace.plugins.providers import InstalledProviders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.addrs.provider import Provider


async def _schema(presenter: Presenter) -> bool:
    installed = InstalledProviders(presenter.session.where)
    installed.look_ahead()
    # The configuration is read while packages are checked.
    requirements = presenter.session.requirements()
    snapshots = await presenter.session.read()
    if requirements is None or snapshots is None:
        return False
    needed = {each.provider for each in requirements}
    if snapshots.file is not None:
        needed.update(snapshots.file.state.providers())
    texts: Mapping[Provider, str] = {}
    if installed.versions_fit(requirements, presenter.diags):
        from nigari.workspace.plugins.provider_schemas import schema_texts

        texts = await schema_texts(installed, sorted(needed), presenter.diags)
    presenter.diags.extend(installed.problems)
    if presenter.diags.has_errors:
        return False
    from nigari.schema.json_form import schemas_text

    presenter.terminal.out(schemas_text({str(provider): text for provider, text in texts.items()}))
    return True


def run(invocation: Invocation) -> int:
    """Print the schemas."""
    if not invocation.switch("json"):
        raise UsageError("Schemas are printed as JSON only, so the option -json is required.")
    return run_command(invocation, _schema, tells_events=False)


COMMAND = Command(
    "providers schema",
    "Prints the schemas of the providers of the configuration and the state as JSON: resources, "
    "data sources and functions with all their arguments.",
    run,
    flags=(
        Flag("json", FLAG_SWITCH, "Print JSON (required)"),
        *VARIABLE_FLAGS,
        NO_COLOR_FLAG,
        COMPACT_WARNINGS_FLAG,
    ),
    examples=(Example("nigari providers schema -json | jq .provider_schemas", ""),),
)

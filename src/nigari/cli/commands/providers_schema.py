"""`nigari providers schema -json`: everything that the providers in use offer."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.stored_state import OpenState, run_command
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG
from nigari.schema.json_form import schemas_text
from nigari.state.json_text import escaped_for_html
from nigari.workspace.provider_schemas import schema_texts
from nigari.workspace.providers import InstalledProviders


async def _schema(state: OpenState) -> bool:
    requirements = state.requirements()
    snapshots = await state.read()
    if requirements is None or snapshots is None:
        return False
    needed = {each.provider for each in requirements}
    wanted = sorted(needed.union(snapshots.state.providers()))
    installed = InstalledProviders(".", state.terminal.environ)
    texts = await schema_texts(installed, wanted, state.diags)
    state.diags.extend(installed.problems)
    if state.diags.has_errors:
        return False
    document = schemas_text({str(provider): text for provider, text in texts.items()})
    state.terminal.out(escaped_for_html(document))
    return True


def run(invocation: Invocation) -> int:
    """Print the schemas."""
    if not invocation.switch("json"):
        raise UsageError("Schemas are printed as JSON only, so the option -json is needed.")
    return run_command(invocation, _schema, tells_events=False)


COMMAND = Command(
    "providers schema",
    "Prints everything that the providers of the configuration and of the state offer, as JSON: "
    "their resources, data sources and functions with all arguments.",
    run,
    flags=(
        Flag("json", FLAG_SWITCH, "Print JSON; needed"),
        *VARIABLE_FLAGS,
        NO_COLOR_FLAG,
        COMPACT_WARNINGS_FLAG,
    ),
    examples=(Example("nigari providers schema -json | jq .provider_schemas", ""),),
)

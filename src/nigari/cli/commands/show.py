"""`nigari show`: a state or a saved plan, for people or as JSON."""

from __future__ import annotations

from collections.abc import Iterable

from nigari.addrs.provider import Provider
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import JSON_INTO_FLAG, ONLY_FLAG, REVEAL_FLAG, SUMMARY_FLAG, WHY_FLAG
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG
from nigari.record import replace

TYPE_CHECKING = False
# One thing is shown, in one form.
if TYPE_CHECKING:
    from nigari.state.model import StateFile
    from nigari.state.objects import SchemaLookup

_CONTAINER = b"PK"
"""The magic bytes of a saved plan."""


async def schema_lookup(providers: Iterable[Provider], presenter: Presenter) -> SchemaLookup | None:
    """The schemas of these providers, or `None` after reporting which one is not to be had."""
    from nigari.workspace.plugins.provider_schemas import find_in

    schemas = await presenter.session.load_schemas(providers)
    return None if presenter.diags.has_errors else find_in(schemas)


async def _show(presenter: Presenter) -> bool:
    path = _path(presenter.invocation)
    module = presenter.invocation.text("module")
    if presenter.invocation.switch("config") or module:
        from nigari.cli.commands.show_configuration import show_configuration, show_module

        return show_module(module, presenter) if module else await show_configuration(presenter)
    data = None if not path else _content(path, presenter)
    if path and data is None:
        return False
    if data is not None and _is_plan(data):
        from nigari.cli.commands.show_plan import show_plan

        return await show_plan(path, presenter)
    if presenter.invocation.text("plan"):
        presenter.diags.error("Not a saved plan", f"{path} was not saved by plan -out.")
        return False
    if data is None:
        snapshots = await presenter.session.read()
        file = None if snapshots is None else snapshots.file
    else:
        file = _stored(data, path, presenter)
    if presenter.diags.has_errors:
        return False
    if file is not None:
        file = replace(file, state=presenter.session.as_shown(file.state))
    used = [] if file is None else file.state.providers()
    lookup = await schema_lookup(used, presenter)
    return lookup is not None and _print(file, lookup, presenter)


def _is_plan(data: bytes) -> bool:
    """Return whether a file is a saved plan, encrypted or not.

    An encrypted state has a lineage in clear.
    """
    if data.startswith(_CONTAINER):
        return True
    from nigari.state.encryption.envelope import DamagedEnvelope, parse_envelope

    try:
        envelope = parse_envelope(data)
    except DamagedEnvelope:
        return False
    return envelope is not None and envelope.plain is None


def _path(invocation: Invocation) -> str:
    """The file that is to be shown; empty for the newest state."""
    given = [*invocation.arguments, *filter(None, [invocation.text("plan")])]
    is_configuration, module = invocation.switch("config"), invocation.text("module")
    if len(given) + invocation.switch("state") + is_configuration + bool(module) > 1:
        raise UsageError(
            "The command shows one thing at a time: -state, -plan=FILE, -config, -module=DIR or a "
            "file."
        )
    if (is_configuration or module) and not invocation.switch("json"):
        raise UsageError("A configuration is shown as JSON only: add -json.")
    return given[0] if given else ""


def _print(file: StateFile | None, lookup: SchemaLookup, presenter: Presenter) -> bool:
    if presenter.invocation.switch("json") or presenter.invocation.text("json-into"):
        from nigari.state.show.show_json import state_to_json

        document = state_to_json(file, lookup, presenter.diags)
        if document is None:
            return False
        presenter.into_file(lambda: document)
        if presenter.invocation.switch("json"):
            presenter.terminal.out(document)
            return True
    if file is None:
        presenter.terminal.out("No state.")
    elif file.state.is_empty:
        presenter.terminal.out("The state file is empty. No resources are represented.")
    else:
        from nigari.backends.shown_settings import shown_state
        from nigari.state.show.show_text import state_to_text

        reveal, state = presenter.invocation.switch("show-sensitive"), shown_state(file.state)
        presenter.terminal.stdout.write(state_to_text(state, lookup, presenter.diags, reveal))
    return not presenter.diags.has_errors


def _content(path: str, presenter: Presenter) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        presenter.diags.error("Cannot read the file", f"{path}: {error.strerror or error}.")
        return None


def _stored(data: bytes, path: str, presenter: Presenter) -> StateFile | None:
    if not data:
        return None
    from nigari.state.files import parse_state

    decrypted = presenter.session.encryption.decrypt(data, presenter.diags)
    return None if decrypted is None else parse_state(decrypted.data, presenter.diags, path)


def run(invocation: Invocation) -> int:
    """Show a state or a plan."""
    return run_command(invocation, _show, tells_events=False)


COMMAND = Command(
    "show",
    "Shows the current state of the selected workspace, or the contents of a file: a state, or a "
    "saved plan. Sensitive values are hidden, except with -json. The providers must be "
    "installed, because their schemas describe the attributes.",
    run,
    flags=(
        Flag("state", FLAG_SWITCH, "Show the current state, which is the default"),
        Flag("plan", FLAG_TEXT, "Show a saved plan", "FILE"),
        Flag("config", FLAG_SWITCH, "Show the configuration, with -json"),
        Flag("module", FLAG_TEXT, "Show what one module declares, with -json", "DIR"),
        Flag("json", FLAG_SWITCH, "Print JSON"),
        Flag("markdown", FLAG_SWITCH, "Print a saved plan as Markdown, for a pull request"),
        SUMMARY_FLAG,
        WHY_FLAG,
        ONLY_FLAG,
        JSON_INTO_FLAG,
        REVEAL_FLAG,
        *VARIABLE_FLAGS,
        NO_COLOR_FLAG,
        COMPACT_WARNINGS_FLAG,
    ),
    arguments="[FILE]",
    most_arguments=1,
    examples=(
        Example("nigari show", "the current state"),
        Example("nigari show plan.out", "a saved plan"),
        Example("nigari show -markdown plan.out", "for a comment on a pull request"),
        Example("nigari show -json | jq .values", "for programs"),
    ),
)

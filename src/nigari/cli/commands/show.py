"""`nigari show`: a state or a saved plan, for people or as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nigari.addrs.provider import Provider
from nigari.addrs.resource import DATA, Resource
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.stored_state import JSON_INTO_FLAG, REVEAL_FLAG, OpenState, run_command
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG
from nigari.record import replace
from nigari.schema.provider import Schema
from nigari.state.encryption.envelope import DamagedEnvelope, parse_envelope
from nigari.state.files import parse_state
from nigari.state.model import StateFile
from nigari.state.objects import SchemaLookup
from nigari.state.show_json import state_to_json
from nigari.state.show_text import state_to_text

_CONTAINER = b"PK"
"""How the container of a saved plan begins."""


async def schema_lookup(providers: Iterable[Provider], state: OpenState) -> SchemaLookup | None:
    """The schemas of these providers, or `None` after reporting which one is not to be had."""
    schemas = await state.load_schemas(providers)
    if state.diags.has_errors:
        return None

    def look_up(provider: Provider, resource: Resource) -> Schema | None:
        offered = schemas.get(provider)
        if offered is None:
            return None
        of_mode = offered.data_sources if resource.mode is DATA else offered.resources
        return of_mode.get(resource.type)

    return look_up


async def _show(state: OpenState) -> bool:
    path = _path(state.invocation)
    module = state.invocation.text("module")
    if state.invocation.switch("config") or module:
        from nigari.cli.commands.show_configuration import show_configuration, show_module

        return show_module(module, state) if module else await show_configuration(state)
    data = None if not path else _content(path, state)
    if path and data is None:
        return False
    if data is not None and _is_plan(data):
        from nigari.cli.commands.show_plan import show_plan

        return await show_plan(path, state)
    if state.invocation.text("plan"):
        state.diags.error("Not a saved plan", f"{path} was not saved by plan -out.")
        return False
    if data is None:
        snapshots = await state.read()
        file = None if snapshots is None else snapshots.file
    else:
        file = _stored(data, path, state)
    if state.diags.has_errors:
        return False
    if file is not None:
        file = replace(file, state=state.as_shown(file.state))
    used = [] if file is None else file.state.providers()
    lookup = await schema_lookup(used, state)
    return lookup is not None and _print(file, lookup, state)


def _is_plan(data: bytes) -> bool:
    """Whether a file is a saved plan, encrypted or not: an encrypted state tells its lineage."""
    if data.startswith(_CONTAINER):
        return True
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


def _print(file: StateFile | None, lookup: SchemaLookup, state: OpenState) -> bool:
    if state.invocation.switch("json") or state.invocation.text("json-into"):
        document = state_to_json(file, lookup, state.diags)
        if document is None:
            return False
        state.into_file(document)
        if state.invocation.switch("json"):
            state.terminal.out(document)
            return True
    if file is None:
        state.terminal.out("No state.")
    elif file.state.is_empty:
        state.terminal.out("The state file is empty. No resources are represented.")
    else:
        reveal = state.invocation.switch("show-sensitive")
        state.terminal.stdout.write(state_to_text(file.state, lookup, state.diags, reveal))
    return not state.diags.has_errors


def _content(path: str, state: OpenState) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        state.diags.error("Cannot read the file", f"{path}: {error.strerror or error}.")
        return None


def _stored(data: bytes, path: str, state: OpenState) -> StateFile | None:
    if not data:
        return None
    decrypted = state.encryption.decrypt(data, state.diags)
    return None if decrypted is None else parse_state(decrypted.data, state.diags, path)


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
        Example("nigari show -json | jq .values", "for programs"),
    ),
)

"""`nigari environments`: the environments that are declared, with the last apply of each."""

from __future__ import annotations

from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.state_flags import chosen_environment, plain_directory
from nigari.cli.views.diagnostics import NO_COLOR_FLAG, show_diagnostics
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.render import no_context
from nigari.workspace.context.environments import FILE_NAME
from nigari.workspace.context.last_apply import LastApply
from nigari.workspace.session.environment_result import EnvironmentInfo, list_environments


def run(invocation: Invocation) -> int:
    """Print the environments."""
    diags, terminal = Diagnostics(), invocation.terminal
    found, sources = list_environments(plain_directory(invocation), diags)
    chosen = chosen_environment(terminal)
    if not diags.has_errors and invocation.switch("json"):
        from nigari.plan.show.json_document import document

        environments = [
            {**each.to_data(), "selected": name == chosen} for name, each in found.items()
        ]
        terminal.out(document({"format_version": "1.0", "environments": environments}))
    elif not diags.has_errors:
        for line in _lines(list(found.values()), chosen):
            terminal.out(line)
        if not found:
            terminal.err(f"There are no environments. Declare them in {FILE_NAME}.")
    show_diagnostics(terminal.only_err(), diags, sources, no_context)
    return 1 if diags.has_errors else 0


def _lines(environments: list[EnvironmentInfo], chosen: str) -> list[str]:
    names = max((len(each.name) for each in environments), default=0)
    workspaces = max((len(each.workspace) for each in environments), default=0)
    return [
        f"{'*' if each.name == chosen else ' '} {each.name:<{names}}  "
        f"{each.workspace:<{workspaces}}  {_applied(each.last_apply)}"
        for each in environments
    ]


def _applied(last: LastApply | None) -> str:
    if last is None:
        return "never applied from here"
    what = "destroyed" if last.mode == "destroy" else "applied"
    failed = "" if last.is_complete else ", incomplete"
    return f"{what} {last.time:%Y-%m-%d %H:%M} UTC, serial {last.serial}{failed}"


COMMAND = Command(
    "environments",
    f"Prints the environments that {FILE_NAME} declares, each with its workspace and its last apply "
    "from this directory. An asterisk marks the one that -env or NIGARI_ENV selects.",
    run,
    flags=(Flag("json", FLAG_SWITCH, "Print the environments as JSON"), NO_COLOR_FLAG),
    examples=(
        Example("nigari environments", ""),
        Example("nigari environments -json", "for programs"),
    ),
)

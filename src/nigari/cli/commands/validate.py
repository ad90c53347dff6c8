"""`nigari validate`: whether a configuration is right in itself, whatever its variables."""

from __future__ import annotations

from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.configuration import OpenConfiguration
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG, show_diagnostics
from nigari.diagnostics import Diagnostics
from nigari.workspace import Workspace

_FORMAT_VERSION = "1.0"


def run(invocation: Invocation) -> int:
    """Check the configuration and tell what is wrong with it."""
    directory = invocation.arguments[0] if invocation.arguments else "."
    configuration = OpenConfiguration(invocation, directory)
    workspace, diags = configuration.workspace, configuration.diags
    diags.extend(workspace.validate(configuration.inputs, invocation.terminal.environ))
    if invocation.switch("json"):
        _print_json(invocation, workspace, diags)
    else:
        _print_text(invocation, workspace, diags)
    return 1 if diags.has_errors else 0


def _print_json(invocation: Invocation, workspace: Workspace, diags: Diagnostics) -> None:
    import json

    from nigari.diagnostics.render import to_json

    found = diags.in_order()
    errors = sum(1 for each in found if each.severity.value == "error")
    document = {
        "format_version": _FORMAT_VERSION,
        "valid": not diags.has_errors,
        "error_count": errors,
        "warning_count": len(found) - errors,
        "diagnostics": [to_json(each, workspace.sources, workspace.context_of) for each in found],
    }
    invocation.terminal.out(json.dumps(document, indent=2, ensure_ascii=False))


def _print_text(invocation: Invocation, workspace: Workspace, diags: Diagnostics) -> None:
    show_diagnostics(
        invocation.terminal,
        diags,
        workspace.sources,
        workspace.context_of,
        no_color=invocation.switch("no-color"),
        compact_warnings=invocation.switch("compact-warnings"),
    )
    if not diags.has_errors:
        but = ", but there are warnings above" if diags.warning_count else ""
        invocation.terminal.out(f"Success! The configuration is valid{but}.")


COMMAND = Command(
    "validate",
    "Checks the configuration in a directory: its syntax, its references, the types of its values "
    "and what the providers' schemas ask for. Values of variables are not needed, and nothing "
    "outside is looked at.",
    run,
    flags=(
        Flag("json", FLAG_SWITCH, "Print the result as a JSON object, for editors and scripts"),
        NO_COLOR_FLAG,
        COMPACT_WARNINGS_FLAG,
        Flag("no-tests", FLAG_SWITCH, "Leave test files alone"),
        Flag("test-directory", FLAG_TEXT, "Where test files are", "DIR", "tests"),
        *VARIABLE_FLAGS,
    ),
    arguments="[DIR]",
    most_arguments=1,
    examples=(
        Example("nigari validate", "checks the working directory"),
        Example("nigari validate -json | jq .diagnostics", "for programs"),
    ),
)

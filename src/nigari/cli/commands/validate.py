"""`nigari validate`: whether a configuration is right in itself, whatever its variables."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.lint_option import LINT_FLAG, add_lint, is_linting
from nigari.cli.state_flags import open_session
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG, show_diagnostics
from nigari.diagnostics import Diagnostics
from nigari.markers import VALID
from nigari.workspace import Workspace
from nigari.workspace.configuration.check_directory import validate

_FORMAT_VERSION = "1.0"


def run(invocation: Invocation) -> int:
    """Check the configuration and tell what is wrong with it."""
    directory = invocation.arguments[0] if invocation.arguments else "."
    session = open_session(invocation, directory)
    if invocation.switch("query"):
        session.use_queries()
    workspace, diags = session.workspace, session.diags
    tests = None if invocation.switch("no-tests") else invocation.text("test-directory")
    diags.extend(validate(workspace, session.inputs, selected=session.selected, tests=tests))
    if is_linting(invocation):
        run, found = workspace.static(session.inputs, session.selected)
        add_lint(invocation, session, None if found.has_errors else run)
    into = invocation.text("json-into")
    if into:
        _write(into, _document(workspace, diags))
    if invocation.switch("json"):
        invocation.terminal.out(_document(workspace, diags))
    else:
        _print_text(invocation, workspace, diags)
    return 1 if diags.has_errors else 0


def _write(path: str, document: str) -> None:
    try:
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(f"{document}\n")
    except OSError as error:
        raise UsageError(f"Cannot write {path}: {error.strerror}.") from None


def _document(workspace: Workspace, diags: Diagnostics) -> str:
    import json

    from nigari.diagnostics.render import to_json
    from nigari.workspace.context.shown_sources import ShownSources

    sources = ShownSources(workspace.sources)
    found = diags.in_order()
    errors = sum(1 for each in found if each.severity.value == "error")
    document = {
        "format_version": _FORMAT_VERSION,
        "valid": not diags.has_errors,
        "error_count": errors,
        "warning_count": len(found) - errors,
        "diagnostics": [to_json(each, sources, workspace.context_of) for each in found],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


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
        but = ", but there are warnings above." if diags.warning_count else "."
        invocation.terminal.out(f"{VALID[:-1]}{but}")


COMMAND = Command(
    "validate",
    "Checks the configuration in a directory: its syntax, its references, the types of its "
    "values, and the arguments of its blocks against the schemas of the providers. It needs no "
    "values for variables, and does not access the state or any real object.",
    run,
    flags=(
        Flag("json", FLAG_SWITCH, "Print the result as a JSON object, for editors and scripts"),
        Flag("json-into", FLAG_TEXT, "Also write what -json would print to a file", "FILE"),
        NO_COLOR_FLAG,
        COMPACT_WARNINGS_FLAG,
        Flag("no-tests", FLAG_SWITCH, "Ignore test files"),
        Flag("query", FLAG_SWITCH, "Also check the query files"),
        Flag("test-directory", FLAG_TEXT, "The directory with test files", "DIR", "tests"),
        LINT_FLAG,
        *VARIABLE_FLAGS,
    ),
    arguments="[DIR]",
    most_arguments=1,
    examples=(
        Example("nigari validate", "checks the working directory"),
        Example("nigari validate -json | jq .diagnostics", "for programs"),
    ),
)

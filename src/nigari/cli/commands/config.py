"""`nigari config`: the resolved view of the whole configuration, for programs."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.presenter import show_problems
from nigari.cli.state_flags import open_session
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import NO_COLOR_FLAG
from nigari.workspace.explain.queries import ValueQueries
from nigari.workspace.views.resolved import resolved


def run(invocation: Invocation) -> int:
    """Print the resolved configuration."""
    import json

    if not invocation.switch("json"):
        raise UsageError(
            "The configuration is printed as JSON only, so the option -json is required."
        )
    session = open_session(invocation)
    static = session.static()
    if static is None:
        show_problems(invocation, session)
        return 1
    document = resolved(ValueQueries(static, session.sources), session.inputs)
    session.diags.extend(static.diags)
    invocation.terminal.out(json.dumps(document, indent=2, ensure_ascii=False))
    show_problems(invocation, session)
    return 1 if session.diags.has_errors else 0


COMMAND = Command(
    "config",
    "Prints the whole module tree as far as it is known before anything runs: where each module "
    "comes from, the values of variables and outputs and where they were set, the instances of "
    "providers, the backend, and why the rest is not known.",
    run,
    flags=(Flag("json", FLAG_SWITCH, "Print JSON (required)"), NO_COLOR_FLAG, *VARIABLE_FLAGS),
    examples=(
        Example("nigari config -json | jq '.modules[].directory'", "the directory of every module"),
    ),
)

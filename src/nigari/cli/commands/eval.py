"""`nigari eval`: the value of an expression before anything runs."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.presenter import show_problems
from nigari.cli.state_flags import open_session
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import NO_COLOR_FLAG
from nigari.cli.views.explanation import USE_THE_STATE, explanation_json
from nigari.workspace.explain.explainer import Explainer
from nigari.workspace.explain.queries import ValueQueries

_NOT_STATIC = 2


def run(invocation: Invocation) -> int:
    """Evaluate an expression statically."""
    if not invocation.arguments:
        raise UsageError("The command needs an expression to evaluate, in quotes.")
    session = open_session(invocation)
    static = session.static()
    found = None
    if static is not None:
        evaluation = ValueQueries(static, session.workspace.sources)
        explainer = Explainer(evaluation, session.diags, session.where)
        found = explainer.expression(invocation.arguments[0], invocation.text("module"))
        session.diags.extend(static.diags)
        session.workspace.sources.update(explainer.sources)
    if found is None or session.diags.has_errors:
        show_problems(invocation, session)
        return 1
    if invocation.switch("json"):
        import json

        tree = explanation_json(found, session.workspace.sources, session.workspace.context_of)
        invocation.terminal.out(json.dumps(tree, indent=2, ensure_ascii=False))
    else:
        invocation.terminal.out(found.shown_value)
    for chain in found.chains:
        invocation.terminal.err(f"Not static: {chain}.")
    if found.phase in ("plan", "apply"):
        invocation.terminal.err(USE_THE_STATE)
    return 0 if found.phase == "static" else _NOT_STATIC


COMMAND = Command(
    "eval",
    "Evaluates an expression with everything that is known before anything runs. The exit status "
    "is 0 if the result is static, 2 if it is not (the output then says why), and 1 after an "
    "error. The state is not read: nigari console evaluates with it.",
    run,
    flags=(
        Flag("module", FLAG_TEXT, "Evaluate in this module instance", "ADDRESS"),
        Flag("json", FLAG_SWITCH, "Print the result, its type and its origins as JSON"),
        NO_COLOR_FLAG,
        *VARIABLE_FLAGS,
    ),
    arguments="EXPRESSION",
    most_arguments=1,
    examples=(
        Example("nigari eval 'upper(var.name)'", "a value from the root module"),
        Example("nigari eval -module=module.net local.cidr", "a value from another module"),
    ),
)

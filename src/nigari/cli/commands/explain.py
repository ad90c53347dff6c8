"""`nigari explain`: what a value is, when it is known, and where it comes from."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.presenter import show_problems
from nigari.cli.state_flags import open_session
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import NO_COLOR_FLAG
from nigari.cli.views.explanation import USE_THE_STATE, explanation_json
from nigari.workspace.explain.explainer import Explainer
from nigari.workspace.explain.queries import ValueQueries


def run(invocation: Invocation) -> int:
    """Explain the value at an address."""
    if not invocation.arguments:
        raise UsageError(
            "The command needs something to explain, such as local.name or module.a.source."
        )
    session = open_session(invocation)
    static = session.static()
    explanation = None
    if static is not None:
        evaluation = ValueQueries(static, session.workspace.sources)
        explainer = Explainer(evaluation, session.diags, session.where)
        explanation = explainer.address(invocation.arguments[0])
        session.diags.extend(static.diags)
        session.workspace.sources.update(explainer.sources)
    workspace = session.workspace
    if explanation is None or explanation.is_of_nothing:
        show_problems(invocation, session)
        return 1
    if invocation.switch("json"):
        import json

        tree = explanation_json(explanation, workspace.sources, workspace.context_of)
        invocation.terminal.out(json.dumps(tree, indent=2, ensure_ascii=False))
    else:
        invocation.terminal.out(str(explanation))
        if explanation.phase in ("plan", "apply"):
            invocation.terminal.out(f"\n{USE_THE_STATE}")
    # What else is wrong with the configuration is shown, but the question has been answered.
    show_problems(invocation, session)
    return 0


COMMAND = Command(
    "explain",
    "Shows what a value is, in which phase it is known (before anything runs, during plan, or "
    "after apply), and the tree of values that it comes from. For a value that is not static, "
    "it shows the shortest path to the reason. The state is not read: nigari console evaluates with "
    "it.\n\nWrite an address as in the configuration: "
    "var.x, local.x, output.x, module.a.x, module.a.source, module.a.version, backend.key, "
    "provider.aws.by_region, or an argument of a resource, preceded by the path of the module "
    "unless that is the root. Expressions are explained, too, such as the splat "
    "aws_instance.web[*].id.",
    run,
    flags=(Flag("json", FLAG_SWITCH, "Print the tree as JSON"), NO_COLOR_FLAG, *VARIABLE_FLAGS),
    arguments="ADDRESS",
    most_arguments=1,
    examples=(
        Example("nigari explain local.name", "where a local value comes from"),
        Example("nigari explain 'module.net[\"eu\"].var.cidr'", "an argument of a module instance"),
        Example("nigari explain -json module.app.source", "for programs"),
    ),
)

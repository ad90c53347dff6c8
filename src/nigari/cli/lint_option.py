"""The option `-lint` of commands that evaluate the configuration: OpenTofu's rules, as warnings."""

from __future__ import annotations

from nigari.cli.command import FLAG_LIST, Flag, Invocation
from nigari.cli.state_flags import has_flag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.eval.static.run import StaticRun
    from nigari.workspace.session.session import Session

LINT_FLAG = Flag(
    "lint",
    FLAG_LIST,
    "Also run OpenTofu's lint rules over the root module: all, or a list of rules and groups, with "
    "! in front of those to leave out; can be repeated",
    "LIST",
)


def is_linting(invocation: Invocation) -> bool:
    """Return whether the command line requests lint."""
    return has_flag(invocation, LINT_FLAG.name) and invocation.is_given(LINT_FLAG.name)


def add_lint(invocation: Invocation, session: Session, run: StaticRun | None) -> None:
    """Add what the rules find that the command line names. A destroy needs nothing of the
    configuration that rules look at, so OpenTofu leaves them out there without a word.
    """
    is_destroy = has_flag(invocation, "destroy") and invocation.switch("destroy")
    if not is_linting(invocation) or is_destroy:
        return
    from nigari.lint.rule_list import parse_rule_list

    wanted = parse_rule_list(invocation.texts(LINT_FLAG.name))
    if not wanted:
        return
    session.diags.warning(
        "Experimental linting enabled",
        "OpenTofu may change the rules of -lint and what they are called in any release. The command "
        "nigari lint has these rules and more, over all modules.",
    )
    if run is not None:
        from nigari.lint.linter import core_findings, evaluated_root
        from nigari.workspace.explain.queries import ValueQueries

        # The configuration of a saved plan is another one than that of the directory.
        workspace = session.shown or session.workspace
        root = evaluated_root(ValueQueries(run, workspace.sources), workspace, session.where)
        session.diags.extend(each.diagnostic for each in core_findings(root, wanted))

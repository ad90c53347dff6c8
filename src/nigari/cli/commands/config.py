"""`nigari config`: the resolved view of the whole configuration, for programs."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.plain_flags import PLAIN_FLAGS, plain_target
from nigari.cli.presenter import show_problems
from nigari.cli.state_flags import open_session
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import NO_COLOR_FLAG
from nigari.workspace.explain.queries import ValueQueries
from nigari.workspace.views.resolved import resolved


def run(invocation: Invocation) -> int:
    """Print the resolved configuration, or write a plain one."""
    wants_json, is_plain = invocation.switch("json"), invocation.switch("plain")
    if wants_json is is_plain:
        raise UsageError("The command takes one of the options -json and -plain.")
    if is_plain:
        return _plain(invocation)
    if any(invocation.text(name) for name in ("out", "for")) or invocation.switch("partial"):
        raise UsageError("The options -out, -for and -partial need the option -plain.")
    return _resolved(invocation)


def _resolved(invocation: Invocation) -> int:
    import json

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


def _plain(invocation: Invocation) -> int:
    from nigari.workspace.session.plain_copy import PlainOptions, write_plain

    out = invocation.text("out")
    if not out:
        raise UsageError("The option -plain needs a directory to write to, as in -out=plain.")
    target = plain_target(invocation)
    session = open_session(invocation)
    options = PlainOptions(target, invocation.switch("partial"))
    is_written = write_plain(session, out, options)
    show_problems(invocation, session)
    if is_written:
        invocation.terminal.out(f"{out} has the configuration for {target.title}.")
    return 0 if is_written else 1


COMMAND = Command(
    "config",
    "Prints the whole module tree as far as it is known before anything runs: where each module "
    "comes from, the values of variables and outputs and where they were set, the instances of "
    "providers, the backend, and why the rest is not known. With -plain, writes the configuration "
    "into a new directory as one that OpenTofu or Terraform runs with the same result: literals "
    "where these need literals, a call for each module instance with a source or settings of its "
    "own, and moved blocks for addresses that change. Comments and layout of everything else stay. "
    "Nothing is written if something cannot be expressed.",
    run,
    flags=(
        Flag("json", FLAG_SWITCH, "Print the resolved configuration as JSON"),
        *PLAIN_FLAGS,
        NO_COLOR_FLAG,
        *VARIABLE_FLAGS,
    ),
    examples=(
        Example("nigari config -plain -out=plain", "the configuration for OpenTofu"),
        Example("nigari config -plain -for=terraform-1.9 -out=plain", "for another program"),
        Example("nigari config -json | jq '.modules[].directory'", "the directory of every module"),
    ),
)

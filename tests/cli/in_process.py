"""Plans in the working directory by a session, and runs the commands that plan in this process."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO

from nigari.addrs.parse import parse_resource_instance, parse_target
from nigari.cli.args import ParsedArguments, parse
from nigari.cli.command import Command, Invocation, Terminal
from nigari.cli.commands import apply, plan
from nigari.cli.variables import ORDER
from nigari.diagnostics import Diagnostic, Diagnostics
from nigari.plan.model.changes import Plan, PlanMode
from nigari.plan.model.execution_graph import ExecutionGraph
from nigari.plan.model.plan_options import PlanOptions
from nigari.workspace.context.asyncio_bridge import run_to_end
from nigari.workspace.context.options import GivenVariables
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.session.locked_session import locked
from nigari.workspace.session.session import Session


def invoked(command: Command, args: list[str], environ: Mapping[str, str]) -> Invocation:
    """A run of a command with nobody at the terminal."""
    parsed = parse(command, args)
    terminal = Terminal(StringIO(), StringIO(), StringIO(), environ)
    return Invocation(command, terminal, parsed.flags, parsed.ordered, parsed.arguments)


def planned(
    args: list[str], environ: Mapping[str, str]
) -> tuple[Plan | None, list[Diagnostic], ExecutionGraph | None]:
    """The plan of a session in the working directory, what was found, and the graph.

    What is wanted is written as on a command line: `-var`, `-target`, `-destroy` and so on.
    """
    wanted = parse(plan.COMMAND, args)
    given = GivenVariables(wanted.ordered.get(ORDER, []))
    session = Session(WorkingDirectory(environ), given)
    options = _options(wanted, session.diags)

    async def work() -> tuple[Plan | None, ExecutionGraph | None]:
        async with locked(session, "test") as held:
            made = None if held is None else await held.plan(options)
            if made is None or made.plan.is_incomplete:
                return None, None
            return made.plan, made.outcome.graph

    made, graph = run_to_end(work())
    return made, session.diags.in_order(), graph


def _options(wanted: ParsedArguments, diags: Diagnostics) -> PlanOptions:
    """What the flags ask of a plan."""
    mode = PlanMode.DESTROY if "destroy" in wanted.flags else PlanMode.NORMAL
    if "refresh-only" in wanted.flags:
        mode = PlanMode.REFRESH_ONLY
    replaced = [parse_resource_instance(text, diags) for text in wanted.flags.get("replace", ())]
    targets = [parse_target(text, diags) for text in wanted.flags.get("target", ())]
    excluded = [parse_target(text, diags) for text in wanted.flags.get("exclude", ())]
    return PlanOptions(
        mode,
        refreshes=wanted.flags.get("refresh") != ["false"],
        replaced=tuple(each for each in replaced if each is not None),
        targets=tuple(each for each in targets if each is not None),
        excluded=tuple(each for each in excluded if each is not None),
    )


def ran(command: Command, args: list[str], environ: Mapping[str, str]) -> tuple[int, str]:
    """The exit status of a command, and what it printed: errors come after the rest."""
    invocation = invoked(command, args, environ)
    status = command.run(invocation)
    streams = (invocation.terminal.stdout, invocation.terminal.stderr)
    return status, "".join(s.getvalue() for s in streams if isinstance(s, StringIO))


def applied(args: list[str], environ: Mapping[str, str]) -> tuple[int, str]:
    """The exit status of an apply, and what it printed."""
    return ran(apply.COMMAND, ["-auto-approve", *args], environ)

"""Runs the commands that plan, in this process and in the working directory."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO

from nigari.cli.args import parse
from nigari.cli.command import Command, Invocation, Terminal
from nigari.cli.commands import apply, plan
from nigari.cli.planned import PlanningCommand
from nigari.diagnostics import Diagnostic
from nigari.plan.model.changes import Plan
from nigari.plan.model.execution_graph import ExecutionGraph
from nigari.workspace.session.locked import LockedSession


def invoked(command: Command, args: list[str], environ: Mapping[str, str]) -> Invocation:
    """A run of a command with nobody at the terminal."""
    parsed = parse(command, args)
    terminal = Terminal(StringIO(), StringIO(), StringIO(), environ)
    return Invocation(command, terminal, parsed.flags, parsed.ordered, parsed.arguments)


def planned(
    args: list[str], environ: Mapping[str, str]
) -> tuple[Plan | None, list[Diagnostic], ExecutionGraph | None]:
    """The plan that a command line asks for, what was said, and the graph."""
    command = PlanningCommand(invoked(plan.COMMAND, args, environ))
    found: list[Plan] = []
    graphs: list[ExecutionGraph] = []

    async def work(locked: LockedSession) -> int:
        made = await command.plan(locked)
        if made is not None and locked.planning is not None:
            found.append(made)
            graphs.append(locked.planning.graph(made))
        return 0

    command.run("test", work)
    told = command.diags.in_order()
    return (found[0], told, graphs[0]) if found else (None, told, None)


def ran(command: Command, args: list[str], environ: Mapping[str, str]) -> tuple[int, str]:
    """The exit status of a command, and what it printed: errors come after the rest."""
    invocation = invoked(command, args, environ)
    status = command.run(invocation)
    streams = (invocation.terminal.stdout, invocation.terminal.stderr)
    return status, "".join(s.getvalue() for s in streams if isinstance(s, StringIO))


def applied(args: list[str], environ: Mapping[str, str]) -> tuple[int, str]:
    """The exit status of an apply, and what it printed."""
    return ran(apply.COMMAND, ["-auto-approve", *args], environ)

"""`nigari uses`: everything that depends on something, over all modules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.presenter import show_problems
from nigari.cli.state_flags import open_session
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import NO_COLOR_FLAG
from nigari.workspace.explain.queries import ValueQueries
from nigari.workspace.explain.uses import User, uses_of


def run(invocation: Invocation) -> int:
    """Print what depends on an address."""
    if not invocation.arguments:
        raise UsageError(
            "The command needs an address, such as var.name or module.a.output, or a file."
        )
    session = open_session(invocation)
    static = session.static()
    address = invocation.arguments[0]
    users = None
    if static is not None:
        evaluation = ValueQueries(static, session.sources)
        users = uses_of(evaluation, address, session.where.at, session.diags)
    if users is None:
        show_problems(invocation, session)
        return 1
    out = invocation.terminal.out
    if invocation.switch("json"):
        import json

        found = [
            {"address": each.address, "distance": each.distance, "through": each.through}
            for each in users
        ]
        out(json.dumps({"address": address, "users": found}, indent=2))
    elif invocation.switch("list"):
        for each in users:
            out(each.address)
    else:
        for line in _tree(address, users):
            out(line)
    show_problems(invocation, session)
    return 0


def _tree(address: str, users: Sequence[User]) -> Iterator[str]:
    """The users below what they use, each once, where it is nearest."""
    if not users:
        yield f"Nothing uses {address}."
        return
    below: dict[str, list[str]] = {}
    for each in users:
        below.setdefault(each.through, []).append(each.address)
    yield address
    pending = [("", name, name is below[address][-1]) for name in reversed(below[address])]
    while pending:
        indent, name, is_last = pending.pop()
        yield f"{indent}{'└── ' if is_last else '├── '}{name}"
        inner = below.get(name, [])
        deeper = indent + ("    " if is_last else "│   ")
        pending += [(deeper, each, each is inner[-1]) for each in reversed(inner)]


COMMAND = Command(
    "uses",
    "Shows everything that depends on a variable, local value, output, resource, module call, "
    "provider or file, directly or through others, over all modules: what a change of it would "
    "affect. A file affects what is written in it, the variables it sets, and what reads it. "
    "No provider is needed. Instances of one block count as one, so addresses have no keys; where "
    "the instances of a module call differ, each kind has the key of its first instance.",
    run,
    flags=(
        Flag("json", FLAG_SWITCH, "Print JSON"),
        Flag("list", FLAG_SWITCH, "Print addresses only, the nearest first"),
        NO_COLOR_FLAG,
        *VARIABLE_FLAGS,
    ),
    arguments="ADDRESS|FILE",
    most_arguments=1,
    examples=(
        Example("nigari uses var.region", "what depends on a variable"),
        Example("nigari uses templates/user-data.sh", "what depends on a file"),
        Example("nigari uses -list module.net.vpc_id", "for scripts"),
    ),
)

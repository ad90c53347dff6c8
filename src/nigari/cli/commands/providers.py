"""`nigari providers`: which providers the configuration and the state need."""

from __future__ import annotations

from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.cli.command import FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG
from nigari.eval.static.run import StaticRun
from nigari.packages.requirement import Requirement, by_provider, combined_constraints

TEST_DIRECTORY_FLAG = Flag(
    "test-directory", FLAG_TEXT, "The directory with test files", "DIR", "tests"
)


async def _providers(presenter: Presenter) -> bool:
    if not presenter.session.has_configuration:
        presenter.diags.error(
            "No configuration files",
            "There are no .tf or .tofu files in this directory. Change to the directory of the "
            "configuration, or name it with -chdir=DIR before the command.",
        )
        return False
    run = presenter.session.static()
    requirements = presenter.session.requirements()
    snapshots = await presenter.session.read()
    if run is None or requirements is None or snapshots is None:
        return False
    out = presenter.terminal.out
    out("\nProviders required by configuration:\n.")
    for line in _tree(run, requirements):
        out(line)
    out("")
    used = snapshots.state.providers()
    if used:
        out("Providers required by state:\n")
        for provider in used:
            out(f"    provider[{provider}]\n")
    return True


def _tree(run: StaticRun, requirements: list[Requirement]) -> list[str]:
    """The requirements of each module, and below them its calls, drawn as a tree."""
    own: dict[str, list[Requirement]] = {}
    for each in requirements:
        own.setdefault(each.module, []).append(each)
    calls: dict[str, list[ModuleAddr]] = {}
    for addr in dict.fromkeys(frame.instance.addr.unkeyed for frame in run.frames()):
        if addr.parent is not None:
            calls.setdefault(str(addr.parent), []).append(addr)
    lines: list[str] = []
    pending = [("", "", "", ROOT_MODULE)]
    while pending:
        prefix, branch, indent, module = pending.pop()
        if not module.is_root:
            lines.append(f"{prefix}{branch}module.{module.name}")
        below = prefix + indent
        children = sorted(calls.get(str(module), ()), key=str)
        asked = sorted(by_provider(own.get(str(module), ())).items())
        for index, (provider, parts) in enumerate(asked):
            is_last = index == len(asked) - 1 and not children
            text = f"provider[{provider}] {combined_constraints(parts).text}".rstrip()
            lines.append(f"{below}{'└── ' if is_last else '├── '}{text}")
        for child in reversed(children):
            marks = ("└── ", "    ") if child is children[-1] else ("├── ", "│   ")
            pending.append((below, *marks, child))
    return lines


def run(invocation: Invocation) -> int:
    """Print the tree."""
    return run_command(invocation, _providers)


COMMAND = Command(
    "providers",
    "Shows which providers each module of the configuration requires, with version constraints, "
    "and which providers the state requires.\n\nThere are more commands for providers: providers "
    "lock, providers mirror and providers schema.",
    run,
    flags=(TEST_DIRECTORY_FLAG, *VARIABLE_FLAGS, NO_COLOR_FLAG, COMPACT_WARNINGS_FLAG),
    examples=(Example("nigari providers", ""),),
)

"""`nigari providers`: which providers the configuration and the state need."""

from __future__ import annotations

from nigari.addrs.keys import key_text
from nigari.cli.command import FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter, check_configuration, run_command
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG
from nigari.eval.static.run import StaticRun
from nigari.packages.providers.requirement import Requirement, by_provider, combined_constraints
from nigari.record import record, replace

TEST_DIRECTORY_FLAG = Flag(
    "test-directory", FLAG_TEXT, "The directory with test files", "DIR", "tests"
)


async def _providers(presenter: Presenter) -> bool:
    if not check_configuration(presenter.session):
        return False
    run = presenter.session.static()
    requirements = presenter.session.requirements()
    snapshots = await presenter.session.read()
    if run is None or requirements is None or snapshots is None:
        return False
    tests = _tests(presenter, run)
    if presenter.diags.has_errors:
        return False
    out = presenter.terminal.out
    out("\nProviders required by configuration:\n.")
    for line in _drawn(_tree(run, requirements, tests)):
        out(line)
    out("")
    used = snapshots.state.providers()
    if used:
        out("Providers required by state:\n")
        for provider in used:
            out(f"    provider[{provider}]\n")
    return True


@record
class _Branch:
    """A name in the tree, the providers that it requires, and what is below it."""

    name: str
    providers: list[str]
    below: list[_Branch]


def _tree(run: StaticRun, requirements: list[Requirement], tests: list[_Branch]) -> _Branch:
    """The requirements of each module, and below them its calls."""
    own: dict[str, list[Requirement]] = {}
    for each in requirements:
        own.setdefault(each.module, []).append(each)
    start = run.root.instance.addr
    whole = _Branch("", _texts(own.get(str(start), [])), [])
    branches = {start: whole}
    found = dict.fromkeys(frame.instance.variant for frame in run.frames())
    for addr in sorted(found, key=lambda each: (each.depth, str(each))):
        if addr != start and addr.parent is not None:
            name = f"module.{addr.name}{key_text(addr.key)}"
            branch = branches[addr] = _Branch(name, _texts(own.get(str(addr), [])), [])
            branches[addr.parent].below.append(branch)
    whole.below.extend(tests)
    return whole


def _texts(asked: list[Requirement]) -> list[str]:
    return [
        f"provider[{provider}] {combined_constraints(parts).text}".rstrip()
        for provider, parts in sorted(by_provider(asked).items())
    ]


def _tests(presenter: Presenter, run: StaticRun) -> list[_Branch]:
    """The requirements of each test file, and the modules of its runs."""
    session, diags = presenter.session, presenter.diags
    workspace = session.workspace
    tests = presenter.invocation.text("test-directory")
    files = workspace.loader.tests(workspace.directory, tests, diags)
    if not files:
        return []
    from nigari.workspace.configuration.requirements import find_requirements
    from nigari.workspace.configuration.test_modules import file_requirements, find_test_modules

    found: list[_Branch] = []
    for file in files:
        own = _texts(file_requirements([file], run.root.module))
        name = file.name.removesuffix(".tftest.hcl").replace("/", ".")
        branch = _Branch(f"test.{name}", own, [])
        trees = find_test_modules(workspace, [file], run, session.selected, diags)
        for tree in trees:
            below = _tree(tree, find_requirements(tree), [])
            below = replace(below, name=f"run.{tree.root.instance.addr.name}")
            branch.below.append(below)
        found.append(branch)
    return found


def _drawn(whole: _Branch) -> list[str]:
    """A tree as lines."""
    lines: list[str] = []
    pending = [("", "", "", whole)]
    while pending:
        prefix, mark, indent, branch = pending.pop()
        if branch.name:
            lines.append(f"{prefix}{mark}{branch.name}")
        below = prefix + indent
        for index, text in enumerate(branch.providers):
            is_last = index == len(branch.providers) - 1 and not branch.below
            lines.append(f"{below}{'└── ' if is_last else '├── '}{text}")
        for child in reversed(branch.below):
            marks = ("└── ", "    ") if child is branch.below[-1] else ("├── ", "│   ")
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

"""What the static phase makes of whole configurations."""

from pathlib import Path

import pytest

from nigari.addrs.keys import key_text
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic
from nigari.eval.core.causes import causes_within
from nigari.eval.core.inputs import InputKind, InputValue
from nigari.eval.static.backend import BackendArguments
from nigari.eval.static.run import StaticRun
from nigari.lang.files import MemoryFiles
from nigari.workspace import Workspace
from nigari.workspace.configuration.requirements import find_requirements
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.states.backend import find_arguments
from tests.cases import Case, check_case, read_cases

CASES = read_cases(Path(__file__).parent / "cases")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_static_case(case: Case, request: pytest.FixtureRequest) -> None:
    files = dict(case.files)
    given = files.pop("variables", "")
    inputs = {
        name.strip(): InputValue(InputKind.FLAG, "-var", text.strip())
        for name, _, text in (line.partition("=") for line in given.splitlines())
    }
    workspace = Workspace(WorkingDirectory({}), files=MemoryFiles(files))
    backends: list[BackendArguments] = []

    def fill_places(run: StaticRun) -> None:
        arguments = find_arguments(run)
        backends[:] = [] if arguments is None else [arguments]
        find_requirements(run)

    run, diags = workspace.static(inputs, fill_places=fill_places)
    lines: list[str] = []
    if run is not None:
        run.evaluate([*run.root.locals.values(), *run.root.outputs.values()])
        diags.extend(run.diags)
        lines += _modules(run)
        lines += [line for each in backends for line in _backend(each)]
        lines += _providers(run)
        lines += _values(run)
    lines += [line for each in diags.in_order() for line in _diagnostic(each)]
    check_case(case, "\n".join(lines), request.config.getoption("--update"))


def _modules(run: StaticRun) -> list[str]:
    return [
        f"{frame.instance.addr} in {frame.module.directory}"
        for frame in sorted(run.frames(), key=lambda f: f.instance.addr.sort_key())
        if not frame.instance.addr.is_root
    ]


def _backend(arguments: BackendArguments) -> list[str]:
    values = arguments.value.mapping()
    return [f"backend.{arguments.type}.{name} = {values[name]!r}" for name in arguments.places]


def _providers(run: StaticRun) -> list[str]:
    """The instances of provider configurations that have any to tell apart."""
    return [
        f"{frame.label(f'provider.{addr}')}{key_text(key)}"
        for frame, configs in run.providers.items()
        for addr, node in configs.items()
        for key in node.instances
        if key is not None
    ]


def _values(run: StaticRun) -> list[str]:
    nodes = {f"local.{name}": node for name, node in run.root.locals.items()}
    outputs = {f"output.{name}": node for name, node in run.root.outputs.items()}
    return [f"{name} = {_value(node.value)}" for name, node in {**nodes, **outputs}.items()]


def _value(value: Value) -> str:
    causes = causes_within(value)
    why = f" because of {', '.join(cause.text for cause in causes)}" if causes else ""
    return f"{value!r}{why}"


def _diagnostic(diagnostic: Diagnostic) -> list[str]:
    place = diagnostic.subject
    where = "" if place is None else f" at {place.filename}:{place.start.line}"
    head = f"{diagnostic.severity.value}{where}: {diagnostic.summary}"
    detail = [f"  {line}" for line in diagnostic.detail.splitlines()]
    return [head, *detail]


@pytest.mark.parametrize("count", [1, 2])
def test_a_module_that_calls_itself_without_end_is_reported_once(count: int) -> None:
    call = f'module "child" {{\n  source = "./"\n  count  = {count}\n}}\n'
    files = {"main.tf": 'module "m" {\n  source = "./m"\n}\n', "m/main.tf": call}
    _, diags = Workspace(WorkingDirectory({}), files=MemoryFiles(files)).static({})
    assert [each.summary for each in diags.in_order()] == ["Module that calls itself without end"]

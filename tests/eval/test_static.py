"""What the static phase makes of whole configurations."""

from pathlib import Path

import pytest

from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic
from nigari.eval.causes import causes_within
from nigari.eval.inputs import InputKind, InputValue
from nigari.eval.static import StaticRun
from nigari.lang.files import MemoryFiles
from nigari.workspace import Workspace
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
    workspace = Workspace(".", MemoryFiles(files))
    run, diags = workspace.static(inputs)
    lines: list[str] = []
    if run is not None:
        run.evaluate([*run.root.locals.values(), *run.root.outputs.values()])
        diags.extend(run.diags)
        lines += _modules(run)
        lines += _values(run)
    lines += [line for each in diags.in_order() for line in _diagnostic(each)]
    check_case(case, "\n".join(lines), request.config.getoption("--update"))


def _modules(run: StaticRun) -> list[str]:
    return [
        f"{frame.instance.addr} in {frame.module.directory}"
        for frame in sorted(run.frames(), key=lambda f: f.instance.addr.sort_key())
        if not frame.instance.addr.is_root
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

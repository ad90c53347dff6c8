"""The modules that only tests use: installed with the others, since tests find them there.

Each is the beginning of a tree of its own, in which the variables have the values that the test
gives them. What a test does with it is not known here.
"""

from __future__ import annotations

from nigari.addrs.module import module_from_names
from nigari.config.test_files import TestModule
from nigari.config.written import constant
from nigari.cty.types import STRING
from nigari.diagnostics import Diagnostics
from nigari.eval.base.inputs import InputKind, Inputs, InputValue
from nigari.eval.base.instances import Origin
from nigari.eval.static.module_call import InstallModule
from nigari.eval.static.run import StaticRun, run_static
from nigari.record import replace
from nigari.workspace.configuration.directory import Workspace
from nigari.workspace.configuration.view import Question


def find_test_modules(
    workspace: Workspace, tests: str, run: StaticRun, selected: str, diags: Diagnostics
) -> list[StaticRun]:
    """The tree of each module that a test names; what is wrong with one is reported."""
    found: list[StaticRun] = []
    for wanted in workspace.loader.test_modules(workspace.directory, tests, diags):
        effect = _effect(wanted, diags)
        if effect is None:
            continue
        where = wanted.source.expr.range
        module = workspace.modules.load_beginning(effect, workspace.directory, where, diags)
        if module is not None:
            surroundings = workspace.surroundings(_inputs(run, wanted), selected)
            tree = run_static(module, replace(surroundings, address=effect.addr))
            diags.extend(tree.diags)
            found.append(tree)
    return found


def _effect(wanted: TestModule, diags: Diagnostics) -> InstallModule | None:
    source = constant(wanted.source, STRING, diags)
    version = None if wanted.version is None else constant(wanted.version, STRING, diags)
    if source is None:
        return None
    text = None if version is None else version.as_string()
    return InstallModule(module_from_names(wanted.path), source.as_string(), text)


def _inputs(run: StaticRun, wanted: TestModule) -> Inputs:
    """The values that a test gives, as far as they are known now."""
    inputs: dict[str, InputValue] = {}
    for name, expr in wanted.variables.items():
        origin = Origin(run.root, run.root.instance.compiled.expression(expr))
        question = Question(f"var.{name}", origin)
        run.evaluate([question])
        inputs[name] = InputValue(InputKind.CALLER, "the test", value=question.value)
    return inputs

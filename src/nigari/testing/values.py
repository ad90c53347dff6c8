"""Values in tests: of `var` and `run` in test files, and of each variable of the tested module."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from nigari.config.blocks.variable import Variable
from nigari.config.test_files import TestFile, TestRun
from nigari.cty.errors import CtyError
from nigari.cty.function import Function
from nigari.cty.values import Value, object_value, string
from nigari.diagnostics import Diagnostics
from nigari.eval.core.inputs import InputKind, Inputs, InputValue
from nigari.eval.nodes.variable import fitted
from nigari.hcl.bound_names import Names
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from nigari.record import record


@record
class TestValues:
    """Values for the expressions of one run."""

    __test__ = False

    inputs: Inputs
    """Values of the tested module's variables."""
    given: Mapping[str, Value]
    """Values of all variables from the test, including those that no module declares."""
    names: Names
    """Names that provider blocks of the test file may use, in addition to the module's own."""


class ValueSource:
    """Sources of values for all runs: the command line and environment, test files, earlier runs."""

    def __init__(self, globals_: Inputs, functions: Mapping[str, Function]) -> None:
        self._globals = globals_
        self._functions = functions

    def for_run(
        self,
        file: TestFile,
        run: TestRun,
        declared: Mapping[str, Variable],
        runs: Mapping[str, Value],
        diags: Diagnostics,
    ) -> TestValues:
        """Compute the values of a run; `runs` has the outputs of earlier ones."""
        given = self._outside(declared)
        known = {**self._defaults(declared), **given}
        scope = Scope({"run": object_value(runs), "var": object_value(known)}, self._functions)
        written = {**file.variables, **run.variables}
        inputs: dict[str, InputValue] = {}
        for name, expr in written.items():
            if name in declared:
                value = self._value(expr, scope, diags)
            else:
                # Only conditions can refer to it, and they report it as missing.
                value = self._value(expr, scope, Diagnostics())
            if value is None:
                given.pop(name, None)
                continue
            given[name] = _with_defaults(declared.get(name), value)
            if name in declared:
                inputs[name] = InputValue(InputKind.TEST, "the test", value=value)
        inputs.update(
            (name, outside)
            for name, outside in self._globals.items()
            if name in declared and name not in written
        )
        extra = {name: value for name, value in given.items() if name not in declared}
        objects = {"run": object_value(runs), "var": object_value(extra)}
        return TestValues(inputs, given, Names(objects, frozenset(("run",))))

    def _value(self, expr: Expression, scope: Scope, diags: Diagnostics) -> Value | None:
        errors = diags.error_count
        value = expr.value(scope, diags)
        return None if diags.error_count > errors else value

    def _outside(self, declared: Mapping[str, Variable]) -> dict[str, Value]:
        """Collect the values from the command line and environment."""
        found: dict[str, Value] = {}
        for name, given in self._globals.items():
            variable = declared.get(name)
            value = _resolved(given, variable)
            if value is not None:
                found[name] = _with_defaults(variable, value)
        return found

    def _defaults(self, declared: Mapping[str, Variable]) -> dict[str, Value]:
        """Collect the literal defaults of variables."""
        found: dict[str, Value] = {}
        for name, variable in declared.items():
            if variable.default is None:
                continue
            value = self._value(variable.default, Scope({}, self._functions), Diagnostics())
            if value is not None:
                with suppress(CtyError):
                    found[name] = fitted(variable, value)
        return found


def _resolved(given: InputValue, variable: Variable | None) -> Value | None:
    """Convert a value from the command line or environment; without a variable, a text stays a
    string.
    """
    if variable is not None:
        return given.resolve(variable, Diagnostics())
    if given.value is not None:
        return given.value
    if given.expr is not None:
        problems = Diagnostics()
        value = given.expr.value(Scope(), problems)
        return None if problems.has_errors else value
    return string(given.text or "")


def _with_defaults(variable: Variable | None, value: Value) -> Value:
    """Apply the defaults of optional attributes in the variable's type."""
    if variable is None or variable.defaults is None:
        return value
    return variable.defaults.apply(value)

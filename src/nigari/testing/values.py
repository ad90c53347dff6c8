"""The values that a test gives: what `var` and `run` stand for in test files, and which value each
variable of the tested module has.
"""

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
    """What the expressions of one run have to work with."""

    __test__ = False

    inputs: Inputs
    """The values of the tested module's variables."""
    given: Mapping[str, Value]
    """The values of all variables as the test gives them, also of those that no module has."""
    names: Names
    """What provider blocks of the test file see beside the module's own names."""


class ValueSource:
    """Where the values of all runs come from: from outside, from test files, from earlier runs."""

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
        """The values of a run; `runs` are the outputs of those before it."""
        given = self._outside(declared)
        known = {**self._defaults(declared), **given}
        scope = Scope({"run": object_value(runs), "var": object_value(known)}, self._functions)
        written = {**file.variables, **run.variables}
        inputs: dict[str, InputValue] = {}
        for name, expr in written.items():
            if name in declared:
                value = self._value(expr, scope, diags)
            else:
                # Only conditions can refer to it, and then it is missing there.
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
        """The values that come from outside."""
        found: dict[str, Value] = {}
        for name, given in self._globals.items():
            variable = declared.get(name)
            value = _resolved(given, variable)
            if value is not None:
                found[name] = _with_defaults(variable, value)
        return found

    def _defaults(self, declared: Mapping[str, Variable]) -> dict[str, Value]:
        """The defaults of variables, as far as they are written out."""
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
    """The value of something from outside; a text that no variable explains is just that."""
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
    """A value with the defaults of optional attributes that the variable's type gives."""
    if variable is None or variable.defaults is None:
        return value
    return variable.defaults.apply(value)

"""Values given for the root module's input variables, before they are converted and validated.

Where they come from, and which of two wins, is the command line's affair. Here a value is either
an expression from a file, or a text whose meaning depends on the type of the variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from nigari.config.blocks.variable import Variable
from nigari.cty.values import Value, string
from nigari.diagnostics import Diagnostic, Diagnostics, Range, Severity
from nigari.diagnostics.advice import advice
from nigari.hcl.expressions import Expression
from nigari.hcl.parser import parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.suggestion import did_you_mean
from nigari.record import record


class InputKind(Enum):
    """The kind of source of a value, which decides what happens if there is no such variable."""

    REMEMBERED = "remembered"
    ENVIRONMENT = "environment"
    FILE = "file"
    FLAG = "command line"
    ANSWER = "answer"
    TEST = "test"
    """A test file."""
    CALLER = "caller"
    """The Python program that loads the configuration."""


@record
class InputValue:
    """A value for a variable. Exactly one of `text`, `expr` and `value` is given."""

    kind: InputKind
    origin: str
    """The exact source: the name of an environment variable, of a file, of a flag."""
    text: str | None = None
    expr: Expression | None = None
    value: Value | None = None
    written_at: Range | None = None
    """The source range of a value that was read before."""

    @property
    def giver(self) -> str:
        """The source at the beginning of a sentence."""
        return f"T{self.origin[1:]}" if self.origin.startswith("the ") else self.origin

    @property
    def range(self) -> Range | None:
        """The source range, if in a file."""
        return self.expr.range if self.expr is not None else self.written_at

    def resolve(self, variable: Variable, diags: Diagnostics) -> Value | None:
        """The value, not converted to the variable's type yet; None where it has an error."""
        if self.value is not None:
            return self.value
        errors = diags.error_count
        if self.expr is not None:
            value = self.expr.value(Scope(), diags)
        elif self.text is not None and not variable.literal_mode:
            source = Source(f"<value for var.{variable.name}>", self.text)
            value = parse_expression(source, diags).value(Scope(), diags)
        else:
            return string(self.text or "")
        return None if diags.error_count > errors else value


Inputs = Mapping[str, InputValue]

_MOST_WARNINGS = 2


def check_undeclared(
    inputs: Inputs,
    declared: Mapping[str, Variable],
    diags: Diagnostics,
    is_final: bool = True,
) -> None:
    """Report values for variables that the root module does not declare.

    On the command line that is a mistake, or a warning where nothing is done with the values yet
    (`is_final`). In a file it is a warning, and in the environment nothing: settings for many
    configurations live there.
    """
    report = diags.error if is_final else diags.warning
    warned = 0
    for name, given in inputs.items():
        if name in declared:
            continue
        hint = did_you_mean(name, declared)
        if given.kind in (InputKind.FLAG, InputKind.CALLER):
            report(
                "Value for an undeclared variable",
                f'{given.giver} sets "{name}", but the root module does not declare a variable '
                f"with that name.{hint}",
                given.range,
            )
        elif given.kind is InputKind.FILE:
            warned += 1
            if warned <= _MOST_WARNINGS:
                diags.warning(
                    "Value for an undeclared variable",
                    f'{given.giver} sets "{name}", but the root module does not declare a '
                    f"variable with that name.{hint}",
                    given.range,
                )
    if warned > _MOST_WARNINGS:
        diags.warning(
            "Values for undeclared variables",
            f"There are {warned - _MOST_WARNINGS} more values for variables that the root module "
            "does not declare. To set variables for several configurations without these "
            "warnings, use TF_VAR_ environment variables.",
        )


def check_complete(inputs: Inputs, declared: Mapping[str, Variable], diags: Diagnostics) -> None:
    """Report variables of the root module that need a value and have none, or none that can be
    read.
    """
    for name, variable in declared.items():
        given = inputs.get(name)
        if given is not None:
            given.resolve(variable, diags)
        elif variable.default is None and not variable.is_reserved:
            diags.append(missing_value(variable))


def missing_value(variable: Variable) -> Diagnostic:
    """A variable of the root module that needs a value and has none."""
    name = variable.name
    return Diagnostic(
        Severity.ERROR,
        "No value for variable",
        f"The root module's variable {name} has no default, and no value was given. Set it "
        f"{advice().set_variable(name)}.{description(variable)}",
        variable.range,
    )


def description(variable: Variable) -> str:
    """The description of a variable as another paragraph; empty where it has none."""
    text = (variable.description or "").strip()
    return f"\n\nThe description of {variable.name}:\n{text}" if text else ""

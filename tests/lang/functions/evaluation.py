"""Evaluating an expression with all functions, as the tests beside this module do it."""

from collections.abc import Callable, Mapping

from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.lang.files import Files, MemoryFiles
from nigari.lang.functions.table import function_table


def evaluate(
    text: str,
    variables: Mapping[str, Value] | None = None,
    files: Files | None = None,
    deferral: Callable[[str], object] | None = None,
) -> tuple[Value, Diagnostics]:
    """The value of an expression, and what is wrong with it."""
    functions = function_table(
        files or MemoryFiles({}), ".", home_directory="/home/ann", deferral=deferral
    )
    diags = Diagnostics()
    expression = parse_expression(Source("test.tf", text), diags)
    return expression.value(Scope(variables or {}, functions), diags), diags


def value_of(
    text: str, variables: Mapping[str, Value] | None = None, files: Files | None = None
) -> Value:
    """The value of an expression that must be right."""
    value, diags = evaluate(text, variables, files)
    assert not diags.has_errors, list(diags)
    return value


def python_of(text: str, files: Files | None = None) -> object:
    """The plain value of an expression."""
    return value_of(text, None, files).to_python()


def failure_of(
    text: str, variables: Mapping[str, Value] | None = None, files: Files | None = None
) -> str:
    """What is said of an expression that must be wrong."""
    _, diags = evaluate(text, variables, files)
    assert diags.has_errors
    return next(iter(diags)).detail

"""Deprecated values: a use of one is reported.

The mark that such a value carries ends where the value is used, and the warning with it: what is
made of it is not warned of again.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.config.blocks.variable import Variable
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.cty.paths import GetAttr, Path
from nigari.cty.values import Value
from nigari.diagnostics import Deprecation, Diagnostic, Diagnostics, Range, Severity
from nigari.eval.core.compile import Compiled, CompiledBody
from nigari.eval.core.inputs import Inputs
from nigari.hcl.body import AttributeSchema, Body, BodySchema
from nigari.lang.marks import OUTPUT, Deprecated


def used(value: Value, user: Compiled | CompiledBody, diags: Diagnostics) -> Value:
    """The value without marks of deprecation, after a warning for each."""
    plain, found = unmark_deep_with_paths(value)
    if not any(isinstance(mark, Deprecated) for _, marks in found for mark in marks):
        return value
    kept = []
    for path, marks in found:
        old = [mark for mark in marks if isinstance(mark, Deprecated)]
        kept.append((path, marks.difference(old)))
        for mark in old:
            where = (
                user.expr.range if isinstance(user, Compiled) else _argument_range(user.body, path)
            )
            diags.append(deprecated_value(mark, where))
    return mark_with_paths(plain, kept)


def _argument_range(body: Body, path: Path) -> Range:
    """The argument that a path begins with, or the whole body."""
    if path and isinstance(path[0], GetAttr):
        name = path[0].name
        # Whatever is wrong with the body has been reported when it was decoded.
        content, _ = body.partial_content(BodySchema((AttributeSchema(name),)), Diagnostics())
        if name in content.attributes:
            return content.attributes[name].expr.range
    return body.missing_item_range


def deprecated_value(mark: Deprecated, where: Range) -> Diagnostic:
    """The use of an output or attribute that its author warns against."""
    author = "the author of the module" if mark.kind == OUTPUT else "the provider"
    advice = f": {mark.message}" if mark.message else "."
    return Diagnostic(
        Severity.WARNING,
        f"Deprecated {mark.kind}",
        f"This value comes from {mark.origin}, which {author} has deprecated{advice}",
        where,
        deprecation=Deprecation(mark.origin, mark.is_remote),
    )


def warn_of_inputs(inputs: Inputs, variables: Mapping[str, Variable], diags: Diagnostics) -> None:
    """Warn of values for variables of the root module that its author warns against.

    These are the user's own, so that no option hides the warning.
    """
    for name in sorted(inputs):
        variable = variables.get(name)
        if variable is not None and variable.deprecated:
            diags.warning(
                "Deprecated variable of the root module",
                f"var.{name} is deprecated, but it is set: {variable.deprecated}",
                variable.range,
            )


def deprecated_variable(label: str, message: str, is_remote: bool, where: Range) -> Diagnostic:
    """A value for a variable that its module's author warns against."""
    return Diagnostic(
        Severity.WARNING,
        "Deprecated variable",
        f"The author of the module has deprecated {label}: {message}",
        where,
        deprecation=Deprecation(label, is_remote),
    )

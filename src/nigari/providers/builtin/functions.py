"""Functions of the built-in provider: conversion between values and `.tfvars` text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from nigari import cty
from nigari.diagnostics import Diagnostics, Severity
from nigari.hcl.parser import parse_body
from nigari.hcl.quoting import quoted
from nigari.hcl.scanner import is_identifier
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.providers import api
from nigari.providers.builtin.schema import FUNCTIONS
from nigari.record import record
from nigari.schema.provider import FunctionSignature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


@record
class BuiltinFunction:
    """A function of one argument. The body raises `CtyError` on failure."""

    signature: FunctionSignature
    body: Callable[[cty.Value], cty.Value]

    def call(self, arguments: Sequence[cty.Value]) -> api.CallResponse:
        unknown = cty.unknown(self.signature.returns)
        if len(arguments) != 1:
            return api.CallResponse(unknown, api.FunctionFailure("one argument is required"))
        if not arguments[0].is_wholly_known:
            return api.CallResponse(unknown)
        if arguments[0].is_null:
            return api.CallResponse(unknown, api.FunctionFailure("it must not be null", 0))
        try:
            return api.CallResponse(self.body(arguments[0]))
        except cty.CtyError as error:
            return api.CallResponse(unknown, api.FunctionFailure(error.message, 0))


def _decode_tfvars(text: cty.Value) -> cty.Value:
    diags = Diagnostics()
    body = parse_body(Source("tfvars", text.as_string()), diags)
    attributes = body.just_attributes(diags)
    values = {name: a.expr.value(Scope(), diags) for name, a in attributes.items()}
    for diagnostic in diags:
        if diagnostic.severity is Severity.ERROR:
            line = diagnostic.subject.start.line if diagnostic.subject is not None else 1
            raise cty.CtyError(
                f"line {line} is not valid in a tfvars file: {diagnostic.summary}. "
                f"{diagnostic.detail}"
            )
    return cty.object_value(values)


def _encode_tfvars(given: cty.Value) -> cty.Value:
    from nigari.hcl.formatter import format
    from nigari.hcl.render import render_value

    if given.type.kind != cty.KIND_OBJECT:
        raise cty.CtyError("an object with an attribute for each variable is required")
    lines: list[str] = []
    # Names in order, so that equal values give equal text.
    for name, value in sorted(given.mapping().items()):
        if not is_identifier(name):
            raise cty.CtyError(f"{quoted(name)} is not a valid variable name")
        lines.append(f"{name} = {render_value(value)}\n")
    return cty.string(format("".join(lines)))


def _encode_expr(given: cty.Value) -> cty.Value:
    from nigari.hcl.render import render_value

    return cty.string(render_value(given))


_BODIES: Final[Mapping[str, Callable[[cty.Value], cty.Value]]] = {
    "decode_tfvars": _decode_tfvars,
    "encode_tfvars": _encode_tfvars,
    "encode_expr": _encode_expr,
}

ALL: Final[Mapping[str, BuiltinFunction]] = {
    name: BuiltinFunction(FUNCTIONS[name], body) for name, body in _BODIES.items()
}

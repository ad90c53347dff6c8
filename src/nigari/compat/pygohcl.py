"""pygohcl on top of this package: `import nigari.compat.pygohcl as pygohcl`.

Blocks are dicts under their type and labels, or lists of them if a type or label is repeated;
expressions are their source on one line. docs/migration/python-hcl2.md lists the differences and
their reasons.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, Protocol

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.function import Function
from nigari.cty.types import BOOL, STRING
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Severity
from nigari.hcl import PlainData
from nigari.hcl.body import Block
from nigari.hcl.collections import DottedKey, KeyName, ObjectConstructor, TupleConstructor
from nigari.hcl.expressions import Expression, Literal, Reference
from nigari.hcl.native_body import NativeBody
from nigari.hcl.operators import Conditional, UnaryOperation
from nigari.hcl.parser import parse_body, parse_expression
from nigari.hcl.quoting import quoted
from nigari.hcl.scanner import scan_lossless
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.templates import StringLiteral, Template, TemplateLoop, TemplateWrap
from nigari.hcl.tokens import COMMENT, NEWLINE

__all__ = [
    "HCLInternalError",
    "HCLParseError",
    "UnknownFunctionError",
    "ValidationError",
    "attributes_load",
    "attributes_loadb",
    "attributes_loads",
    "eval_var_condition",
    "load",
    "loadb",
    "loads",
]

_FILE: Final = "tmp.hcl"

_FUNCTIONS: Final = (
    "abs can ceil chomp chunklist coalescelist compact concat contains csvdecode distinct element "
    "flatten floor format formatdate formatlist indent join jsondecode jsonencode keys log lower "
    "max merge min parseint pow range regex regexall reverse setintersection setproduct "
    "setsubtract setunion signum slice sort split strrev substr timeadd title trim trimprefix "
    "trimspace trimsuffix try upper values zipmap"
)


class HCLParseError(Exception):
    """A text that is not valid HCL, or not of the expected form."""


class HCLInternalError(Exception):
    """Valid HCL without a form as data, such as a block and an argument of one name."""


class ValidationError(Exception):
    """A condition that is not met, or cannot be evaluated."""


class UnknownFunctionError(ValidationError):
    """A condition that calls an unknown function."""


class Readable(Protocol):
    """An open file."""

    def read(self) -> bytes | str: ...


def loadb(data: bytes, keep_interpolations: bool = False) -> dict[str, PlainData]:
    """Convert a text to data; `keep_interpolations` preserves `${ }` around references in strings."""
    source, diags = Source.from_bytes(_FILE, data), Diagnostics()
    body = parse_body(source, diags)
    if diags.has_errors:
        raise HCLParseError(f"invalid HCL: {_errors(diags)}")
    return _Converter(keep_interpolations).body(body)


def loads(data: str, keep_interpolations: bool = False) -> dict[str, PlainData]:
    """Convert a text to data; see `loadb`."""
    return loadb(data.encode(), keep_interpolations)


def load(stream: Readable, keep_interpolations: bool = False) -> dict[str, PlainData]:
    """Convert an open file to data; see `loadb`."""
    return loadb(_bytes(stream), keep_interpolations)


def attributes_loadb(data: bytes) -> dict[str, PlainData]:
    """Convert a text of constant arguments, without blocks, to data."""
    source, diags = Source.from_bytes(_FILE, data), Diagnostics()
    body = parse_body(source, diags)
    if diags.has_errors:
        raise HCLParseError(f"invalid HCL: {_errors(diags)}")
    for block in body.blocks:
        diags.error(
            f'Unexpected "{block.type}" block', "Blocks are not allowed here.", block.def_range
        )
    for attribute in body.attributes.values():
        attribute.expr.value(Scope(), diags)
    if diags.has_errors:
        raise HCLParseError(_errors(diags))
    converter = _Converter(False)
    return {name: converter.value(each.expr) for name, each in body.attributes.items()}


def attributes_loads(data: str) -> dict[str, PlainData]:
    """Convert a text of constant arguments; see `attributes_loadb`."""
    return attributes_loadb(data.encode())


def attributes_load(stream: Readable) -> dict[str, PlainData]:
    """Convert an open file of constant arguments; see `attributes_loadb`."""
    return attributes_loadb(_bytes(stream))


def eval_var_condition(
    condition: str, error_message: str, variable_name: str, variable_value: str
) -> None:
    """Evaluate the condition of a `validation` block, and raise its message if it is not met.

    `variable_value` is an expression, or a string without its quotes. A call of an unknown function
    raises `UnknownFunctionError`.
    """
    diags = Diagnostics()
    value = _value(variable_value, Scope(), diags)
    if (
        diags.has_errors
        and parse_expression(Source(_FILE, variable_value), Diagnostics()).variables()
    ):
        diags = Diagnostics()
        value = _value(quoted(variable_value), Scope(), diags)
    if diags.has_errors:
        raise ValidationError(f"cannot process variable value: {_errors(diags)}")
    scope, faults = Scope({"var": {variable_name: value}}, _functions()), Diagnostics()
    result = _value(condition, scope, faults)
    if faults.has_errors:
        failure = f"cannot process condition expression: {_errors(faults)}"
        if any(found.summary == "Unknown function" for found in faults):
            raise UnknownFunctionError(failure)
        raise ValidationError(failure)
    if result.is_null:
        raise ValidationError("condition expression result is null")
    try:
        is_met = convert(result, BOOL).as_bool()
    except CtyError:
        raise ValidationError("condition expression result must be bool") from None
    if not is_met:
        raise ValidationError(_message(error_message, scope))


def _message(text: str, scope: Scope) -> str:
    """Evaluate the error message: an expression, or the text of a template without its quotes."""
    for source in (text, f'"{text}"'):
        diags = Diagnostics()
        value = _value(source, scope, diags)
        if not diags.has_errors and not value.is_null:
            try:
                return convert(value, STRING).as_string()
            except CtyError:
                break
    return "cannot process error message expression"


def _value(text: str, scope: Scope, diags: Diagnostics) -> Value:
    expression = parse_expression(Source(_FILE, text), diags)
    return expression.value(scope, Diagnostics() if diags.has_errors else diags)


@cache
def _functions() -> Mapping[str, Function]:
    from nigari.lang.files import DiskFiles
    from nigari.lang.functions.table import function_table

    table = function_table(DiskFiles(), ".")
    return {name: table[name] for name in _FUNCTIONS.split()}


def _bytes(stream: Readable) -> bytes:
    data = stream.read()
    return data.encode() if isinstance(data, str) else data


def _errors(diags: Diagnostics) -> str:
    return ", ".join(
        [
            f"{found.subject}: {found.summary}; {found.detail}"
            for found in diags
            if found.severity is Severity.ERROR
        ]
    )


class _Converter:
    def __init__(self, keeps_interpolations: bool) -> None:
        self._keeps_interpolations = keeps_interpolations

    def body(self, body: NativeBody) -> dict[str, PlainData]:
        out = {name: self.value(each.expr) for name, each in body.attributes.items()}
        for block in body.blocks:
            self._add_block(block, out)
        return out

    def _add_block(self, block: Block, out: dict[str, object]) -> None:
        assert isinstance(block.body, NativeBody)
        content = self.body(block.body)
        key = block.type
        for label in block.labels:
            inner = out.setdefault(key, {})
            if not isinstance(inner, dict):
                name = ".".join([block.type, *block.labels])
                raise HCLInternalError(f"{block.def_range}: {name} has no form as data")
            out, key = inner, label
        have = out.get(key)
        if key not in out:
            out[key] = content
        elif isinstance(have, list):
            have.append(content)
        else:
            out[key] = [have, content]

    def value(self, expr: Expression) -> object:
        if isinstance(expr, Literal):
            return expr.literal.to_python()
        if isinstance(expr, UnaryOperation) and isinstance(expr.operand, Literal):
            diags = Diagnostics()
            value = expr.value(Scope(), diags)
            if diags.has_errors:
                raise HCLInternalError(_errors(diags))
            return value.to_python()
        if isinstance(expr, StringLiteral | Template):
            return self._text(expr)
        if isinstance(expr, TemplateWrap):
            return self.value(expr.wrapped)
        if isinstance(expr, TupleConstructor):
            return [self.value(each) for each in expr.elements]
        if isinstance(expr, ObjectConstructor):
            return {self._key(key): self.value(value) for key, value in expr.items}
        return one_line(expr)

    def _text(self, expr: Expression) -> str:
        """Write a part of a string."""
        if isinstance(expr, StringLiteral):
            return expr.text
        if isinstance(expr, Literal):
            return "" if expr.literal.is_null else convert(expr.literal, STRING).as_string()
        if isinstance(expr, Template):
            return "".join([self._text(part) for part in expr.parts])
        if isinstance(expr, TemplateWrap):
            return self._text(expr.wrapped)
        if isinstance(expr, Conditional):
            return self._conditional(expr)
        if isinstance(expr, TemplateLoop):
            loop = expr.loop
            names = f"{loop.key_name}, {loop.value_name}" if loop.key_name else loop.value_name
            head = f"%{{for {names} in {one_line(loop.collection)}}}"
            return f"{head}{self._text(loop.result)}%{{endfor}}"
        if isinstance(expr, Reference) and self._keeps_interpolations:
            return f"${{{one_line(expr)}}}"
        return one_line(expr)

    def _conditional(self, expr: Conditional) -> str:
        result = self._text(expr.otherwise)
        for condition, chosen in zip(
            reversed(expr.conditions), reversed(expr.results), strict=True
        ):
            otherwise = f"%{{else}}{result}" if result else ""
            result = f"%{{if {one_line(condition)}}}{self._text(chosen)}{otherwise}%{{endif}}"
        return result

    def _key(self, key: Expression) -> str:
        if isinstance(key, KeyName):
            return key.name
        if isinstance(key, DottedKey | Reference):
            return one_line(key)
        return self._text(key)


def one_line(expr: Expression) -> str:
    """Write the source of an expression on one line, without comments; strings stay unchanged."""
    text = expr.source.text[expr.start : expr.end]
    tokens = scan_lossless(text)
    out: list[str] = []
    end = 0
    for kind, start, token in zip(tokens.kinds, tokens.starts, tokens.texts, strict=True):
        is_space = kind in (COMMENT, NEWLINE)
        if (start > end or is_space) and out and out[-1] != " ":
            out.append(" ")
        if not is_space:
            out.append(token)
        end = start + len(token)
    return "".join(out).strip()

"""Files as plain Python data, in the shape that users of python-hcl2 know.

- An argument is an entry of a dict: `a = 1` is `{"a": 1}`.
- A block is an element of a list under its type, its labels dicts around its body:
  `resource "x" "y" { a = 1 }` is `{"resource": [{"x": {"y": {"a": 1}}}]}`.
- Numbers, strings, `true`, `false`, `null`, lists and objects are what they are in Python.
- An expression that would have to be evaluated is its source in `${ }`: `a = var.b` is
  `{"a": "${var.b}"}`. So is a part of a string, and a literal `${` stays escaped as `$${`, so that
  one can tell them apart.

A file of the JSON syntax is plain data already and stays as it is. Nothing is evaluated and
positions are lost: for more than a look at the data, `nigari.hcl.parse` is better.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Block, Body
from nigari.hcl.collections import KeyName
from nigari.hcl.expressions import Expression, Literal, Parentheses
from nigari.hcl.native_body import NativeBody
from nigari.hcl.operators import UnaryOperation
from nigari.hcl.scope import Scope
from nigari.hcl.templates import StringLiteral, Template, TemplateWrap

START_LINE = "__start_line__"
END_LINE = "__end_line__"
"""Where a block is, in its body, for those who ask for it."""

PlainData: TypeAlias = Any  # type: ignore[explicit-any]  # as `json.loads` has it
"""Plain data: str, int, float, bool, None, and lists and dicts with string keys of such.

It is `Any` so that `loads(text)["a"][0]` needs no casts; `loads_as` gives data that has types.
"""


def plain(body: Body, with_lines: bool = False) -> dict[str, object]:
    """The content of a whole file of either syntax."""
    if isinstance(body, NativeBody):
        return plain_body(body, with_lines)
    attributes = body.just_attributes(Diagnostics())
    return {name: plain_value(attribute.expr) for name, attribute in attributes.items()}


def plain_body(body: NativeBody, with_lines: bool = False) -> dict[str, object]:
    """The arguments and blocks of a body. A block wins over an argument of its name."""
    result: dict[str, object] = {
        name: plain_value(attribute.expr) for name, attribute in body.attributes.items()
    }
    blocks: dict[str, list[object]] = {}
    for block in body.blocks:
        same_type = blocks.setdefault(block.type, [])
        same_type.append(_plain_block(block, with_lines))
    result.update(blocks)
    return result


def _plain_block(block: Block, with_lines: bool) -> object:
    body = block.body
    assert isinstance(body, NativeBody)
    content = plain_body(body, with_lines)
    if with_lines:
        place = block.range
        content[START_LINE] = place.start.line
        content[END_LINE] = place.end.line
    return labelled(block.labels, content)


def labelled(labels: list[str], content: object) -> object:
    """The content of a block with its labels around it."""
    for label in reversed(labels):
        content = {label: content}
    return content


def plain_value(expr: Expression) -> object:
    """An expression as data where it is written as data, else its source in `${ }`."""
    if isinstance(expr, Literal):
        return expr.literal.to_python()
    if isinstance(expr, StringLiteral):
        return _escaped(expr.text)
    if isinstance(expr, Template):
        return _template_text(expr)
    elements = expr.static_list()
    if elements is not None:
        return [plain_value(element) for element in elements]
    items = expr.static_map()
    if items is not None:
        return {_key_text(key): plain_value(value) for key, value in items}
    if expr.is_json:
        # Where there are neither names nor functions, a string of JSON is its own text.
        return expr.value(Scope(), Diagnostics()).to_python()
    number = _negative_number(expr)
    return _source_text(expr) if number is None else number


def _negative_number(expr: Expression) -> object:
    if isinstance(expr, UnaryOperation) and not expr.is_not and isinstance(expr.operand, Literal):
        value = expr.value(Scope(), Diagnostics())
        return value.to_python() if value.is_known else None
    return None


def _escaped(text: str) -> str:
    return text.replace("${", "$${").replace("%{", "%%{")


def _template_text(template: Template) -> str:
    texts = [
        _escaped(part.text) if isinstance(part, StringLiteral) else _source_text(part)
        for part in template.parts
    ]
    return "".join(texts)


def _source_text(expr: Expression) -> str:
    if isinstance(expr, TemplateWrap):
        expr = expr.wrapped
    source = expr.source.text[expr.start : expr.end]
    # A directive of a template is marked as one already.
    return source if source.startswith("%{") else f"${{{source}}}"


def _key_text(key: Expression) -> str:
    if isinstance(key, KeyName):
        return key.name
    if isinstance(key, Parentheses):
        key = key.inner
    value = plain_value(key)
    return value if isinstance(value, str) else str(value)

"""Bodies as plain Python data, in the shape that python-hcl2 uses.

- An argument is an entry of a dict: `a = 1` is `{"a": 1}`.
- A block is an element of a list under its type, its labels dicts around its body: `resource "x"
"y" { a = 1 }` is `{"resource": [{"x": {"y": {"a": 1}}}]}`.
- Numbers, strings, `true`, `false`, `null`, lists and objects are the corresponding Python objects.
- An expression that needs evaluation is its source in `${ }`: `a = var.b` is `{"a": "${var.b}"}`.
So is a part of a string; a literal `${` stays escaped as `$${`, which distinguishes the two.

A file of the JSON syntax already is plain data and stays unchanged. Nothing is evaluated and
positions are lost: `nigari.hcl.parse` preserves them.
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
"""Line numbers of a block, as items of its body if requested."""

PlainData: TypeAlias = Any  # type: ignore[explicit-any]  # as `json.loads` has it
"""Plain data: str, int, float, bool, None, and lists and dicts with string keys of such.

It is `Any` so that `loads(text)["a"][0]` requires no casts; `loads_as` returns typed data.
"""


def plain(body: Body, with_lines: bool = False) -> dict[str, object]:
    """Convert a whole file of either syntax."""
    if isinstance(body, NativeBody):
        return plain_body(body, with_lines)
    attributes = body.just_attributes(Diagnostics())
    return {name: plain_value(attribute.expr) for name, attribute in attributes.items()}


def plain_body(body: NativeBody, with_lines: bool = False) -> dict[str, object]:
    """Convert the arguments and blocks of a body. A block replaces an argument of the same name."""
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
    """Wrap the content of a block in its labels."""
    # python-hcl2 nests a dict for each label, the innermost last.
    for label in reversed(labels):
        content = {label: content}
    return content


def plain_value(expr: Expression) -> object:
    """Convert an expression that is literal data; otherwise return its source in `${ }`."""
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
        # In a scope without names and functions, a JSON string is its literal text.
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
    # The source of a directive already begins with its marker.
    return source if source.startswith("%{") else f"${{{source}}}"


def _key_text(key: Expression) -> str:
    if isinstance(key, KeyName):
        return key.name
    if isinstance(key, Parentheses):
        key = key.inner
    value = plain_value(key)
    return value if isinstance(value, str) else str(value)

"""Names that are bound in expressions and bodies, and those that are left to the scope."""

from __future__ import annotations

import pytest

from nigari.cty.values import Value, object_value
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import AttributeSchema, BlockSchema, BodySchema
from nigari.hcl.bound_names import BoundBody, BoundExpression, Names
from nigari.hcl.parser import parse_body, parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source

_NAMES = Names(
    {"run": Value.of({"a": {"x": 1}}), "var": Value.of({"mine": 2})}, frozenset(("run",))
)
_SCOPE = Scope({"var": object_value({"theirs": Value.of(3)}), "run": Value.of("hidden")}, {})


@pytest.mark.parametrize(
    ("text", "value", "left"),
    [
        ("run.a.x", 1, []),
        ("var.mine + var.theirs", 5, ["var.theirs"]),
        ("[for run in [var.mine] : run]", [2], []),
        ('"${run.a.x}-${var.theirs}"', "1-3", ["var.theirs"]),
    ],
)
def test_an_expression(text: str, value: object, left: list[str]) -> None:
    diags = Diagnostics()
    bound = BoundExpression(parse_expression(Source("t", text), diags), _NAMES)
    assert bound.value(_SCOPE, diags).to_python() == value
    assert [str(each) for each in bound.variables()] == left
    assert not len(diags)


def test_a_body_with_nested_blocks() -> None:
    diags = Diagnostics()
    text = "a = run.a.x\nb {\n  c = var.mine\n}\n"
    body = BoundBody(parse_body(Source("t", text), diags), _NAMES)
    schema = BodySchema((AttributeSchema("a"),), (BlockSchema("b"),))
    content, rest = body.partial_content(schema, diags)
    inner = content.blocks[0].body.just_attributes(diags)["c"]
    found = [content.attributes["a"].expr, inner.expr]
    assert [each.value(_SCOPE, diags).to_python() for each in found] == [1, 2]
    assert rest.just_attributes(diags) == {}
    assert not len(diags)

"""Reading expressions without evaluating them, in both syntaxes."""

import json

import pytest

from nigari.diagnostics import Diagnostics
from nigari.hcl.expressions import Expression
from nigari.hcl.json_body import parse_json_expression
from nigari.hcl.parser import parse_expression, parse_traversal
from nigari.hcl.source import Source
from nigari.hcl.static import (
    abs_traversal_for_expr,
    expr_as_keyword,
    expr_call,
    expr_list,
    expr_map,
    rel_traversal_for_expr,
)
from nigari.hcl.traversal import TraverseAttr


def _both(text: str) -> list[Expression]:
    """The expression in the native syntax, and as a string of JSON."""
    diags = Diagnostics()
    expressions = [
        parse_expression(Source("n", text), diags),
        parse_json_expression(Source("j", json.dumps(text)), diags),
    ]
    assert not list(diags)
    return expressions


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        ("foo", "foo"),
        ("true", "true"),
        ("false", "false"),
        ("null", "null"),
        ("foo.bar", None),
        ("1", None),
        ("foo()", None),
        ("(foo)", None),
    ],
)
def test_keywords(text: str, keyword: str | None) -> None:
    for expression in _both(text):
        assert expr_as_keyword(expression) == keyword


@pytest.mark.parametrize("text", ["foo", "foo.bar", "foo[0]", 'foo["a b"].c', "null.foo", "true"])
def test_traversals(text: str) -> None:
    for expression in _both(text):
        diags = Diagnostics()
        traversal = abs_traversal_for_expr(expression, diags)
        assert traversal is not None
        assert str(traversal) == text
        relative = rel_traversal_for_expr(expression, diags)
        assert relative is not None
        assert isinstance(relative[0], TraverseAttr)
        assert not list(diags)


@pytest.mark.parametrize("text", ["foo[bar]", "foo[*].bar", "1", "foo()", '"${foo}x"', "a + b"])
def test_what_is_no_traversal(text: str) -> None:
    for expression in _both(text):
        diags = Diagnostics()
        assert abs_traversal_for_expr(expression, diags) is None
        assert rel_traversal_for_expr(expression, diags) is None
        assert [found.summary for found in diags] == ["Reference required"] * 2


def test_lists_and_maps() -> None:
    diags = Diagnostics()
    elements = expr_list(parse_expression(Source("", "[a, b.c]"), diags), diags)
    assert elements is not None
    assert [str(element.static_traversal()) for element in elements] == ["a", "b.c"]
    elements = expr_list(parse_json_expression(Source("", '["a", "b.c"]'), diags), diags)
    assert elements is not None
    assert [str(element.static_traversal()) for element in elements] == ["a", "b.c"]
    for expression in (
        parse_expression(Source("", "{ a = x.y, (b) = 1 }"), diags),
        parse_json_expression(Source("", '{"a": "x.y", "b": 1}'), diags),
    ):
        items = expr_map(expression, diags)
        assert items is not None
        assert len(items) == 2
        assert str(items[0][1].static_traversal()) == "x.y"
    assert not list(diags)
    word = parse_expression(Source("", "a"), diags)
    assert expr_list(word, diags) is None
    assert expr_map(word, diags) is None
    assert [found.summary for found in diags] == ["List required", "Map required"]


def test_calls() -> None:
    for expression in _both("list(string, a.b)"):
        diags = Diagnostics()
        call = expr_call(expression, diags)
        assert call is not None
        assert call.name == "list"
        assert [str(each.static_traversal()) for each in call.arguments] == ["string", "a.b"]
        assert not list(diags)
    for expression in _both("string"):
        diags = Diagnostics()
        assert expr_call(expression, diags) is None
        assert [found.summary for found in diags] == ["Function call required"]


@pytest.mark.parametrize(
    ("text", "shown"), [("foo.0.bar", "foo[0].bar"), ("foo[null]", "foo[null]")]
)
def test_indexes_that_a_text_of_its_own_cannot_have(text: str, shown: str) -> None:
    native, json_string = _both(text)
    assert str(abs_traversal_for_expr(native, Diagnostics())) == shown
    assert abs_traversal_for_expr(json_string, Diagnostics()) is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("foo.0", "t:1,5-6"),
        ("foo[null].a", "t:1,5-9"),
        ("foo[true]", "t:1,5-9"),
        ("foo[a]", "t:1,1-7"),
        ("foo()", "t:1,1-6"),
    ],
)
def test_what_is_no_traversal_by_itself(text: str, place: str) -> None:
    diags = Diagnostics()
    assert parse_traversal(Source("t", text), diags) is None
    assert [str(found.subject) for found in diags] == [place]


def test_a_wrong_shape_is_told_where_the_expression_begins() -> None:
    diags = Diagnostics()
    expression = parse_expression(Source("t", "{\n  a = 1\n}"), diags)
    expr_list(expression, diags)
    expr_call(expression, diags)
    abs_traversal_for_expr(expression, diags)
    assert [str(found.subject) for found in diags] == ["t:1,1-2", "t:1,1-2", "t:1,1-3,2"]

"""Paths into schemas, as `ignore_changes` has them; each row is what `tofu validate` says of it."""

import pytest

from nigari import cty
from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_expression
from nigari.hcl.source import Source
from nigari.hcl.static import rel_traversal_for_expr
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.schema.traversals import check_traversal

_INNER = Block({"a": Attribute(cty.STRING), "m": Attribute(cty.MapType(cty.STRING))})
_OPEN = Block({"a": Attribute(cty.DYNAMIC)})
_BLOCK = Block(
    {"tags": Attribute(cty.MapType(cty.STRING)), "names": Attribute(cty.ListType(cty.STRING))},
    {
        "one": NestedBlock(_INNER, Nesting.SINGLE),
        "group": NestedBlock(_INNER, Nesting.GROUP),
        "many": NestedBlock(_INNER, Nesting.LIST),
        "open": NestedBlock(_OPEN, Nesting.LIST),
        "set": NestedBlock(_INNER, Nesting.SET),
        "map": NestedBlock(_INNER, Nesting.MAP),
    },
)


def _errors(text: str) -> list[str]:
    diags = Diagnostics()
    expression = parse_expression(Source("t.tf", text), diags)
    traversal = rel_traversal_for_expr(expression, diags)
    assert traversal is not None
    assert not diags
    check_traversal(_BLOCK, traversal, diags)
    return [
        text[each.subject.start.byte : each.subject.end.byte]
        for each in diags
        if each.subject is not None
    ]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("tags", ""),
        ('tags["k"]', ""),
        ("tags.k", ""),
        ("tags.k.l", ".l"),
        ("names[0]", ""),
        ('names["k"]', '["k"]'),
        ("nope", "nope"),
        ("one", ""),
        ("one.a", ""),
        ("one.nope", ".nope"),
        ('one["a"]', '["a"]'),
        ("one[0].a", "[0]"),
        ('group.m["k"]', ""),
        ("many", ""),
        ("many[0]", ""),
        ("many[0].a", ""),
        ('many["a"]', ""),
        ('many["x"].a', ""),
        ("many[0].nope", ".nope"),
        ('many[0]["a"]', '["a"]'),
        ("many.a", ".a"),
        ("open[0].a.b.c", ""),
        ("open[0].nope", ".nope"),
        ("open.a", ".a"),
        ("set", ""),
        ("set[0]", "[0]"),
        ("set.a", ".a"),
        ('map["k"].a', ""),
        ("map.k.a", ""),
        ("map.k.nope", ".nope"),
    ],
)
def test_paths(text: str, wrong: str) -> None:
    assert _errors(text) == ([wrong] if wrong else [])

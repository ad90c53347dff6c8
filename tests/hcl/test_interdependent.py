"""Interdependent blocks: order, cycles, evaluation, and what is not known yet."""

import pytest

from nigari.cty.types import STRING
from nigari.cty.values import DYNAMIC_UNKNOWN, number, string, unknown
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import BlockSchema, BodySchema
from nigari.hcl.decode import Attr, Object
from nigari.hcl.decode_blocks import BlockTuple
from nigari.hcl.interdependent import Graph, from_attribute, from_block
from nigari.hcl.parser import parse_body
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source


def _graph(text: str, diags: Diagnostics, root: str = "local") -> Graph:
    body = parse_body(Source("t.hcl", text), diags)
    attributes = body.just_attributes(diags)
    return Graph(
        [from_attribute(f"{root}.{name}", each) for name, each in attributes.items()], diags
    )


def test_order_and_values() -> None:
    diags = Diagnostics()
    graph = _graph("c = local.a + local.b\nb = local.a * 2\na = 1", diags)
    assert graph.dependencies("local.c") == ["local.a", "local.b"]
    assert graph.order() == ["local.a", "local.b", "local.c"]
    assert graph.cycles() == []
    values = graph.evaluate(Scope({}), diags)
    assert {name: value.to_python() for name, value in values.items()} == {
        "local.c": 3,
        "local.b": 2,
        "local.a": 1,
    }
    assert not list(diags)


@pytest.mark.parametrize(
    ("expression", "needed"),
    [
        ("local.a.b.c", ["local.a"]),
        ('local["a"]', ["local.a"]),
        ("local", ["local.x", "local.a", "local.b"]),
        ("local[0]", ["local.x", "local.a", "local.b"]),
        ("[for a in local.b : a]", ["local.b"]),
        ("other.a", []),
    ],
)
def test_what_a_reference_needs(expression: str, needed: list[str]) -> None:
    graph = _graph(f"x = {expression}\na = 1\nb = 2", Diagnostics())
    assert graph.dependencies("local.x") == needed


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        ("a = local.a", [["local.a"]]),
        ("a = local.b\nb = local.a", [["local.a", "local.b"]]),
        (
            "x = local.a\na = [local.b, local.c]\nb = local.c\nc = local.a\nd = local.d",
            [["local.a", "local.b", "local.c"], ["local.d"]],
        ),
    ],
)
def test_cycles(text: str, cycles: list[list[str]]) -> None:
    diags = Diagnostics()
    graph = _graph(text, diags)
    assert graph.cycles() == cycles
    values = graph.evaluate(Scope({}), diags)
    assert [found.summary for found in diags] == ["Circular reference"] * len(cycles)
    assert [[cause.text for cause in found.causes] for found in diags] == cycles
    assert set(values.values()) == {DYNAMIC_UNKNOWN}


def test_mistakes_are_told_once() -> None:
    diags = Diagnostics()
    graph = _graph(
        'a = 1 + "x"\nb = local.a + 1\nc = local.nope\ndefault = 5\nd = local.defalt', diags
    )
    graph.evaluate(Scope({}), diags)
    assert [found.summary for found in diags] == [
        "Invalid operand",
        "Reference to an undefined name",
        "Reference to an undefined name",
    ]
    assert 'Did you mean "default"?' in diags[2].detail


def test_duplicates() -> None:
    diags = Diagnostics()
    body = parse_body(Source("t.hcl", "a = 1\nb = 2"), diags)
    first, second = body.just_attributes(diags).values()
    for name in ("x.y", "x", "x.y.z"):
        graph = Graph([from_attribute("x.y", first), from_attribute(name, second)], diags)
        assert list(graph.definitions) == ["x.y"]
    assert [found.summary for found in diags] == ["Duplicate definition"] * 3


def test_blocks_and_gradual_evaluation() -> None:
    text = """
network "main" {
  base = region
}
server "web" {
  network = network.main.id
  dynamic "port" {
    for_each = [80, 443]
    content { number = port.value }
  }
}
"""
    diags = Diagnostics()
    body = parse_body(Source("t.hcl", text), diags)
    schema = BodySchema((), (BlockSchema("network", ("name",)), BlockSchema("server", ("name",))))
    specs = {
        "network": Object({"base": Attr("base", STRING)}),
        "server": Object(
            {
                "network": Attr("network", STRING),
                "port": BlockTuple("port", Object({"number": Attr("number")})),
            }
        ),
    }
    graph = Graph(
        [
            from_block(f"{block.type}.{block.labels[0]}", block, specs[block.type])
            for block in body.content(schema, diags).blocks
        ],
        diags,
    )
    scope = Scope({"region": string("eu")})
    planned = graph.evaluate(scope, diags, {"network.main": unknown(specs["network"].implied_type)})
    assert not planned["server.web"].is_wholly_known
    assert [found.summary for found in diags] == ["Unsupported attribute"]
    known = DYNAMIC_UNKNOWN
    planned = graph.evaluate(scope, Diagnostics(), {"network.main": known})
    assert planned["server.web"].attribute("network") == unknown(STRING)
    final = Diagnostics()
    from nigari.cty.values import object_value

    answer = object_value({"id": string("n-1")})
    values = graph.evaluate(scope, final, {"network.main": answer})
    assert not list(final)
    assert values["server.web"].to_python() == {
        "network": "n-1",
        "port": [{"number": 80}, {"number": 443}],
    }


def test_a_long_chain() -> None:
    lines = ["a0 = 1", *[f"a{i} = local.a{i - 1} + 1" for i in range(1, 5_000)]]
    diags = Diagnostics()
    values = _graph("\n".join(reversed(lines)), diags).evaluate(Scope({}), diags)
    assert not list(diags)
    assert values["local.a4999"] == number(5_000)

"""The parts of `nigari.hcl` for languages of one's own, as a user's program has them: type checkers read
this file, and it runs as well.
"""

from nigari import cty, hcl
from nigari.diagnostics import Diagnostics
from nigari.hcl import decode, interdependent, static

SERVER = decode.Object(
    {
        "label": decode.BlockLabel(0, "name"),
        "port": decode.Default(
            decode.Attr("port", cty.NUMBER), decode.LiteralValue(cty.number(80))
        ),
        "pair": decode.Array([decode.Attr("a", cty.STRING), decode.Attr("b", cty.STRING)]),
    }
)


def test_decode() -> None:
    spec: decode.Spec = SERVER
    diags = Diagnostics()
    (block,) = hcl.parse('server "web" {\n  port = base + 1\n  more = 1\n}\n').body.blocks
    labels: decode.Labels = decode.labels_of(block)
    assert [name for name, _ in labels] == ["web"]
    assert {each.name for each in decode.schema_of(spec).attributes} == {"port", "a", "b"}
    assert [each.root_name for each in decode.variables(block.body, spec)] == ["base"]
    port = decode.Attr("port", cty.NUMBER)
    value, rest = decode.partial_decode(block.body, port, hcl.Scope({"base": 1}), diags)
    assert value.to_python() == 2
    assert list(rest.just_attributes(diags)) == ["more"]
    value = decode.decode(hcl.parse("port = 1\n").body, port, hcl.Scope(), diags)
    assert value.to_python() == 1
    assert not list(diags)


def test_interdependent() -> None:
    diags = Diagnostics()
    file = hcl.parse("a = b + 1\nb = 2\nc = 3\nserver {\n  port = a\n}\n")
    found = file.body.attributes
    (block,) = file.body.blocks
    spec = decode.Object({"port": decode.Attr("port", cty.NUMBER)})

    def one(_scope: hcl.Scope, _diags: Diagnostics) -> cty.Value:
        return cty.number(1)

    evaluate: interdependent.Evaluate = one
    definition: interdependent.Definition = interdependent.from_expression(
        "c", found["c"].expr, found["c"].range
    )
    graph = interdependent.Graph(
        [
            *(interdependent.from_attribute(name, found[name]) for name in ("a", "b")),
            definition,
            interdependent.Definition("d", [], evaluate, found["c"].range),
            interdependent.from_block("server", block, spec),
        ]
    )
    assert graph.cycles() == []
    assert graph.dependencies("server") == ["a"]
    assert graph.order().index("b") < graph.order().index("a")
    values = graph.evaluate(hcl.Scope(), diags)
    assert values["server"].to_python() == {"port": 3}
    assert values["d"].to_python() == 1


def test_static() -> None:
    diags = Diagnostics()
    file = hcl.parse("a = all\nb = [x.y]\nc = { k = v }\nd = f(1)\n")
    found = {name: each.expr for name, each in file.body.attributes.items()}
    assert static.expr_as_keyword(found["a"]) == "all"
    (item,) = static.expr_list(found["b"], diags) or []
    absolute = static.abs_traversal_for_expr(item, diags)
    relative = static.rel_traversal_for_expr(item, diags)
    assert absolute is not None
    assert relative is not None
    assert (absolute.root_name, len(relative)) == ("x", 2)
    assert len(static.expr_map(found["c"], diags) or []) == 1
    call: static.FunctionCall | None = static.expr_call(found["d"], diags)
    assert call is not None
    assert call.name == "f"
    assert not list(diags)

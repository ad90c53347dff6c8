import json

import pytest

from nigari import cty
from nigari.diagnostics import Diagnostics, Severity
from nigari.hcl.body import Body
from nigari.hcl.json_body import parse_json_body
from nigari.hcl.parser import parse_body
from nigari.hcl.source import Source
from nigari.providers.api import ProviderDiagnostic
from nigari.providers.diagnostics import located
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.schema.locate import locate

ANY = Attribute(cty.DYNAMIC, optional=True)
TEXT_ONLY = Attribute(cty.STRING, optional=True)
OBJECT = Attribute(cty.ObjectType({"a": cty.ListType(cty.STRING)}), optional=True)
RULES = Attribute(cty.ListType(cty.ObjectType({"port": cty.NUMBER})), optional=True)
INNER = Block({"name": ANY})
BLOCK = Block(
    {
        "plain": ANY,
        "deep": ANY,
        "absent": ANY,
        "rule": RULES,
        "no_rule": RULES,
        "text": TEXT_ONLY,
        "object": OBJECT,
    },
    {
        "list": NestedBlock(INNER, Nesting.LIST),
        "set": NestedBlock(INNER, Nesting.SET),
        "map": NestedBlock(INNER, Nesting.MAP),
        "one": NestedBlock(INNER, Nesting.SINGLE),
    },
)
TEXT = """\
plain = var.x
deep  = { a = [1, { "b" = two }] }
list { name = "first" }
list {
  name = "second"
}
map "k" { name = "mapped" }
set { name = "s1" }
set { name = "s2" }
one { name = "single" }
rule { port = 80 }
rule { port = 81 }
text = "t"
object = { a = ["x"] }
"""


def path(*steps: str | int) -> cty.Path:
    """Names with a dot are attributes, other strings and numbers are keys."""
    return tuple(
        cty.GetAttr(step[1:])
        if isinstance(step, str) and step.startswith(".")
        else cty.Index(cty.Value.of(step))
        for step in steps
    )


def native() -> Body:
    diags = Diagnostics()
    body = parse_body(Source.from_bytes("t.tf", TEXT.encode()), diags)
    assert not list(diags)
    return body


def cut(body: Body, steps: cty.Path | None) -> str:
    where = locate(BLOCK, body, steps)
    return TEXT.encode()[where.start.byte : where.end.byte].decode()


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (path(".plain"), "var.x"),
        (path(".plain", ".deeper"), "var.x"),
        (path(".deep", ".a", 0), "1"),
        (path(".deep", "a", 1, "b"), "two"),
        (path(".deep", "nothing"), '{ a = [1, { "b" = two }] }'),
        (path(".list", 1), "list"),
        (path(".list", 1, ".name"), '"second"'),
        (path(".list"), "list"),
        (path(".list", 7, ".name"), "list"),
        (path(".map", "k", ".name"), '"mapped"'),
        (path(".set", "whatever", ".name"), "set"),
        (path(".one", ".name"), '"single"'),
        (path(".one"), "one"),
        (path(".rule"), "rule"),
        (path(".rule", 1, ".port"), "81"),
        (path(".no_rule", 1, ".port"), ""),
        (path(".text"), '"t"'),
        (path(".text", ".plain"), ""),
        (path(".text", 0), ""),
        (path(".object", ".a", 0), '"x"'),
        (path(".object", "a"), '["x"]'),
        (path(".object", ".plain"), ""),
        (path(".object", ".a", ".text"), ""),
        (path(".absent"), ""),
        (path(".nothing"), ""),
        ((), ""),
        (None, ""),
    ],
)
def test_places_in_the_native_syntax(steps: cty.Path | None, expected: str) -> None:
    assert cut(native(), steps) == expected


def test_places_in_json() -> None:
    text = json.dumps({"deep": {"a": [1, {"b": "two"}]}, "list": [{"name": "x"}, {"name": "y"}]})
    body = parse_json_body(Source.from_bytes("t.tf.json", text.encode()), Diagnostics())

    def found(*steps: str | int) -> str:
        where = locate(BLOCK, body, path(*steps))
        return text[where.start.byte : where.end.byte]

    assert found(".deep", "a", 1, "b") == '"two"'
    assert found(".list", 1, ".name") == '"y"'


def told(steps: cty.Path | None, about_provider: bool = False) -> ProviderDiagnostic:
    return ProviderDiagnostic(Severity.ERROR, "Wrong", "Change it.", steps, about_provider)


def test_diagnostics_get_their_place_and_address() -> None:
    (result,) = located([told(path(".plain"))], BLOCK, native(), "x.y")
    assert result.subject is not None
    assert (result.subject.start.line, result.address) == (1, "x.y")


def test_without_a_configuration_the_attribute_is_named() -> None:
    (result,) = located([told(path(".list", 1, ".name"))], address="x.y")
    assert result.subject is None
    assert result.detail == "list[1].name: Change it."


def test_words_about_the_provider_are_the_same_for_everyone() -> None:
    results = [located([told(None, True)], BLOCK, native(), a)[0] for a in ("x.a", "x.b")]
    assert results[0] == results[1]

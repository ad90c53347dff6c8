"""Dynamic blocks: what they expand to, what is unknown or marked in them, and what they refer to."""

import pytest

from nigari.cty.types import BOOL, DYNAMIC, NUMBER, STRING, ListType, MapType
from nigari.cty.values import Value, list_value, null, object_value, string, unknown
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import AttributeSchema, BlockSchema, Body, BodySchema
from nigari.hcl.decode import Attr, BlockLabel, Object, Spec, decode
from nigari.hcl.decode_blocks import BlockAttrs, BlockList, BlockMap, BlockTuple, SingleBlock
from nigari.hcl.dynamic_blocks import expand, expand_variables
from nigari.hcl.json_body import parse_json_body
from nigari.hcl.parser import parse_body
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source

INNER = Object({"v": Attr("v", DYNAMIC)})
FLAT = Object({"b": BlockTuple("b", INNER)})
NESTED = Object(
    {"b": BlockTuple("b", Object({"v": Attr("v", DYNAMIC), "c": BlockTuple("c", INNER)}))}
)
LABELLED = Object({"b": BlockMap("b", ("name",), Object({"v": Attr("v", STRING)}))})


def _body(text: str) -> Body:
    diags = Diagnostics()
    body = parse_body(Source("test.hcl", text), diags)
    assert not list(diags)
    return body


def _decode(text: str, spec: Spec, **variables: Value) -> tuple[Value, Diagnostics]:
    diags = Diagnostics()
    scope = Scope(variables)
    return decode(expand(_body(text), scope), spec, scope, diags), diags


@pytest.mark.parametrize(
    ("text", "spec", "want"),
    [
        ('dynamic "b" {\n for_each = []\n content {}\n}', FLAT, {"b": []}),
        (
            'dynamic "b" {\n for_each = ["x", "y"]\n content { v = "${b.key}${b.value}" }\n}',
            FLAT,
            {"b": [{"v": "0x"}, {"v": "1y"}]},
        ),
        (
            (
                'dynamic "b" {\n for_each = { k = 1 }\n iterator = it\n content {\n'
                "  v = [it.key, it.value]\n }\n}"
            ),
            FLAT,
            {"b": [{"v": ["k", 1]}]},
        ),
        (
            'b { v = 1 }\ndynamic "b" {\n for_each = [2]\n content { v = b.value }\n}\nb { v = 3 }',
            FLAT,
            {"b": [{"v": 1}, {"v": 2}, {"v": 3}]},
        ),
        (
            (
                'dynamic "b" {\n for_each = [[1, 2], [3]]\n content {\n  v = b.key\n'
                '  dynamic "c" {\n   for_each = b.value\n'
                "   content { v = [b.key, c.value] }\n  }\n }\n}"
            ),
            NESTED,
            {
                "b": [
                    {"v": 0, "c": [{"v": [0, 1]}, {"v": [0, 2]}]},
                    {"v": 1, "c": [{"v": [1, 3]}]},
                ]
            },
        ),
        (
            'dynamic "b" {\n for_each = [1]\n content {\n  c { v = b.value }\n }\n}',
            NESTED,
            {"b": [{"v": None, "c": [{"v": 1}]}]},
        ),
        (
            'b {\n dynamic "c" {\n  for_each = [7]\n  content { v = c.value }\n }\n}',
            NESTED,
            {"b": [{"v": None, "c": [{"v": 7}]}]},
        ),
        (
            (
                'dynamic "b" {\n for_each = ["x", "y"]\n labels = ["n${b.key}"]\n'
                " content { v = b.value }\n}"
            ),
            LABELLED,
            {"b": {"n0": {"v": "x"}, "n1": {"v": "y"}}},
        ),
        (
            'dynamic "b" {\n for_each = [5]\n content { any = b.value }\n}',
            Object({"b": BlockAttrs("b", NUMBER)}),
            {"b": {"any": 5}},
        ),
    ],
)
def test_expansion(text: str, spec: Spec, want: object) -> None:
    value, diags = _decode(text, spec)
    assert not list(diags)
    assert value.to_python() == want


def test_json_syntax() -> None:
    diags = Diagnostics()
    text = '{"dynamic": {"b": {"for_each": ["x"], "content": {"v": "${b.value}!"}}}}'
    body = parse_json_body(Source("test.hcl.json", text), diags)
    scope = Scope({})
    value = decode(expand(body, scope), FLAT, scope, diags)
    assert not list(diags)
    assert value.to_python() == {"b": [{"v": "x!"}]}


@pytest.mark.parametrize(
    ("text", "summary", "line"),
    [
        ("for_each = 5\ncontent {}", "Invalid for_each", 2),
        ("for_each = null\ncontent {}", "Invalid for_each", 2),
        ("for_each = nope\ncontent {}", "Unknown variable", 2),
        ("content {}", "Missing argument", 1),
        ("for_each = []", "Missing content block", 1),
        ("for_each = []\ncontent {}\ncontent {}", "Duplicate content block", 4),
        ("for_each = []\niterator = a.b\ncontent {}", "Invalid iterator name", 3),
        ("for_each = []\niterator = 5\ncontent {}", "Reference required", 3),
        ("for_each = [1]\nlabels = []\ncontent {}", "Unexpected argument", 3),
        ("for_each = [1]\ncontent {\nw = 1\n}", "Unexpected argument", 4),
    ],
)
def test_mistakes_are_reported(text: str, summary: str, line: int) -> None:
    _, diags = _decode(f'dynamic "b" {{\n{text}\n}}', Object({"b": BlockList("b", INNER, 1)}))
    found = next(iter(diags))
    assert found.summary == summary
    assert found.subject is not None
    assert found.subject.start.line == line


def test_a_faulty_for_each_silences_what_follows() -> None:
    spec = Object({"b": BlockList("b", Object({"v": Attr("v", STRING)}), 1)})
    value, diags = _decode('dynamic "b" {\n for_each = 5\n content {}\n}', spec)
    assert [found.summary for found in diags] == ["Invalid for_each"]
    assert not value.attribute("b").is_known


@pytest.mark.parametrize(
    ("labels", "summary"),
    [
        ("[]", "Wrong number of labels"),
        ('["a", "b"]', "Wrong number of labels"),
        ("b.value", "List required"),
        ("[null]", "Invalid label of a dynamic block"),
        ("[[]]", "Invalid label of a dynamic block"),
        ("[secret]", "Invalid label of a dynamic block"),
        ("[later]", "Invalid label of a dynamic block"),
    ],
)
def test_label_mistakes(labels: str, summary: str) -> None:
    _, diags = _decode(
        f'dynamic "b" {{\n for_each = [1]\n labels = {labels}\n content {{}}\n}}',
        LABELLED,
        secret=string("x").mark("sensitive"),
        later=unknown(STRING),
    )
    assert [found.summary for found in diags] == [summary]


def test_a_type_that_the_schema_does_not_have() -> None:
    _, diags = _decode('dynamic "bb" {\n for_each = []\n content {}\n}', FLAT)
    (found,) = diags
    assert found.summary == "Unexpected block"
    assert 'Did you mean "b"?' in found.detail


def test_unknown_for_each() -> None:
    spec = Object(
        {
            "list": BlockList("b", Object({"v": Attr("v", STRING)}), 1, 1),
            "single": SingleBlock("s", Object({"v": Attr("v", STRING), "w": Attr("w", BOOL)})),
        }
    )
    later = unknown(ListType(STRING)).with_causes(("why",))
    value, diags = _decode(
        'dynamic "b" {\n for_each = later\n content { v = b.value }\n}\n'
        'dynamic "s" {\n for_each = later\n content { v = "constant" }\n}',
        spec,
        later=later,
    )
    assert not list(diags)
    blocks = value.attribute("list")
    assert not blocks.is_known
    assert blocks.causes == ("why",)
    single = value.attribute("single")
    assert single.attribute("v") == unknown(STRING)
    assert single.attribute("v").causes == ("why",)
    assert single.attribute("w") == null(BOOL)


def test_unknown_for_each_still_checks_the_content() -> None:
    _, diags = _decode(
        'dynamic "b" {\n for_each = later\n content { w = 1 }\n}', FLAT, later=unknown(DYNAMIC)
    )
    assert [found.summary for found in diags] == ["Unexpected argument"]


@pytest.mark.parametrize("written", ["b.value", '"x"'])
def test_marked_for_each_marks_what_content_sets(written: str) -> None:
    secret = list_value(STRING, [string("x")]).mark("sensitive")
    value, diags = _decode(
        f'dynamic "b" {{\n for_each = secret\n content {{ v = {written} }}\n}}', FLAT, secret=secret
    )
    assert not list(diags)
    (block,) = value.attribute("b").sequence()
    assert block.marks == frozenset()
    assert block.attribute("v").marks == {"sensitive"}


def test_unknown_and_marked_for_each() -> None:
    later = unknown(MapType(STRING)).mark("sensitive")
    spec = Object({"b": BlockList("b", INNER)})
    value, _ = _decode('dynamic "b" {\n for_each = later\n content {}\n}', spec, later=later)
    assert value.attribute("b").marks == {"sensitive"}


def test_partial_content_keeps_what_was_not_taken() -> None:
    text = (
        'x = 1\ny = 2\ndynamic "b" {\n for_each = [1]\n content {}\n}\nc {}\n'
        'dynamic "c" {\n for_each = [1]\n content {}\n}'
    )
    diags = Diagnostics()
    body = expand(_body(text), Scope({}))
    first, rest = body.partial_content(
        BodySchema((AttributeSchema("x"),), (BlockSchema("b"),)), diags
    )
    assert list(first.attributes) == ["x"]
    assert [block.type for block in first.blocks] == ["b"]
    second = rest.content(BodySchema((AttributeSchema("y"),), (BlockSchema("c"),)), diags)
    assert list(second.attributes) == ["y"]
    assert [block.type for block in second.blocks] == ["c", "c"]
    assert not list(diags)


REFERENCES = """
v = outer
dynamic "b" {
  for_each = list_b
  iterator = it
  labels   = [it.key, label]
  content {
    v = [it.value, b.value, other]
    dynamic "c" {
      for_each = it.value.more
      content {
        v = [it.x, c.x, inner]
      }
    }
  }
}
c { v = last }
"""


def test_references() -> None:
    leaf = Object({"v": Attr("v")})
    middle = Object({"v": Attr("v"), "n": BlockLabel(1, "n"), "c": BlockTuple("c", leaf)})
    spec = Object({"v": Attr("v"), "b": BlockMap("b", ("k",), middle), "c": SingleBlock("c", leaf)})
    names = [str(found) for found in expand_variables(_body(REFERENCES), spec)]
    assert names == ["outer", "list_b", "label", "b.value", "other", "inner", "last"]
    expansion = [str(found) for found in expand_variables(_body(REFERENCES), spec, content=False)]
    assert expansion == ["list_b", "label"]


def test_static_reading_passes_through() -> None:
    text = 'dynamic "b" {\n for_each = [1]\n content { v = [b.key, x.y] }\n}'
    diags = Diagnostics()
    content = expand(_body(text), Scope({})).content(BodySchema((), (BlockSchema("b"),)), diags)
    attribute = content.blocks[0].body.just_attributes(diags)["v"]
    elements = attribute.expr.static_list()
    assert elements is not None
    scope = Scope({"x": object_value({"y": string("z")})})
    assert [part.value(scope, diags).to_python() for part in elements] == [0, "z"]
    assert [str(found) for found in attribute.expr.variables()] == ["x.y"]
    assert not list(diags)

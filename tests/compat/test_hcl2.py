"""The stand-in for python-hcl2: one row per meaning."""

import io

import pytest

from nigari.compat import hcl2

TEXT = """\
# about a
a = 1 + 2 # behind
b "c" d {
  e = "x${y}" # of e
  f = { "g" = [h, 1.5, 1e3, null], (i) = j.k }
  l = <<-EOT
    m
  EOT
}
"""


def test_data() -> None:
    assert hcl2.loads(TEXT) == {
        "a": "${1 + 2}",
        "b": [
            {
                '"c"': {
                    "d": {
                        "e": '"x${y}"',
                        "f": {'"g"': ["h", 1.5, "${1e3}", None], "${(i)}": "${j.k}"},
                        "l": '"<<-EOT\n    m\n  EOT"',
                        "__is_block__": True,
                        "__comments__": [{"value": "of e"}],
                    }
                }
            }
        ],
        "__comments__": [{"value": "about a"}],
        "__inline_comments__": [{"value": "behind"}],
    }


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# a", ["a"]),
        ("// a // b", ["a // b"]),
        ("#### a", ["### a"]),
        ("//// a", ["// a"]),
        ("##########", ["#########"]),
        ("#//a", ["//a"]),
        ("#", []),
        ("//", []),
        ("/* a */", ["a"]),
        ("/**/", []),
    ],
)
def test_comments_lose_one_delimiter(comment: str, said: list[str]) -> None:
    data = hcl2.loads(f"{comment}\na = 1\n")
    assert data.get("__comments__", []) == [{"value": text} for text in said]


def test_plain_data_with_lines() -> None:
    options = hcl2.SerializationOptions(
        with_comments=False,
        explicit_blocks=False,
        strip_string_quotes=True,
        preserve_heredocs=False,
        with_meta=True,
    )
    assert hcl2.load(io.StringIO(TEXT), serialization_options=options)["b"] == [
        {
            "c": {
                "d": {
                    "e": "x${y}",
                    "f": {"g": ["h", 1.5, "${1e3}", None], "${(i)}": "${j.k}"},
                    "l": "m",
                    "__start_line__": 3,
                    "__end_line__": 9,
                }
            }
        }
    ]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a . b [ 0 ]", "a.b[0]"),
        ("a[*] . b", "a[*].b"),
        ("a.*.b", "a.*.b"),
        ("a[b + 1]", "a[b + 1]"),
        ("f( a,\n b... )", "f(a, b ...)"),
        ("!a&&-b", "!a && -b"),
        ("a?b:c", "a ? b : c"),
        ("[for k,v in a:k if v]", "[for k, v in a : k if v]"),
        ("{for k in a:k=>k...}", "{for k in a : k => k...}"),
        ("g({ a : 1\n b = [2,] })", "g({a = 1, b = [2]})"),
    ],
)
def test_expressions_are_on_one_line(source: str, text: str) -> None:
    assert hcl2.loads(f"x = {source}\n")["x"] == f"${{{text}}}"


def test_round_trip() -> None:
    data = hcl2.loads(TEXT, serialization_options=hcl2.SerializationOptions(with_comments=False))
    again = hcl2.loads(hcl2.dumps(data))
    assert again == data
    assert hcl2.reconstruct(hcl2.parses(TEXT)) == TEXT
    assert hcl2.reconstruct(hcl2.transform(hcl2.parses_to_tree(TEXT))) == TEXT


def test_building_and_writing() -> None:
    document = hcl2.Builder({"a": 1})
    inner = hcl2.Builder()
    inner.block("sub", x="${var.y}")
    document.block("b", ["c"], inner, d={"k": [1, True]}, empty={})
    document.block("e")
    out = io.StringIO()
    hcl2.dump(document.build(), out)
    assert out.getvalue() == (
        "a = 1\n\nb c {\n  d     = {\n    k = [\n      1,\n      true,\n    ],\n  }\n  empty = {}\n"
        "  \n  sub {\n    x = var.y\n  }\n}\n\n\ne {\n\n}\n"
    )
    options = hcl2.FormatterOptions(indent_length=4, open_empty_blocks=False)
    assert hcl2.dumps({"e": [{"__is_block__": True}]}, formatter_options=options) == "e {}\n"
    heredocs = hcl2.DeserializerOptions(strings_to_heredocs=True)
    assert hcl2.dumps({"a": '"x\\ny"'}, deserializer_options=heredocs) == "a = <<EOF\nx\ny\nEOF\n"


def test_mistakes_are_reported() -> None:
    with pytest.raises(ValueError, match="on <input> line 1"):
        hcl2.loads("a = [")
    with pytest.raises(TypeError):
        hcl2.dumps([])  # type: ignore[arg-type]
    with pytest.raises(hcl2.HclError):
        hcl2.dumps({"a": "${1 +}"})


def test_views() -> None:
    document = hcl2.query(TEXT)
    (block,) = document.blocks("b", "c")
    assert (block.block_type, block.labels, block.name_labels) == ("b", ["b", "c", "d"], ["c", "d"])
    attribute = block.attribute("e")
    assert attribute is not None
    assert attribute.value == '"x${y}"'
    assert attribute.to_hcl() == 'e = "x${y}"'
    assert document.blocks("b", "d") == []
    assert [each.name for each in document.attributes()] == ["a"]

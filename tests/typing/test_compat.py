"""All of `nigari.compat`, as a user's program has it: type checkers read this file, and it runs as well."""

import io
from typing import assert_type

import pytest

from nigari.compat import hcl2, pygohcl


def test_hcl2() -> None:
    first: int = hcl2.loads("a = [1]")["a"][0]
    options = hcl2.SerializationOptions()
    assert hcl2.load(io.StringIO("a = 1"), serialization_options=options)["a"] == first
    document = hcl2.parses("a = 1\n")
    assert_type(document, hcl2.StartRule)
    assert_type(hcl2.parse(io.StringIO("a = 1\n")), hcl2.StartRule)
    tree: hcl2.Tree = hcl2.parses_to_tree("a = 1\n")
    assert_type(hcl2.parse_to_tree(io.StringIO("a = 1\n")), hcl2.Tree)
    assert hcl2.reconstruct(tree) == hcl2.reconstruct(hcl2.transform(tree)) == "a = 1\n"
    assert hcl2.serialize(document)["a"] == 1
    data: dict[str, object] = hcl2.Builder().block("b", ["x"], a=1).build()
    layout = hcl2.FormatterOptions()
    meaning = hcl2.DeserializerOptions()
    text: str = hcl2.dumps(data, deserializer_options=meaning, formatter_options=layout)
    hcl2.dump(data, written := io.StringIO())
    assert written.getvalue() == text
    assert_type(hcl2.from_dict(data), hcl2.StartRule)
    assert_type(hcl2.from_json("{}"), hcl2.StartRule)
    with pytest.raises(hcl2.HclError):
        hcl2.loads("a = ")
    assert_type(hcl2.__version__, str)


def test_queries() -> None:
    view: hcl2.DocumentView = hcl2.query('b "x" {\n  a = 1\n}\n')
    body: hcl2.BodyView = view.body
    block: hcl2.BlockView = body.blocks("b")[0]
    attribute: hcl2.AttributeView | None = block.attribute("a")
    assert attribute is not None
    assert attribute.value == 1


def test_pygohcl() -> None:
    first: int = pygohcl.loads("a = [1]")["a"][0]
    assert pygohcl.loadb(b"a = [1]") == pygohcl.load(io.StringIO("a = [1]")) == {"a": [first]}
    assert pygohcl.attributes_loads("a = 1") == pygohcl.attributes_loadb(b"a = 1")
    assert pygohcl.attributes_load(io.StringIO("a = 1")) == {"a": 1}
    errors: tuple[type[Exception], ...] = (
        pygohcl.HCLInternalError,
        pygohcl.HCLParseError,
        pygohcl.UnknownFunctionError,
        pygohcl.ValidationError,
    )
    with pytest.raises(errors):
        pygohcl.eval_var_condition("var.a > 1", "no", "a", "0")

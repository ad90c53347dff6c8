"""Data written as source: it reads back as the same, and looks as people write it."""

import io
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari import cty, hcl
from nigari.cty.annotations import Named

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["${a}", "$${a}", "$$${", "%{if}", "a\nb\n", "\\", '"', "$", "for", "null", "true", "-a", ""]
)
DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)
NAMES = st.from_regex(r"[a-z_][a-z0-9_-]{0,8}", fullmatch=True)


def normal(data: object) -> object:
    """The data as values keep it: keys and strings in composed form."""
    return cty.Value.of(data).to_python()


@given(st.dictionaries(NAMES, DATA, max_size=4))
def test_data_reads_back(data: dict[str, object]) -> None:
    text = hcl.dumps(data)
    assert hcl.evaluate(text, filename="x.hcl") == normal(data)
    assert hcl.format(text) == text


@given(TEXTS)
def test_templates_read_back(text: str) -> None:
    source = hcl.dumps({"a": hcl.template(text.replace("{", "("))})
    assert hcl.evaluate(source) == normal({"a": text.replace("{", "(")})
    heredoc = text.replace("\r", "").replace("\x00", "") + "\n"
    assert hcl.evaluate(hcl.dumps({"a": hcl.heredoc(heredoc)})) == normal({"a": heredoc})


@dataclass
class Port:
    number: int
    name: Annotated[str, Named("label")]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({}, ""),
        ({"b": 1, "long": 2, "a": None}, "b    = 1\nlong = 2\na    = null\n"),
        ({"a": {"z": 1, "b": [True, 1.5]}}, "a = {\n  z = 1\n  b = [true, 1.5]\n}\n"),
        ({"a": [], "b": {}}, "a = []\nb = {}\n"),
        ({"a": "${b}"}, 'a = "$${b}"\n'),
        ({"a": hcl.raw("var.b"), "c": [hcl.raw("d")]}, "a = var.b\nc = [d]\n"),
        ({"a": {hcl.raw("var.k"): 1}}, "a = {\n  (var.k) = 1\n}\n"),
        ({"a": hcl.template('${f("}")} "q"')}, 'a = "${f("}")} \\"q\\""\n'),
        ({"a": hcl.heredoc("x\n${y}\n")}, "a = <<EOT\nx\n$${y}\nEOT\n"),
        ({"a": [hcl.heredoc("x\n")]}, "a = [\n  <<EOT\nx\nEOT\n  ,\n]\n"),
        ({"a": hcl.commented(1, "why\nnot")}, "# why\n# not\na = 1\n"),
        ({"a": [hcl.commented(1, "one"), 2]}, "a = [\n  # one\n  1,\n  2,\n]\n"),
        ({"a": {"b": hcl.commented(1, "one")}}, "a = {\n  # one\n  b = 1\n}\n"),
        ({"a": ["x" * 40, "y" * 40]}, f'a = [\n  "{"x" * 40}",\n  "{"y" * 40}",\n]\n'),
        ({"a": Decimal("0.10"), "b": PurePosixPath("c/d")}, 'a = 0.1\nb = "c/d"\n'),
        ({"a": cty.Value.of([1])}, "a = [1]\n"),
        ({"a": {"y", "x"}}, 'a = ["x", "y"]\n'),
        ({"a": Port(80, "http")}, 'a = {\n  number = 80\n  label  = "http"\n}\n'),
        ({"a": hcl.block()}, "a {}\n"),
        (
            {"a": 1, "b": [hcl.block("x", {"c": 1}), hcl.block("y")], "d": 2},
            'a = 1\n\nb "x" {\n  c = 1\n}\n\nb "y" {}\n\nd = 2\n',
        ),
        (
            {"a": hcl.commented(hcl.block({"b": hcl.block({"c": 1})}), "why")},
            "# why\na {\n  b {\n    c = 1\n  }\n}\n",
        ),
    ],
)
def test_layout(data: dict[str, object], text: str) -> None:
    assert hcl.dumps(data) == text
    document = hcl.edit("")
    document.body.fill(data)
    assert hcl.loads(str(document)) == hcl.loads(text)


def test_styles() -> None:
    data = {"a": [1, 2], "b": [], "c": "x\n${y}\n", "d": "x\r\n"}
    text = 'a = [\n  1,\n  2,\n]\nb = []\nc = <<EOT\nx\n$${y}\nEOT\nd = "x\\r\\n"\n'
    assert hcl.dumps(data, width=0, heredocs=True) == text
    assert hcl.evaluate(text) == data


@pytest.mark.parametrize(
    "data",
    [
        {"a b": 1},
        {"a": float("inf")},
        {"a": cty.unknown(cty.STRING)},
        {"a": cty.string("x").mark("sensitive")},
        {"a": [hcl.block(), 1]},
        {"a": {"b": hcl.block()}},
    ],
)
def test_what_cannot_be_written(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        hcl.dumps(data)


@pytest.mark.parametrize("source", ["", "1 +", "a = 1", "a\nb"])
def test_raw_is_an_expression(source: str) -> None:
    with pytest.raises(ValueError, match="is not an expression"):
        hcl.raw(source)


def test_dump(tmp_path: Path) -> None:
    hcl.dump({"a": "é"}, tmp_path / "x.hcl")
    assert hcl.load(tmp_path / "x.hcl") == {"a": "é"}
    out = io.StringIO()
    hcl.dump({"a": 1}, out)
    assert out.getvalue() == "a = 1\n"

"""Plain data: the shape, the way in, and errors."""

import io
import pickle
from pathlib import Path

import pytest

from nigari import hcl
from nigari.hcl import HclError


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", {}),
        (
            'a = 1\nb = -2.5\nc = "x"\nd = true\ne = null',
            {"a": 1, "b": -2.5, "c": "x", "d": True, "e": None},
        ),
        ("a = [1, [2]]", {"a": [1, [2]]}),
        ('a = { b = 1, "c d" = 2, (e) = 3, 4 = 5 }', {"a": {"b": 1, "c d": 2, "${e}": 3, "4": 5}}),
        ("a = var.b[0]", {"a": "${var.b[0]}"}),
        ('a = "${var.b}"', {"a": "${var.b}"}),
        ('a = "x ${f("y")} z"', {"a": 'x ${f("y")} z'}),
        ('a = "%{ if b }c%{ endif }"', {"a": "%{ if b }c%{ endif }"}),
        ('a = "$${b}"', {"a": "$${b}"}),
        ("a = <<-E\n  b\n   ${c}\n  E\n", {"a": "b\n ${c}\n"}),
        ("a = [for b in c : b]", {"a": "${[for b in c : b]}"}),
        ("a = 1 + 2", {"a": "${1 + 2}"}),
        ("b {}", {"b": [{}]}),
        (
            'r "x" "y" {\n a = 1\n}\nr "x" "z" {\n n {}\n}',
            {"r": [{"x": {"y": {"a": 1}}}, {"x": {"z": {"n": [{}]}}}]},
        ),
    ],
)
def test_shape(text: str, want: object) -> None:
    assert hcl.loads(text) == want


def test_lines() -> None:
    assert hcl.loads("\nb {\n  c = 1\n}\n", with_meta=True) == {
        "b": [{"c": 1, "__start_line__": 2, "__end_line__": 4}]
    }


def test_files(tmp_path: Path) -> None:
    native = tmp_path / "a.tf"
    native.write_text("a = 1")
    json = tmp_path / "a.tf.json"
    json.write_text('{"a": ["${b}", 1, null, {"c": true}]}')
    assert hcl.load(native) == hcl.load(str(native)) == hcl.load(io.StringIO("a = 1")) == {"a": 1}
    assert hcl.load(json) == {"a": ["${b}", 1, None, {"c": True}]}
    with native.open("rb") as opened:
        assert hcl.load(opened) == {"a": 1}


def test_errors() -> None:
    with pytest.raises(HclError, match="line 2") as caught:
        hcl.loads("a = 1\nb = ]\nc = )")
    assert len(caught.value.diagnostics) == 2
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_parse_never_fails() -> None:
    file = hcl.parse("a = 1\nb = ]\n", "x.hcl")
    assert file.diagnostics.error_count == 1
    assert list(file.body.just_attributes(file.diagnostics)) == ["a", "b"]
    assert "x.hcl line 2" in file.describe()


def test_format_and_edit() -> None:
    assert hcl.format("a=1") == "a = 1"
    document = hcl.edit("a=1 # x\n")
    document.body.set("a", 2)
    assert str(document) == "a=2 # x\n"

"""The stand-in for pygohcl: one row per meaning."""

import io

import pytest

from nigari.compat import pygohcl


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('a "b" {}', {"a": {"b": {}}}),
        ("a {}\na {}\na {}", {"a": [{}, {}, {}]}),
        ('a "b" {}\na "c" {}\na "b" {}', {"a": {"b": [{}, {}], "c": {}}}),
        ("a = 1\nb = -1.5\nc = null\nd = !true", {"a": 1, "b": -1.5, "c": None, "d": False}),
        ("a = 1 +\t2 # x", {"a": "1 + 2"}),
        ("a = f(\n  b, // c\n  /* d */ e\n)", {"a": "f( b, e )"}),
        ('a = f("b  #c")', {"a": 'f("b  #c")'}),
        ('a = "${b}"', {"a": "b"}),
        ('a = "x${b}"', {"a": "xb"}),
        ('a = "%{ if b }c%{ else }d%{ endif }"', {"a": "%{if b}c%{else}d%{endif}"}),
        ('a = "x${b ? "c" : null}"', {"a": "x%{if b}c%{endif}"}),
        ('a = "%{ for k, v in b }${k}%{ endfor }"', {"a": "%{for k, v in b}k%{endfor}"}),
        ('a = { b = [1], "c" = d.e, (f) = 1, g.h = 2 }', None),
    ],
)
def test_data(text: str, data: dict[str, object] | None) -> None:
    wanted = data or {"a": {"b": [1], "c": "d.e", "(f)": 1, "g.h": 2}}
    assert pygohcl.loads(text) == wanted
    assert pygohcl.load(io.BytesIO(text.encode())) == wanted


def test_references_in_strings() -> None:
    assert pygohcl.loads('a = "x${b.c}${d()}"', keep_interpolations=True) == {"a": "x${b.c}d()"}


def test_what_has_no_form_as_data() -> None:
    with pytest.raises(pygohcl.HCLInternalError):
        pygohcl.loads('a {}\na {}\na "b" {}')
    with pytest.raises(pygohcl.HCLParseError, match=r"invalid HCL: tmp\.hcl:1,"):
        pygohcl.loads("a = [")


def test_arguments_only() -> None:
    assert pygohcl.attributes_loads("a = [1 , 2]") == {"a": [1, 2]}
    with pytest.raises(pygohcl.HCLParseError, match="Blocks are not allowed"):
        pygohcl.attributes_loads("a {}")
    with pytest.raises(pygohcl.HCLParseError, match="Variables not allowed"):
        pygohcl.attributes_loads("a = b")


@pytest.mark.parametrize(
    ("condition", "value", "error"),
    [
        ("var.v > 1", "2", None),
        ('var.v == "text"', "text", None),
        ('contains(["a"], var.v)', '"a"', None),
        ("var.v > 1", "1", "no: 1"),
        ("var.v.x", "1", "cannot process condition expression"),
        ("null", "1", "condition expression result is null"),
        ("[]", "1", "condition expression result must be bool"),
        ("var.v", "[", "cannot process variable value"),
    ],
)
def test_conditions(condition: str, value: str, error: str | None) -> None:
    if error is None:
        pygohcl.eval_var_condition(condition, "no", "v", value)
        return
    with pytest.raises(pygohcl.ValidationError, match=error):
        pygohcl.eval_var_condition(condition, "no: ${var.v}", "v", value)


def test_unknown_functions() -> None:
    with pytest.raises(pygohcl.UnknownFunctionError, match='no function named "file"'):
        pygohcl.eval_var_condition('file("/etc/passwd") == ""', "no", "v", "1")

import pytest

from nigari.cty.types import BOOL, DYNAMIC, NUMBER, STRING, ListType, MapType, ObjectType, SetType
from nigari.cty.values import Value, list_value, null, string, unknown
from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.lang.files import MemoryFiles
from nigari.lang.functions.table import function_table
from nigari.lang.marks import EPHEMERAL, SENSITIVE, Deprecated
from nigari.lang.render import console_text, value_display


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (null(DYNAMIC), "null"),
        (null(STRING), "tostring(null)"),
        (null(ListType(NUMBER)), "tolist(null) /* of number */"),
        (null(SetType(BOOL)), "toset(null) /* of bool */"),
        (null(MapType(STRING)), "tomap(null) /* of string */"),
        (null(ObjectType({"a": STRING})), "null /* object */"),
        (unknown(STRING), "(known after apply)"),
        (unknown(STRING).mark(SENSITIVE), "(known after apply)"),
        (string("s").mark(SENSITIVE), "(sensitive value)"),
        (string("s").mark(EPHEMERAL), "(ephemeral value)"),
        (string("s").mark(SENSITIVE, EPHEMERAL), "(sensitive value)"),
        (null(STRING).mark(SENSITIVE), "(sensitive value)"),
        (string("s").mark(Deprecated("old", "a.b")), '"s"'),
        (Value.of(1e30), "1000000000000000019884624838656"),
        (Value.of(True), "true"),
        (string('a"\\\t\x07\x7fé\u200b'), '"a\\"\\\\\\t\\a\\x7fé\\u200b"'),
        (string("a\nb"), "<<EOT\na\nb\nEOT"),
        (string("EOT\n EOT_ "), "<<EOT__\nEOT\n EOT_ \nEOT__"),
        (Value.of([]), "[]"),
        (Value.of({}), "{}"),
        (list_value(STRING, []), "tolist([])"),
        (Value.of([1, ["x\ny"]]), "[\n  1,\n  [\n    <<-EOT\n    x\n    y\n    EOT,\n  ],\n]"),
        (
            Value.of({"b": None, "a": string("s").mark(SENSITIVE)}),
            '{\n  "a" = (sensitive value)\n  "b" = null\n}',
        ),
    ],
)
def test_value_display(value: Value, wanted: str) -> None:
    assert value_display(value) == wanted


def test_deep_value() -> None:
    value = Value.of([])
    for _ in range(1500):
        value = Value.of([value])
    assert value_display(value).count("[") == 1501


def _answer(text: str) -> tuple[str, Diagnostics]:
    diags = Diagnostics()
    functions = function_table(MemoryFiles({}), ".", console=True)
    value = parse_expression(Source("test.tf", text), diags).value(Scope({}, functions), diags)
    return console_text(value, diags), diags


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('type("a")', "string"),
        ("type(null)", "dynamic"),
        ("type([1])", "tuple([\n    number,\n])"),
        ("type(sensitive(1))", "number"),
        ("sensitive(1)", "(sensitive value)"),
    ],
)
def test_answer(text: str, wanted: str) -> None:
    answer, diags = _answer(text)
    assert not diags.has_errors
    assert answer == wanted


@pytest.mark.parametrize("text", ["[type(1)]", "{ a = type(1) }", "type(1) == type(2)"])
def test_type_is_no_part_of_anything(text: str) -> None:
    _, diags = _answer(text)
    assert diags.has_errors

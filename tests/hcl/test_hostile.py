"""Long and deep input: what is flat works, what nests too deeply is one diagnostic."""

import pytest

from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.hcl.expressions import Expression
from nigari.hcl.parser import parse_body, parse_expression, parse_template
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from tests.limits import costs_little

DEEP = 100_000


def evaluate(expression: Expression, diags: Diagnostics) -> Value:
    expression.variables()
    return expression.value(Scope({}, {}), diags)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (" + ".join(["1"] * 5000), 5000),
        (" && ".join(["true"] * 5000), True),
        ("false ? 1 : " * 2000 + "2", 2),
        ("(" * 1999 + "1" + ")" * 1999, 1),
        ("!" * 1998 + "true", True),
        ('"a${' * 1999 + "1" + '}"' * 1999, "a" * 1999 + "1"),
    ],
)
def test_long_or_nested(text: str, want: object) -> None:
    diags = Diagnostics()
    value = evaluate(parse_expression(Source("t", text), diags), diags)
    assert not diags.has_errors, list(diags)
    assert value.to_python() == want


@pytest.mark.parametrize("text", ["[" * 1999 + "]" * 1999, "{a=" * 1990 + "1" + "}" * 1990])
def test_nested_collections(text: str) -> None:
    diags = Diagnostics()
    evaluate(parse_expression(Source("t", text), diags), diags)
    assert not diags.has_errors


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("[", "]"),
        ("(", ")"),
        ("{a=", "}"),
        ("!", ""),
        ("-", ""),
        ('"${', '}"'),
        ("f(", ")"),
        ("a ? ", " : b"),
        ("a[", "]"),
        ("[for x in ", " : x]"),
        ("<<E\n${", "}\nE\n"),
    ],
)
@pytest.mark.parametrize(
    ("depth", "is_closed"), [(DEEP, False), (10_000, True)], ids=["open", "closed"]
)
def test_too_deep(opening: str, closing: str, depth: int, is_closed: bool) -> None:
    diags = Diagnostics()
    text = f"a = {opening * depth}1{closing * depth if is_closed else ''}\n"
    with costs_little():
        parse_body(Source("t", text), diags)
    assert [each.summary for each in diags] == ["Nested too deeply"]


@pytest.mark.parametrize("text", ["b {\n" * DEEP + "}\n" * DEEP, "b {\n" * DEEP])
def test_too_deep_blocks(text: str) -> None:
    diags = Diagnostics()
    parse_body(Source("t", text), diags)
    assert len(diags) == 1


def test_too_deep_directives() -> None:
    diags = Diagnostics()
    parse_template(Source("t", "%{ if a }" * DEEP + "%{ endif }" * DEEP), diags)
    assert len(diags) == 1


def test_other_items_stay_after_one_that_is_too_deep() -> None:
    diags = Diagnostics()
    body = parse_body(Source("t", f"a = {'[' * DEEP}{']' * DEEP}\nb = 1\n"), diags)
    assert list(body.attributes) == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        f'a = "{"x" * 10_000_000}"\n',
        "x" * 10_000_000,
        " " * 10_000_000,
        "\n" * 10_000_000,
        "\0" * 200_000,
        '"' * 200_000,
        "/*" * 200_000,
        "a = " + "a." * 200_000,
        f'a = "{"$" * 500_000}"\n',
        "a = " + "[" * 30_000 + "\n" + '"x\n' * 30_000,
        "a = " + "[" * 30_000 + ")" * 30_000,
        "a = 1 }\n" * 20_000,
        "}" * 30_000,
        'x "${' * 30_000,
        'a = "' + "${f(x)}" * 30_000 + '"\n',
        "a = <<E\n" + "${\nx\n}\n" * 10_000 + "E\n",
        "a = " + "- ! " * 50_000,
        "a = 1" + "0" * 100_000 + "\n",
        "a = 1e" + "9" * 1_000 + "\n",
    ],
)
def test_bounded_time(text: str) -> None:
    with costs_little():
        parse_body(Source("t", text), Diagnostics())


def test_nul_is_a_character_like_others_in_strings_only() -> None:
    diags = Diagnostics()
    body = parse_body(Source("t", 'a = "\0"\nb = \0\nc = 1\n'), diags)
    assert list(body.attributes) == ["a", "b", "c"]
    assert [str(each.subject) for each in diags] == ["t:2,5-6"]

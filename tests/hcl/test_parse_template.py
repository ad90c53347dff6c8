"""Templates: escapes, heredocs, strip markers and directives."""

import pytest

from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_body, parse_template
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source

SCOPE = Scope({"a": Value.of("A"), "l": Value.of(["x", "y"]), "t": Value.of(True)}, {})


def attribute(text: str) -> tuple[object, Diagnostics]:
    """The value of an argument that is written like this."""
    diags = Diagnostics()
    body = parse_body(Source("t", f"v = {text}\n"), diags)
    value = body.attributes["v"].expr.value(SCOPE, diags)
    return (None if diags.has_errors else value.to_python()), diags


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('""', ""),
        ('"a b"', "a b"),
        (r'"\n\r\t\"\\"', '\n\r\t"\\'),
        (r'"\u00e9\U0001F600"', "é😀"),
        ('"$${a} %%{b} $ % $$ %%"', "${a} %{b} $ % $$ %%"),
        ('"$$${a}"', "$${a}"),
        ('"x${a}y"', "xAy"),
        ('"${a}"', "A"),
        ('"${l}"', ["x", "y"]),
        ('" ${~ a ~} x"', "Ax"),
        ('"x ${~ a }"', "xA"),
        ('"${"${a}b"}c"', "Abc"),
        ('"${{ k = "}" }.k}"', "}"),
        ('"%{ if t }yes%{ else }no%{ endif }"', "yes"),
        ('"%{ if !t }yes%{ endif }"', ""),
        ('"%{ for x in l }<${x}>%{ endfor }"', "<x><y>"),
        ('"%{ for i, x in l ~} ${i}${x} %{~ endfor }"', "0x1y"),
        ('"%{ if t }%{ for x in l }${x}%{ endfor }%{ endif }"', "xy"),
        ("<<E\na\n b\nE", "a\n b\n"),
        ("<<E\nE", ""),
        ("<<E\n\\n $${a} ${a}\nE", "\\n ${a} A\n"),
        ("<<-E\n    a\n   b\n\n     c\n   E", " a\nb\n\n  c\n"),
        ("<<-E\n  ${a}\n    b\n  E", "A\n  b\n"),
        ("<<-E\n\ta\n\t\tb\n\tE", "a\n\tb\n"),
        ("<<E\na ${~ a ~}\n  b\nE", "aA  b\n"),
        ("<<E\n%{ for x in l ~}\n${x}\n%{ endfor ~}\nE", "x\ny\n"),
        ("<<E\n${<<F\nin\nF\n}\nE", "in\n\n"),
        ("<<E\n  E x\nE", "  E x\n"),
        ("<<E\r\na\r\nE", "a\r\n"),
    ],
)
def test_value(text: str, want: object) -> None:
    value, diags = attribute(text)
    assert not diags.has_errors, list(diags)
    assert value == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("%{ if t }a", (10, 10)),
        ("%{ if t }%{ for x in l }a%{ endif }", (25, 35)),
        ("%{ endif }", (0, 10)),
        ("%{ for x in l }%{ else }%{ endfor }", (15, 24)),
        ("%{ if t }%{ else }%{ else }%{ endif }", (18, 27)),
        ("%{ iff t }%{ endif }", (3, 6)),
        ("%{ 1 }", (3, 4)),
        ("%{ for in l }%{ endfor }", (10, 11)),
        ("%{ if t x }%{ endif }", (8, 9)),
        ("${a", (0, 2)),
        ("${a:-b}", (3, 4)),
    ],
)
def test_error(text: str, want: tuple[int, int]) -> None:
    diags = Diagnostics()
    parse_template(Source("t", text), diags)
    found = [(each.subject.start.byte, each.subject.end.byte) for each in diags if each.subject]
    assert found[0] == want


def test_bare_template_keeps_its_lines() -> None:
    diags = Diagnostics()
    template = parse_template(Source("t", 'say "${a}"\n$ % $${}\n'), diags)
    assert template.value(SCOPE, diags).to_python() == 'say "A"\n$ % ${}\n'
    assert not diags.has_errors

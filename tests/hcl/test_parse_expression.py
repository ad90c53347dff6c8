"""Expressions: how they are put together, where they are, and what is wrong with them."""

import pytest

from nigari.diagnostics import Diagnostics
from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import For, ObjectConstructor, TupleConstructor
from nigari.hcl.expressions import (
    Expression,
    Index,
    Literal,
    Parentheses,
    Reference,
    RelativeTraversal,
    SyntaxFault,
)
from nigari.hcl.operators import SYMBOLS, Conditional, Operation, UnaryOperation
from nigari.hcl.parser import parse_expression, parse_traversal
from nigari.hcl.source import Source
from nigari.hcl.splats import Splat
from nigari.hcl.templates import StringLiteral, Template, TemplateWrap


def read(text: str) -> tuple[Expression, Diagnostics]:
    diags = Diagnostics()
    return parse_expression(Source("t", text), diags), diags


def shape(expression: Expression) -> str:
    """The structure of an expression, every nesting in parentheses."""
    inner = [shape(child) for child in expression.children()]
    match expression:
        case Operation():
            out = inner[0]
            for operator, operand in zip(expression.operators, inner[1:], strict=True):
                out += f" {SYMBOLS[operator]} {operand}"
            return f"({out})"
        case Conditional():
            pairs = [f"{c} ? {r}" for c, r in zip(inner[::2], inner[1::2], strict=False)]
            return f"({' : '.join(pairs)} : {inner[-1]})"
        case UnaryOperation():
            return f"({'!' if expression.is_not else '-'}{inner[0]})"
        case Parentheses():
            return f"P{inner[0]}"
        case FunctionCall():
            return (
                f"{expression.name}({', '.join(inner)}{'...' if expression.expand_final else ''})"
            )
        case TupleConstructor():
            return f"[{', '.join(inner)}]"
        case ObjectConstructor():
            return f"{{{', '.join(inner)}}}"
        case Index():
            return f"{inner[0]}[{inner[1]}]"
        case Splat():
            return f"{inner[0]}*<{inner[1]}>"
        case RelativeTraversal():
            return inner[0] + "".join(str(step) for step in expression.steps)
        case Reference():
            return str(expression.traversal)
        case For() | Template() | TemplateWrap():
            return f"{type(expression).__name__}({', '.join(inner)})"
        case StringLiteral():
            return repr(expression.text)
        case Literal():
            return str(expression.literal.to_python())
    return type(expression).__name__


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("1 + 2 * 3 - 4", "(1 + (2 * 3) - 4)"),
        ("a || b && c == d < e + f * g", "(a || (b && (c == (d < (e + (f * g))))))"),
        ("a * b + c < d == e && f || g", "((((((a * b) + c) < d) == e) && f) || g)"),
        ("-a + !b", "((-a) + (!b))"),
        ("-a.b[0]", "(-a.b[0])"),
        ("a ? b : c ? d : e", "(a ? b : c ? d : e)"),
        ("a ? b ? c : d : e", "(a ? (b ? c : d) : e)"),
        ("(a + b) * c", "(P(a + b) * c)"),
        ("a.b.c", "a.b.c"),
        ('a["b"][0].c', 'a["b"][0].c'),
        ("a[b].c[d]", "a[b].c[d]"),
        ("a.0.b", "a[0].b"),
        ("f(a, b...)", "f(a, b...)"),
        ("p::q::f(1,)", "p::q::f(1)"),
        ("f().a[0]", "f().a[0]"),
        ("a.*.b.c[0]", "a*<SplatItem.b.c>[0]"),
        ("a[*].b[0].c", "a*<SplatItem.b[0].c>"),
        ("a[*].b[*].c", "a*<SplatItem.b*<SplatItem.c>>"),
        ("[1, [2], ]", "[1, [2]]"),
        ('{a = 1, "b" : 2, (c) = 3}', "{KeyName, 1, 'b', 2, Pc, 3}"),
        ("[for k, v in a : v if k]", "For(a, v, k)"),
        ("{for v in a : v => v...}", "For(a, v, v)"),
        ("[for in in if : in]", "For(if, in)"),
        ('"a ${b} c"', "Template('a ', b, ' c')"),
        ('"${b}"', "TemplateWrap(b)"),
        ("true.a", "True.a"),
        ("a\n  .b\n  [0]", "a.b[0]"),
    ],
)
def test_shape(text: str, want: str) -> None:
    expression, diags = read(text)
    assert shape(expression) == want
    assert not diags.has_errors
    assert (expression.start, expression.end) == (0, len(text))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", (0, 0)),
        ("1 +", (3, 3)),
        ("1 2", (2, 3)),
        ("(1", (2, 2)),
        ("(1 2)", (3, 4)),
        ("a.", (2, 2)),
        ("a.b.", (4, 4)),
        ("a[1", (3, 3)),
        ("a[*.b", (3, 4)),
        ("a.*.*", (4, 5)),
        ("a.0.1", (2, 5)),
        ("a ? b", (5, 5)),
        ("a ? : c", (4, 5)),
        ("f(1 2)", (4, 5)),
        ("f(1", (0, 1)),
        ("f(1..., 2)", (3, 6)),
        ("f::(1)", (3, 4)),
        ("f::g", (4, 4)),
        ("[1", (0, 1)),
        ("[1 2]", (3, 4)),
        ("{a = 1", (0, 1)),
        ("{a}", (2, 3)),
        ("{a b}", (3, 4)),
        ("{a = 1 b = 2}", (7, 8)),
        ("[for in a : b]", (8, 9)),
        ("[for a of b : c]", (7, 9)),
        ("[for a in b c]", (12, 13)),
        ("[for a in b : c => d]", (14, 15)),
        ("{for a in b : c}", (14, 15)),
        ("[for a in b : c...]", (15, 18)),
        ("[for a.b in c : d]", (6, 7)),
        ("1.2.3", (0, 5)),
        ("=", (0, 1)),
        ("a => b", (2, 4)),
        ("a & b", (2, 3)),
        ("@", (0, 1)),
        ('"a ${b c}"', (7, 8)),
        ('"a ${b"', (3, 5)),
    ],
)
def test_error(text: str, want: tuple[int, int]) -> None:
    _, diags = read(text)
    found = [(each.subject.start.byte, each.subject.end.byte) for each in diags if each.subject]
    assert found == [want]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("f(a, b)", (0, 2)),
        ("[a]", (0, 1)),
        ("{}", (0, 1)),
        ("-a", (0, 1)),
        ("a + b", (0, 1)),
        ("a[b]", (1, 2)),
        ("a[*].b", (1, 4)),
        ("[for a in b : c]", (0, 1)),
        ("(a)", (1, 2)),
        ("a.b", (0, 3)),
    ],
)
def test_start_range(text: str, want: tuple[int, int]) -> None:
    assert read(text)[0].start_span() == want


def test_errors_in_elements_leave_the_others() -> None:
    expression, diags = read("[1, =, 3, f(2 2, 4)]")
    assert diags.error_count == 2
    assert shape(expression) == "[1, SyntaxFault, 3, f(2, SyntaxFault, 4)]"
    assert isinstance(expression, TupleConstructor)
    assert isinstance(expression.elements[1], SyntaxFault)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a", "a"),
        ("a.b[0]", "a.b[0]"),
        ('a["b\\n"]', 'a["b\\n"]'),
        ("true", "true"),
        ("a[b]", None),
        ("f()", None),
        ("(a)", None),
    ],
)
def test_traversal(text: str, want: str | None) -> None:
    diags = Diagnostics()
    traversal = parse_traversal(Source("t", text), diags)
    assert (None if traversal is None else str(traversal)) == want
    assert diags.has_errors == (want is None)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a + b.c", ["a", "b.c"]),
        ("[for a in b : a.c + d]", ["b", "d"]),
        ("{for a, b in a : b => b if c}", ["a", "c"]),
        ("{a = b, (c) = d}", ["b", "c", "d"]),
        ('"${a} %{ for b in c }${b}%{ endfor }"', ["a", "c"]),
        ("a[*].b[c]", ["a", "c"]),
    ],
)
def test_variables(text: str, want: list[str]) -> None:
    assert [str(each) for each in read(text)[0].variables()] == want

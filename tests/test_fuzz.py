"""The fuzzer of expressions: what it makes, and how it makes that smaller."""

import pytest

from fuzz.functions import FUNCTIONS
from fuzz.grammar import FIXTURE, Grammar
from fuzz.tree import leaf, listed, node
from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_body, parse_expression
from nigari.hcl.source import Source


def test_a_seed_always_gives_the_same() -> None:
    first, second = Grammar(7), Grammar(7)
    assert [str(first.expression()) for _ in range(50)] == [
        str(second.expression()) for _ in range(50)
    ]


def test_the_fixture_is_valid() -> None:
    diags = Diagnostics()
    parse_body(Source("main.tf", FIXTURE), diags)
    assert not diags.has_errors


def test_expressions_are_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.grammar._MANGLED", 0)
    grammar = Grammar(8)
    for _ in range(500):
        text = str(grammar.expression())
        diags = Diagnostics()
        parse_expression(Source("", text), diags)
        assert not diags.has_errors, text


def test_no_function_is_written_twice_in_the_same_way() -> None:
    assert len(set(FUNCTIONS)) == len(FUNCTIONS)


def test_smaller() -> None:
    tree = listed("f(", [leaf("aa"), node("[@]", leaf("b"))], ")")
    assert str(tree) == "f(aa, [b])"
    smaller = [str(each) for each in tree.smaller()]
    assert smaller[:2] == ["aa", "[b]"]
    assert {"f([b])", "f(aa)", "f(a, [b])", "f(aa, b)", "null"} <= set(smaller)

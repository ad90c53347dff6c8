"""Operators with unknown, null and infinite operands."""

import pytest

from nigari import cty
from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source

NAMES = {
    "n": cty.unknown(cty.NUMBER),
    "secret": cty.number(7).mark("secret"),
    "later": cty.unknown(cty.BOOL),
}
SOME = cty.refine_not_null(cty.unknown(cty.BOOL))


def evaluate(text: str) -> tuple[cty.Value, bool]:
    diags = Diagnostics()
    value = parse_expression(Source("", text), diags).value(Scope(NAMES, {}), diags)
    return value, not diags.has_errors


@pytest.mark.parametrize("text", ["n + 1", "0 * n", "n * 0", "-n", "1 / n", "n % 2", "n < 1"])
def test_unknown_stays_unknown(text: str) -> None:
    value, ok = evaluate(text)
    assert ok
    assert not value.is_known
    assert value.type == (cty.BOOL if "<" in text else cty.NUMBER)


@pytest.mark.parametrize("text", ["n + null", "null * n", "null < n", "n >= null", "-null"])
def test_null_is_an_error_beside_an_unknown(text: str) -> None:
    assert not evaluate(text)[1]


@pytest.mark.parametrize("text", ["1 % (1 / 0)", "(1 / 0) % 2", "(1 / 0) % (1 / 0)"])
def test_no_remainder_with_infinity(text: str) -> None:
    assert not evaluate(text)[1]


def test_a_wrong_operand_of_a_branch_not_taken_leaves_no_marks() -> None:
    assert evaluate("true ? 1 : [] * secret") == (cty.number(1), True)
    assert evaluate("true ? 1 : 1 * secret") == (cty.number(1).mark("secret"), True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[] && true && false", cty.FALSE),
        ("later && missing", SOME),
        ("[] || false || true", cty.TRUE),
    ],
)
def test_a_wrong_operand_does_not_count_where_another_decides(text: str, value: cty.Value) -> None:
    assert evaluate(text) == (value, True)


@pytest.mark.parametrize(
    "text", ["[] && false", "true && []", "[] && true && true", "later && [] && missing"]
)
def test_a_wrong_operand_is_an_error_beside_one_other(text: str) -> None:
    assert not evaluate(text)[1]

"""Functions written in the language."""

import pytest

from nigari.cty.types import DYNAMIC, NUMBER
from nigari.cty.values import Value, number, unknown
from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_body, parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.user_functions import decode_functions

FUNCTIONS = """
function "add" {
  params = [a, b]
  result = a + b
}
function "count" {
  params         = [first]
  variadic_param = more
  result         = [first, more]
}
function "down" {
  params = [n]
  result = n <= 0 ? 0 : down(n - 1)
}
function "forever" {
  params = []
  result = forever()
}
rest = 1
"""


def _call(expression: str) -> tuple[Value, list[str]]:
    diags = Diagnostics()
    names: dict[str, Value] = {"later": unknown(NUMBER), "secret": number(1).mark("sensitive")}
    scope = Scope(names, {})
    body = parse_body(Source("t.hcl", FUNCTIONS), diags)
    functions, rest = decode_functions(body, scope, diags)
    assert list(rest.just_attributes(diags)) == ["rest"]
    scope.functions = functions
    value = parse_expression(Source("e", expression), diags).value(scope, diags)
    return value, [found.detail for found in diags]


@pytest.mark.parametrize(
    ("expression", "want"),
    [
        ("add(1, 2)", 3),
        ("count(1)", [1, []]),
        ("count(1, 2, 3)", [1, [2, 3]]),
        ("down(50)", 0),
    ],
)
def test_calls(expression: str, want: object) -> None:
    value, details = _call(expression)
    assert not details
    assert value.to_python() == want


def test_unknown_and_marked_arguments() -> None:
    assert _call("add(later, 1)")[0].type is NUMBER
    assert not _call("add(later, 1)")[0].is_known
    assert _call("add(secret, 1)")[0] == number(2).mark("sensitive")


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        ("add(1)", "takes 2 arguments"),
        ('add(1, "x")', "t.hcl:4"),
        ("forever()", "calls of forever are nested more than"),
        ("add(null, 1)", "null"),
    ],
)
def test_failures(expression: str, part: str) -> None:
    value, (detail,) = _call(expression)
    assert value.type is DYNAMIC
    assert part in detail


@pytest.mark.parametrize(
    ("block", "summary"),
    [
        ('function "f" {\n params = []\n}', "Missing argument"),
        ('function "f" {\n params = 1\n result = 1\n}', "List required"),
        ('function "f" {\n params = ["a"]\n result = 1\n}', "Invalid parameter name"),
        ('function "f" {\n params = [a, a]\n result = 1\n}', "Duplicate parameter name"),
        (
            'function "f" {\n params = [a]\n variadic_param = a\n result = 1\n}',
            "Duplicate parameter name",
        ),
        (
            'function "f" {\n params = []\n result = 1\n}\n' * 2,
            "Duplicate function",
        ),
    ],
)
def test_wrong_definitions(block: str, summary: str) -> None:
    diags = Diagnostics()
    body = parse_body(Source("t.hcl", block), diags)
    decode_functions(body, Scope(), diags)
    assert [found.summary for found in diags] == [summary]

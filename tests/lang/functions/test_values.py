"""Functions about types, marks, failures and promises."""

import pytest

from nigari.cty.types import BOOL, DYNAMIC, NUMBER, STRING, ListType
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, list_value, null, string, unknown
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from tests.lang.functions.evaluation import failure_of, python_of, value_of

SOON = {"soon": unknown(STRING).with_causes(("later",)), "any": DYNAMIC_UNKNOWN}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("try(1, nope.x)", 1),
        ('try([][0], "x")', "x"),
        ('try(tonumber("a"), tobool("b"), "c")', "c"),
        ("can([1][0])", True),
        ("can([][0])", False),
        ('can(regex("a", "b"))', False),
        ("one([])", None),
        ('one(["a"])', "a"),
        ('one(toset(["a"]))', "a"),
        ('coalesce(null, "", "x")', "x"),
        ("coalesce(null, 0)", 0),
        ('lookup({ a = 1 }, "a")', 1),
        ('lookup({ a = 1 }, "b", "x")', "x"),
        ('lookup(tomap({ a = "1" }), "b", 2)', "2"),
        ('index(["a", "b"], "b")', 1),
        ('length("é😀")', 2),
        ('sum([1, "2", 3.5])', 6.5),
        ('transpose({ a = ["x", "y"], b = ["y"] })', {"x": ["a"], "y": ["a", "b"]}),
        ('matchkeys(["p", "q", "r"], ["a", "b", "a"], ["a"])', ["p", "r"]),
        ("alltrue([])", True),
        ("alltrue([true, null])", False),
        ("anytrue([])", False),
        ('startswith("abc", "ab")', True),
        ('strcontains("abc", "")', True),
        ('replace("a.b", ".", "-")', "a-b"),
        ('replace("hello", "/(l+)/", "<$1>")', "he<ll>o"),
        ('timecmp("2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00")', 0),
        ('convert("1", number)', 1),
        ('convert({}, object({ a = optional(string, "x") }))', {"a": "x"}),
        ("issensitive(sensitive(1))", True),
        ("issensitive(nonsensitive(sensitive(1)))", False),
        ("issensitive([sensitive(1)])", False),
        ("assumeequal(1, 1)", 1),
        ('assumestringprefix("abc", "a")', "abc"),
        ("assumelistlength([1, 2], 1, 3)", [1, 2]),
    ],
)
def test_call(text: str, wanted: object) -> None:
    assert python_of(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "try()",
        "try([][0], [][1])",
        "one([1, 2])",
        "one({})",
        'coalesce(null, "")',
        "coalesce()",
        'lookup({ a = 1 }, "b")',
        'lookup(["a"], 0)',
        'index([], "a")',
        'index(["a"], "b")',
        "length(1)",
        "sum([])",
        'sum(["a"])',
        "sum({ a = 1 })",
        "transpose({ a = null })",
        'matchkeys(["a"], [], [])',
        'list("a")',
        'map("a", "b")',
        'convert("a", number)',
        "convert(1, nope)",
        'convert(1, "string")',
        "assumeequal(1, 2)",
        "assumenotnull(null)",
        "assumenotnull(tostring(null))",
        'assumestringprefix("abc", "x")',
        "assumelistlengthmin([1], 2)",
        "assumesetlengthmax([1, 2], 1)",
    ],
)
def test_failing_call(text: str) -> None:
    assert failure_of(text)


def test_reasons_of_a_failed_attempt() -> None:
    message = failure_of('try(tonumber("a"), [][0])')
    assert "number" in message
    assert "index" in message


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("try(soon, 1)", DYNAMIC_UNKNOWN),
        ("try([soon], 1)", DYNAMIC_UNKNOWN),
        ("can(soon)", unknown(BOOL)),
        ("convert(any, string)", unknown(STRING)),
        ("tolist(any)", unknown(ListType(DYNAMIC))),
        ("length(any)", value_of("length(any)", SOON)),
    ],
)
def test_unknown_argument(text: str, wanted: Value) -> None:
    assert value_of(text, SOON) == wanted


def test_cause_of_an_unknown_result() -> None:
    for text in ("try(soon, 1)", "can(soon)", "try([soon], 1)", "upper(soon)", "length([soon])"):
        value = value_of(text, SOON)
        assert value.is_known or value.causes == ("later",), text


@pytest.mark.parametrize(
    ("begins", "asked", "wanted"),
    [("ab", "a", True), ("ab", "x", False), ("ab", "abc", None), ("", "", True), ("", "a", None)],
)
def test_beginning_of_an_unknown_string(begins: str, asked: str, wanted: bool | None) -> None:
    variables = {"soon": value_of(f'assumestringprefix(soon, "{begins}")', SOON)}
    value = value_of(f'startswith(soon, "{asked}")', variables)
    assert (value.as_bool() if value.is_known else None) == wanted


def test_ephemeral_as_null() -> None:
    secret = string("s").mark(EPHEMERAL, SENSITIVE)
    variables = {"both": list_value(STRING, [secret, string("plain")])}
    value = value_of("ephemeralasnull(both)", variables)
    assert value == list_value(STRING, [null(STRING).mark(SENSITIVE), string("plain")])


def test_assumed_value_hides_no_origin() -> None:
    variables = {"given": string("a").mark("from here", SENSITIVE)}
    assert value_of('assumeequal(given, "a")', variables) == string("a").mark("from here")
    assert value_of("assumeequal(soon, 1)", {"soon": unknown(NUMBER)}) == value_of("1")

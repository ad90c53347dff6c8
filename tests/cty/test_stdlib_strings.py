"""String functions and regular expressions of the standard library."""

import pytest

from nigari.cty.function import Function, FunctionError
from nigari.cty.refinements import Refinement, refine
from nigari.cty.stdlib import regular_expressions as regular
from nigari.cty.stdlib import string_lists, strings
from nigari.cty.types import DYNAMIC, NUMBER, STRING, ListType
from nigari.cty.values import (
    DYNAMIC_UNKNOWN,
    Value,
    list_value,
    null,
    number,
    object_value,
    string,
    tuple_value,
    unknown,
)

SOME_STRING = refine(unknown(STRING), Refinement(not_null=True))


def texts(*parts: str | None) -> Value:
    return list_value(STRING, [null(STRING) if part is None else string(part) for part in parts])


@pytest.mark.parametrize(
    ("function", "text", "wanted"),
    [
        (strings.UPPER, "aß\u0149\ufb01\u1fb3", "Aß\u0149\ufb01\u1fbc"),
        (strings.LOWER, "A\u0130\u0391\u03a3", "ai\u03b1\u03c3"),
        (strings.TITLE, "hello wOrld \u01c6 it's a-b o_k 1a", "Hello WOrld \u01c5 It'S A-B O_k 1a"),
        (strings.REVERSE, "abe\u0301", "\u00e9ba"),
        (strings.TRIM_SPACE, "\u00a0\u0085\x1f a \u3000\n", "\x1f a"),
        (strings.CHOMP, "a\n\r\n\r", "a"),
        (strings.CHOMP, "a\nb", "a\nb"),
    ],
)
def test_one_string(function: Function, text: str, wanted: str) -> None:
    assert function.call([string(text)]) == string(wanted)
    assert function.call([string(text).mark("m")]) == string(wanted).mark("m")
    assert function.call([unknown(STRING)]) == SOME_STRING


@pytest.mark.parametrize(
    ("offset", "length", "wanted"),
    [
        (0, 2, "ab"),
        (1, -1, "bcd"),
        (-2, 1, "c"),
        (-2, 0, "cd"),
        (-9, 2, "ab"),
        (1, 0, ""),
        (4, 1, ""),
        (9, 1, ""),
        (-(2**63), 3, "abc"),
    ],
)
def test_substr(offset: int, length: int, wanted: str) -> None:
    got = strings.SUBSTR.call([string("abcd"), number(offset), number(length)])
    assert got == string(wanted)


def test_strlen() -> None:
    assert strings.STRLEN.call([string("e\u0301\U0001f468\u200d\U0001f469")]) == number(2)
    at_least_two = Refinement(not_null=True, lower=(2, True))
    prefixed = refine(unknown(STRING), Refinement(prefix="ab"))
    assert strings.STRLEN.call([prefixed]) == refine(unknown(NUMBER), at_least_two)


@pytest.mark.parametrize(
    ("function", "second", "wanted"),
    [
        (strings.TRIM, "xy", "aya"),
        (strings.TRIM_PREFIX, "xx", "yayax"),
        (strings.TRIM_SUFFIX, "ax", "xxyay"),
        (strings.TRIM_SUFFIX, "", "xxyayax"),
    ],
)
def test_trimming(function: Function, second: str, wanted: str) -> None:
    assert function.call([string("xxyayax"), string(second)]) == string(wanted)


def test_indent() -> None:
    assert strings.INDENT.call([number(2), string("a\nb\n")]) == string("a\n  b\n  ")
    for spaces in (-1, 10**9):
        with pytest.raises(FunctionError):
            strings.INDENT.call([number(spaces), string("a\nb")])


def test_replace() -> None:
    got = strings.REPLACE.call([string("ab"), string(""), string("-")])
    assert got == string("-a-b-")


def test_join() -> None:
    comma = string(",")
    assert string_lists.JOIN.call([comma, texts("a", "b"), texts("c")]) == string("a,b,c")
    assert string_lists.JOIN.call([comma, texts()]) == string("")
    partly = list_value(STRING, [string("a"), unknown(STRING).with_causes(("why",))])
    got = string_lists.JOIN.call([comma, partly])
    assert got == SOME_STRING
    assert got.causes == ("why",)
    with pytest.raises(FunctionError) as caught:
        string_lists.JOIN.call([comma, texts("a"), texts(None)])
    assert caught.value.argument == 2
    with pytest.raises(FunctionError):
        string_lists.JOIN.call([comma])


@pytest.mark.parametrize(
    ("separator", "text", "wanted"),
    [
        (",", "a,b", ["a", "b"]),
        (",", "", [""]),
        ("", "ae\u0301", ["a", "\u00e9"]),
        ("", "", []),
        ("ab", "xabyab", ["x", "y", ""]),
    ],
)
def test_split(separator: str, text: str, wanted: list[str]) -> None:
    assert string_lists.SPLIT.call([string(separator), string(text)]) == texts(*wanted)


def test_sort_and_compact() -> None:
    assert string_lists.SORT.call([texts("b", "B", "a")]) == texts("B", "a", "b")
    assert string_lists.COMPACT.call([texts("a", "", None, "b")]) == texts("a", "b")
    with pytest.raises(FunctionError):
        string_lists.SORT.call([texts(None)])
    unsorted = list_value(STRING, [string("b"), unknown(STRING)])
    assert string_lists.SORT.call([unsorted]).length_int() == 2


@pytest.mark.parametrize(
    ("pattern", "text", "wanted"),
    [
        ("[a-z]+", "1abc", string("abc")),
        ("(a)(x)?", "a", tuple_value([string("a"), null(STRING)])),
        ("(?P<y>[0-9]{4})-(?P<m>.)", "2020-1", object_value({"y": string("2020"), "m": string("1")})),
        (r"\p{Letter}+", "1\u00e4b", string("\u00e4b")),
        ("a|ab", "ab", string("a")),
        ("(\\B)", "ab\u00e9", tuple_value([string("")])),
        ("(?P<a>x)(?P<a>y)", "xy", object_value({"a": string("y")})),
        ("(?P<a>x)|(?<a>y)", "x", object_value({"a": null(STRING)})),
        (r"(?P<a>[](\]x])\((?:y)\Q(\E(?P<b>z)(?P<a>w)", "x(y(zw", object_value({"a": string("w"), "b": string("z")})),
    ],
)  # fmt: skip
def test_regex(pattern: str, text: str, wanted: Value) -> None:
    assert regular.REGEX.call([string(pattern), string(text)]) == wanted


@pytest.mark.parametrize(
    "pattern", ["(", r"\C", "(?P<a>x)(y)", "(?P<a>x)(?P<a>y)()", "nomatch", "(?P<\u00e9>x)"]
)
def test_regex_that_fails(pattern: str) -> None:
    with pytest.raises(FunctionError):
        regular.REGEX.call([string(pattern), string("xy")])


@pytest.mark.parametrize(
    ("pattern", "text", "wanted"),
    [
        ("a*", "baac", ["", "aa", ""]),
        ("", "ab", ["", "", ""]),
        ("(?m)^.", "a\nb", ["a", "b"]),
        ("^a", "aa", ["a"]),
        ("x", "ab", []),
        (r"[\pL\d]{1000}", "ab", []),
        (r"\B", "bx\u00c9\U0001f600", ["", "", ""]),
        ("\\B|\u00c9", "x\u00c9\u00e9", ["\u00c9", ""]),
    ],
)
def test_regex_all(pattern: str, text: str, wanted: list[str]) -> None:
    assert regular.REGEX_ALL.call([string(pattern), string(text)]) == texts(*wanted)


def test_no_word_boundary_inside_a_character() -> None:
    with pytest.raises(FunctionError):
        regular.REGEX.call([string(r"\B"), string("a\u00e9a")])


def test_regex_of_unknown_pattern() -> None:
    assert regular.REGEX.call([unknown(STRING), string("a")]) == DYNAMIC_UNKNOWN
    got = regular.REGEX_ALL.call([unknown(STRING), string("a")])
    assert got == refine(unknown(ListType(DYNAMIC)), Refinement(not_null=True))


@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        ("$1", "-b-c"),
        ("$1x", "--c"),
        ("${1}x", "-bx-c"),
        ("$0$$", "-ab$-c"),
        ("${n}", "-b-c"),
        ("$9$", "-$-c"),
        ("${", "-${-c"),
    ],
)
def test_regex_replace(template: str, wanted: str) -> None:
    got = regular.REGEX_REPLACE.call([string("-ab-c"), string("a(?P<n>b)"), string(template)])
    assert got == string(wanted)


def test_many_matches_take_linear_time() -> None:
    text = string("a" * 100_000)
    got = regular.REGEX_ALL.call([string("a"), text])
    assert got.length_int() == 100_000

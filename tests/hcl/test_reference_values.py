"""What values are called in diagnostics."""

from __future__ import annotations

import pytest

from nigari.cty.refinements import Refinement, refine
from nigari.cty.types import DYNAMIC, NUMBER, STRING, ListType, MapType
from nigari.cty.values import (
    DYNAMIC_UNKNOWN,
    TRUE,
    Value,
    list_value,
    map_value,
    null,
    number,
    object_value,
    string,
    unknown,
)
from nigari.hcl.reference_values import value_text
from nigari.hcl.suggestion import listed
from nigari.lang.marks import EPHEMERAL, SENSITIVE, Deprecated


@pytest.mark.parametrize(
    ("value", "text", "in_full"),
    [
        (null(STRING), "is null", "is null"),
        (TRUE, "is true", "is true"),
        (number(5), "is 5", "is 5"),
        (string("a\nb"), r'is "a\nb"', r'is "a\nb"'),
        (list_value(STRING, []), "is empty list of string", "is empty list of string"),
        (Value.of(["a"]), "is tuple with 1 element", "is tuple with 1 element"),
        (
            map_value(NUMBER, {"a": number(1), "b": number(2)}),
            "is map of number with 2 elements",
            "is map of number with 2 elements",
        ),
        (object_value({}), "is object with no attributes", "is object with no attributes"),
        (
            object_value({"a": TRUE}),
            'is object with 1 attribute "a"',
            'is object with 1 attribute "a"',
        ),
        (DYNAMIC_UNKNOWN, "", "is known only after apply"),
        (unknown(STRING), "is a string", "is a string, known only after apply"),
        (
            unknown(MapType(DYNAMIC)),
            "is a map of anything",
            "is a map of anything, known only after apply",
        ),
        (string("s").mark(SENSITIVE), "", "has a sensitive value"),
        (string("s").mark(EPHEMERAL), "", "has an ephemeral value"),
        (string("s").mark("anything else"), "", "has a sensitive value"),
        (string("s").mark(Deprecated("old", "a.b")), 'is "s"', 'is "s"'),
    ],
)
def test_value_text(value: Value, text: str, in_full: str) -> None:
    assert value_text(value) == text
    assert value_text(value, sensitive=True, unknowns=True) == in_full


@pytest.mark.parametrize(
    ("least", "most", "text"),
    [
        (2, 2, "is a list of string of length 2, known only after apply"),
        (1, 3, "is a list of string with 1 to 3 elements, known only after apply"),
        (1, -1, "is a list of string with at least 1 element, known only after apply"),
        (0, 3, "is a list of string with up to 3 elements, known only after apply"),
        (0, 100_000, "is a list of string, known only after apply"),
    ],
)
def test_lengths(least: int, most: int, text: str) -> None:
    bounds = Refinement(min_length=least, max_length=most)
    assert value_text(refine(unknown(ListType(STRING)), bounds), unknowns=True) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, ""), (1, "n0"), (2, "n0 and n1"), (3, "n0, n1 and n2")],
)
def test_listed(count: int, text: str) -> None:
    assert listed([f"n{i}" for i in range(count)]) == text


def test_a_long_list_is_cut() -> None:
    assert listed([str(i) for i in range(100)]).endswith(", 7 and 92 more")

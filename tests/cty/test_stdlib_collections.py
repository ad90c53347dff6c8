"""Functions of lists, tuples, maps, objects and sets."""

import pytest

from nigari.cty.function import Function, FunctionError
from nigari.cty.refinements import Refinement, refine
from nigari.cty.stdlib import collections, general, mappings, sequences, sets
from nigari.cty.stdlib.buffers import BYTES, BYTES_LEN, BYTES_SLICE
from nigari.cty.types import BOOL, DYNAMIC, NUMBER, STRING, ListType, MapType, SetType
from nigari.cty.values import (
    DYNAMIC_NULL,
    DYNAMIC_UNKNOWN,
    EMPTY_OBJECT,
    EMPTY_TUPLE,
    FALSE,
    TRUE,
    Value,
    capsule_value,
    list_value,
    map_value,
    null,
    number,
    object_value,
    set_value,
    string,
    tuple_value,
    unknown,
)
from tests.limits import costs_little

A, B, C = string("a"), string("b"), string("c")
N0, N1, N2 = number(0), number(1), number(2)
SOME_BOOL = refine(unknown(BOOL), Refinement(not_null=True))


def texts(*parts: str) -> Value:
    return list_value(STRING, [string(part) for part in parts])


def letters(*parts: str) -> Value:
    return set_value(STRING, [string(part) for part in parts])


@pytest.mark.parametrize(
    ("function", "args", "wanted"),
    [
        pytest.param(sequences.CONCAT, [texts("a"), texts("b")], texts("a", "b"), id="lists"),
        pytest.param(
            sequences.CONCAT,
            [texts("a"), list_value(NUMBER, [N1])],
            texts("a", "1"),
            id="lists of compatible types",
        ),
        pytest.param(
            sequences.CONCAT, [texts("a"), tuple_value([N1])], tuple_value([A, N1]), id="tuple"
        ),
        pytest.param(
            sequences.CONCAT,
            [texts("a").mark("m"), list_value(STRING, [B.mark("n")])],
            list_value(STRING, [A, B.mark("n")]).mark("m"),
            id="marks stay where they are",
        ),
        pytest.param(sequences.RANGE, [number(3)], list_value(NUMBER, [N0, N1, N2]), id="range"),
        pytest.param(sequences.RANGE, [N2, N0], list_value(NUMBER, [N2, N1]), id="range down"),
        pytest.param(
            sequences.RANGE, [N1, N1, N0], list_value(NUMBER, []), id="empty range of any step"
        ),
        pytest.param(sequences.ELEMENT, [texts("a", "b"), number(3)], B, id="element wraps"),
        pytest.param(sequences.ELEMENT, [texts("a", "b"), number(-1)], B, id="element from end"),
        pytest.param(
            sequences.REVERSE_LIST, [tuple_value([A, N1])], tuple_value([N1, A]), id="reverse"
        ),
        pytest.param(
            sequences.REVERSE_LIST, [letters("a", "b")], texts("b", "a"), id="reversed set"
        ),
        pytest.param(sequences.SLICE, [texts("a", "b", "c"), N1, N2], texts("b"), id="slice"),
        pytest.param(
            sequences.SLICE, [tuple_value([A, N1]), N0, N1], tuple_value([A]), id="slice of tuple"
        ),
        pytest.param(
            sequences.CHUNK_LIST,
            [texts("a", "b", "c"), N2],
            list_value(ListType(STRING), [texts("a", "b"), texts("c")]),
            id="chunks",
        ),
        pytest.param(
            sequences.CHUNK_LIST,
            [texts("a", "b"), N0],
            list_value(ListType(STRING), [texts("a", "b")]),
            id="one chunk",
        ),
        pytest.param(sequences.DISTINCT, [texts("b", "a", "b")], texts("b", "a"), id="distinct"),
        pytest.param(
            sequences.FLATTEN,
            [tuple_value([A, texts("b"), tuple_value([EMPTY_TUPLE, letters("c")])])],
            tuple_value([A, B, C]),
            id="flatten",
        ),
        pytest.param(
            sequences.FLATTEN, [tuple_value([A, unknown(ListType(STRING))])], DYNAMIC_UNKNOWN, id="unknown"
        ),
        pytest.param(sequences.COALESCE_LIST, [texts(), texts("a")], texts("a"), id="first list"),
        pytest.param(mappings.KEYS, [map_value(STRING, {"b": A, "a": A})], texts("a", "b"), id="keys"),
        pytest.param(
            mappings.KEYS, [unknown(object_value({"a": N1}).type)], tuple_value([A]), id="of a type"
        ),
        pytest.param(
            mappings.VALUES, [object_value({"b": A, "a": N1})], tuple_value([N1, A]), id="values"
        ),
        pytest.param(
            mappings.LOOKUP, [map_value(NUMBER, {"a": N1}), A, N2], N1, id="lookup"
        ),
        pytest.param(
            mappings.LOOKUP, [map_value(STRING, {"a": A}), B, N2], string("2"), id="default"
        ),
        pytest.param(
            mappings.MERGE,
            [object_value({"a": A}), map_value(STRING, {"b": B})],
            object_value({"a": A, "b": B}),
            id="merge",
        ),
        pytest.param(mappings.MERGE, [], EMPTY_OBJECT, id="merge nothing"),
        pytest.param(mappings.MERGE, [DYNAMIC_NULL], EMPTY_OBJECT, id="merge null"),
        pytest.param(
            mappings.MERGE, [null(object_value({"a": A}).type)], EMPTY_OBJECT, id="merge null object"
        ),
        pytest.param(
            mappings.ZIPMAP, [texts("a", "b"), list_value(NUMBER, [N1, N2])],
            map_value(NUMBER, {"a": N1, "b": N2}), id="zipmap",
        ),
        pytest.param(
            mappings.ZIPMAP, [texts("a", "b"), tuple_value([N1, A])],
            object_value({"a": N1, "b": A}), id="zipmap of tuple",
        ),
        pytest.param(collections.CONTAINS, [texts("a"), A], TRUE, id="contains"),
        pytest.param(collections.CONTAINS, [tuple_value([N1, A]), B], FALSE, id="does not"),
        pytest.param(collections.CONTAINS, [texts("a"), DYNAMIC_NULL], FALSE, id="no null"),
        pytest.param(
            collections.CONTAINS,
            [list_value(STRING, [A, null(STRING)]), DYNAMIC_NULL],
            TRUE,
            id="contains null",
        ),
        pytest.param(
            collections.CONTAINS, [tuple_value([unknown(STRING)]), B], SOME_BOOL, id="may contain"
        ),
        pytest.param(
            collections.SET_PRODUCT,
            [texts("a", "b"), tuple_value([N1])],
            list_value(
                tuple_value([A, N1]).type, [tuple_value([A, N1]), tuple_value([B, N1])]
            ),
            id="product",
        ),
        pytest.param(sets.SET_UNION, [letters("b"), letters("a")], letters("a", "b"), id="union"),
        pytest.param(
            sets.SET_INTERSECTION, [letters("a", "b"), letters("b", "c")], letters("b"), id="both"
        ),
        pytest.param(
            sets.SET_SUBTRACT, [letters("a", "b"), letters("b", "c")], letters("a"), id="minus"
        ),
        pytest.param(
            sets.SET_SYMMETRIC_DIFFERENCE,
            [letters("a", "b"), letters("b", "c")],
            letters("a", "c"),
            id="either",
        ),
        pytest.param(
            sets.SET_UNION, [letters("a"), set_value(NUMBER, [N1])], letters("1", "a"), id="converted"
        ),
        pytest.param(sets.SET_HAS_ELEMENT, [letters("a"), A], TRUE, id="has element"),
        pytest.param(general.COALESCE, [null(STRING), N1], string("1"), id="coalesce"),
        pytest.param(general.COALESCE, [unknown(STRING), A], refine(unknown(STRING), Refinement(not_null=True)), id="unknown first"),
        pytest.param(general.EQUAL, [A, A], TRUE, id="equal"),
        pytest.param(general.NOT_EQUAL, [A, B.mark("m")], TRUE.mark("m"), id="not equal"),
        pytest.param(general.ASSERT_NOT_NULL, [A], A, id="not null"),
    ],
)  # fmt: skip
def test_results(function: Function, args: list[Value], wanted: Value) -> None:
    assert function.call(args) == wanted


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (sequences.CONCAT, []),
        (sequences.CONCAT, [A]),
        (sequences.RANGE, [N0, N1, N0]),
        (sequences.RANGE, [N0, N2, number(-1)]),
        (sequences.RANGE, [number(2000)]),
        (sequences.ELEMENT, [EMPTY_TUPLE, N0]),
        (sequences.ELEMENT, [texts("a"), number("0.5")]),
        (sequences.SLICE, [letters("a"), N0, N1]),
        (sequences.SLICE, [texts("a"), N0, N2]),
        (sequences.SLICE, [texts("a"), N1, N0]),
        (sequences.CHUNK_LIST, [texts("a"), number(-1)]),
        (sequences.FLATTEN, [A]),
        (sequences.COALESCE_LIST, [texts()]),
        (mappings.KEYS, [A]),
        (mappings.LOOKUP, [map_value(NUMBER, {}), A, string("x")]),
        (mappings.MERGE, [A]),
        (mappings.ZIPMAP, [texts("a"), tuple_value([])]),
        (collections.INDEX, [texts("a"), N1]),
        (collections.LENGTH, [A]),
        (collections.CONTAINS, [A, A]),
        (collections.SET_PRODUCT, [texts("a")]),
        (sets.SET_UNION, [letters("a"), set_value(EMPTY_TUPLE.type, [])]),
        (general.COALESCE, [null(STRING)]),
        (general.COALESCE, [A, EMPTY_TUPLE]),
        (general.ASSERT_NOT_NULL, [null(STRING)]),
    ],
)
def test_errors(function: Function, args: list[Value]) -> None:
    with pytest.raises(FunctionError):
        function.call(args)


def test_conversion_functions() -> None:
    to_numbers = general.to_type(ListType(NUMBER))
    assert to_numbers.call([tuple_value([string("1")])]) == list_value(NUMBER, [N1])
    assert to_numbers.call([DYNAMIC_NULL]) == null(ListType(NUMBER))
    assert general.to_type(SetType(DYNAMIC)).call([texts("a", "a")]) == letters("a")
    for argument in (tuple_value([A]), A):
        with pytest.raises(FunctionError) as caught:
            to_numbers.call([argument])
        assert caught.value.argument == 0


def test_product_of_unknown_length_is_bounded() -> None:
    two = refine(unknown(ListType(STRING)), Refinement(not_null=True, max_length=2))
    got = collections.SET_PRODUCT.call([two, texts("a", "b", "c")])
    assert (got.refinements.min_length, got.refinements.max_length) == (1, 6)


def test_too_large_a_product() -> None:
    long = list_value(NUMBER, [N1] * 10_000)
    with pytest.raises(FunctionError):
        collections.SET_PRODUCT.call([long, long])


def test_bytes() -> None:
    buffer = capsule_value(BYTES, b"abc")
    assert BYTES_LEN.call([buffer]) == number(3)
    assert BYTES_SLICE.call([buffer, N1, N1]) == capsule_value(BYTES, b"b")
    with pytest.raises(FunctionError):
        BYTES_SLICE.call([buffer, N2, N2])


def test_merge_of_many_unknowns_is_quick_and_keeps_few_causes() -> None:
    unknowns = [unknown(MapType(STRING)).with_causes((i,)) for i in range(10_000)]
    with costs_little():
        got = mappings.MERGE.call(unknowns)
    assert got.causes == (0, 1, 2, 3)

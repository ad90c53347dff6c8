"""Results of functions whose element type only the elements tell, and texts that are no UTF-8."""

import pytest

from nigari import cty
from nigari.cty.function import Function, FunctionError
from nigari.cty.stdlib import format as formats
from nigari.cty.stdlib import regular_expressions, sequences, sets, strings
from nigari.cty.types import DYNAMIC, STRING, ListType, ObjectType, SetType, TupleType

NOTHING = cty.list_value(DYNAMIC, [])
BYTE = "\udce9"


def set_of_tuples(*elements: cty.Value) -> cty.Value:
    return cty.set_value(TupleType(()), elements)


def test_an_empty_list_of_anything_takes_the_type_of_the_others() -> None:
    objects = cty.list_value(ObjectType({}), [cty.EMPTY_OBJECT])
    assert sequences.CONCAT.call([objects, NOTHING]) == objects
    assert sequences.CONCAT.call([NOTHING, NOTHING]).type == ListType(DYNAMIC)


def test_elements_that_do_not_agree_are_an_error() -> None:
    mixed = [set_of_tuples(cty.EMPTY_TUPLE), cty.set_value(DYNAMIC, [cty.null(DYNAMIC)])]
    assert sets.SET_UNION.call(mixed).type == SetType(TupleType(()))
    lists = [
        cty.list_value(ObjectType({}), [cty.EMPTY_OBJECT]),
        cty.list_value(TupleType(()), [cty.EMPTY_TUPLE]),
        NOTHING,
    ]
    assert sequences.CONCAT.call(lists).type == TupleType((ObjectType({}), TupleType(())))


@pytest.mark.parametrize(
    ("function", "args", "text"),
    [
        (strings.UPPER, [f"a{BYTE}"], "A\ufffd"),
        (strings.LOWER, [f"A{BYTE}"], "a\ufffd"),
        (strings.TITLE, [f"a{BYTE}"], "A\ufffd"),
        (regular_expressions.REGEX, [".$", f"a{BYTE}"], BYTE),
        (regular_expressions.REGEX_REPLACE, [f"a{BYTE}b", "(.)b", "$1$1"], f"a{BYTE}{BYTE}"),
    ],
)
def test_bytes_that_are_not_utf8(function: Function, args: list[str], text: str) -> None:
    assert function.call([cty.string(arg) for arg in args]) == cty.string(text)


def test_a_pattern_must_be_utf8() -> None:
    with pytest.raises(FunctionError, match="not UTF-8"):
        regular_expressions.REGEX.call([cty.string(BYTE), cty.string("a")])


def test_a_format_that_nothing_is_written_with_is_not_looked_at() -> None:
    args = [cty.string("%"), cty.unknown(STRING)]
    assert not formats.FORMAT_LIST.call(args).is_wholly_known

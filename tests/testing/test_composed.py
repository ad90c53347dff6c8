"""Values that are made up: the rules of OpenTofu, and its very texts."""

from __future__ import annotations

from itertools import islice

import pytest

from nigari import cty
from nigari.cty.values import Value
from nigari.providers import api
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.schema.placeholders import empty_block
from nigari.testing.composed import compose
from nigari.testing.random_texts import texts_for

_TEXT = cty.STRING
_INNER = Block({"key": Attribute(_TEXT, required=True), "code": Attribute(_TEXT, computed=True)})
_BLOCK = Block(
    {
        "need": Attribute(_TEXT, required=True),
        "may": Attribute(_TEXT, optional=True),
        "both": Attribute(_TEXT, optional=True, computed=True),
        "made": Attribute(_TEXT, computed=True),
        "count": Attribute(cty.NUMBER, computed=True),
        "list": Attribute(cty.ListType(_TEXT), computed=True),
        "pair": Attribute(cty.ObjectType({"b": _TEXT, "a": cty.BOOL}), computed=True),
        "hush": Attribute(_TEXT, optional=True, write_only=True),
    },
    {"row": NestedBlock(_INNER, Nesting.LIST), "only": NestedBlock(_INNER, Nesting.SINGLE)},
)


def _config(**values: Value) -> Value:
    return cty.object_value({**empty_block(_BLOCK).mapping(), **values})


def _given(**values: object) -> dict[str, Value]:
    return {name: Value.of(value) for name, value in values.items()}


@pytest.mark.parametrize(
    ("type_name", "texts"),
    [
        ("test_resource", ["n3cbxud", "NUpDw", "v4F6wJiAA", "9pD77cmZoVN"]),
        ("aws_instance", ["QwnkgeH", "eFkNnqw", "JSPSTcOg3QOiv", "A6FF"]),
        ("x", ["Vrq3LSfNr", "kc973AU1TFa8WWT", "tvI1", "wnxjlBI"]),
    ],
)
def test_texts(type_name: str, texts: list[str]) -> None:
    """As Go's generator gives them for the hash of the type."""
    assert list(islice(texts_for(type_name), 4)) == texts


def test_what_is_made_up() -> None:
    value, told = compose("x", _BLOCK, _config(need=cty.string("n")), {})
    assert told == ()
    assert value is not None
    assert value.to_python() == {
        "need": "n",
        "may": None,
        "both": "Vrq3LSfNr",
        "made": "kc973AU1TFa8WWT",
        "count": 0,
        "list": [],
        "pair": {"a": False, "b": "tvI1"},
        "hush": None,
        "row": [],
        "only": None,
    }


def test_blocks_get_what_is_given_one_by_one() -> None:
    row = cty.list_value(
        _INNER.implied_type,
        [cty.object_value({"key": cty.string(key), "code": cty.null(_TEXT)}) for key in ("a", "b")],
    )
    config = _config(need=cty.string("n"), row=row)
    value, told = compose("x", _BLOCK, config, _given(row={"code": "c"}, made="m", both="b"))
    assert told == ()
    assert value is not None
    assert value.attribute("row").to_python() == [
        {"key": "a", "code": "c"},
        {"key": "b", "code": "c"},
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"need": "x"},
        {"may": "x"},
        {"made": ["x"]},
        {"nothing": "x"},
        {"row": "x"},
        {"only": {"code": "x"}},
    ],
)
def test_what_cannot_be_given(given: dict[str, object]) -> None:
    value, told = compose("x", _BLOCK, _config(need=cty.string("n")), _given(**given))
    assert value is None
    assert api.has_errors(told)


def test_a_write_only_attribute_is_null_whatever_is_given() -> None:
    _, told = compose("x", _BLOCK, _config(need=cty.string("n")), _given(hush="x"))
    assert [each.severity.value for each in told] == ["error", "warning"]

"""What a provider may plan, and what it may give back."""

from __future__ import annotations

from typing import Any

import pytest

from nigari import cty
from nigari.cty.refinements import Refinement, refine
from nigari.plan.objects.provider_checks import plan_faults, result_faults
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting

_BLOCK = Block(
    {
        "arg": Attribute(cty.STRING, optional=True),
        "res": Attribute(cty.STRING, computed=True),
        "both": Attribute(cty.STRING, optional=True, computed=True),
    },
    {"b": NestedBlock(Block({"x": Attribute(cty.STRING, optional=True)}), Nesting.LIST)},
)


def _value(*blocks: str, **given: str | None) -> cty.Value:
    values: dict[str, cty.Value] = {}
    for name in _BLOCK.attributes:
        text = given.get(name)
        values[name] = cty.null(cty.STRING) if text is None else cty.string(text)
        if text == "?":
            values[name] = cty.unknown(cty.STRING)
    inner = [cty.object_value({"x": cty.string(each)}) for each in blocks]
    values["b"] = cty.list_value(_BLOCK.blocks["b"].block.implied_type, inner)
    return cty.object_value(values)


_NOTHING = cty.null(_BLOCK.implied_type)


@pytest.mark.parametrize(
    ("prior", "config", "planned", "faulty"),
    [
        pytest.param(_NOTHING, _value(arg="a"), _value(arg="a", res="?"), [], id="as configured"),
        pytest.param(_NOTHING, _value(arg="a"), _value(arg="b"), [".arg"], id="another value"),
        pytest.param(_NOTHING, _value(), _value(arg="b"), [".arg"], id="set though unset"),
        pytest.param(_NOTHING, _value(), _value(both="b"), [], id="computed though unset"),
        pytest.param(_NOTHING, _value(both="a"), _value(both="b"), [".both"], id="overruled"),
        pytest.param(
            _value(arg="a"), _value(arg="A"), _value(arg="a"), [], id="the prior value is as good"
        ),
        pytest.param(_NOTHING, _value("k"), _value(), [".b"], id="block left out"),
        pytest.param(_NOTHING, _value("k"), _value("l"), [".b[0].x"], id="block changed"),
        pytest.param(_NOTHING, _value(), _NOTHING, [""], id="nothing"),
    ],
)
def test_plan(prior: cty.Value, config: cty.Value, planned: cty.Value, faulty: list[str]) -> None:
    found = plan_faults(_BLOCK, prior, config, planned)
    assert [cty.path_text(fault.path) for fault in found] == faulty


@pytest.mark.parametrize(
    ("planned", "actual", "faulty"),
    [
        pytest.param(_value(arg="a", res="?"), _value(arg="a", res="r"), [], id="unknown filled"),
        pytest.param(_value(arg="a"), _value(arg="b"), [".arg"], id="another value"),
        pytest.param(_value(arg="a"), _value(), [".arg"], id="gone"),
        pytest.param(_value("k"), _value("k", "l"), [".b"], id="one more block"),
    ],
)
def test_result(planned: cty.Value, actual: cty.Value, faulty: list[str]) -> None:
    found = result_faults(_BLOCK, planned, actual)
    assert [cty.path_text(fault.path) for fault in found] == faulty


_ITEM = NestedAttributes({"x": Attribute(cty.STRING, optional=True)}, Nesting.SET)
_LISTED = NestedAttributes({"x": Attribute(cty.STRING, optional=True)}, Nesting.LIST)
_SINGLE = NestedAttributes({"x": Attribute(cty.STRING, optional=True)})


def _items(kind: NestedAttributes, *texts: str) -> cty.Value:
    """Objects with these texts, of which "?" stands for one that is not known."""
    inner = [
        cty.object_value({"x": cty.unknown(cty.STRING) if each == "?" else cty.string(each)})
        for each in texts
    ]
    if kind is _SINGLE:
        return inner[0]
    element = cty.ObjectType({"x": cty.STRING})
    make = cty.set_value if kind is _ITEM else cty.list_value
    return make(element, inner)


@pytest.mark.parametrize(
    ("kind", "config", "planned", "is_faulty"),
    [
        pytest.param(_ITEM, _items(_ITEM, "a"), _items(_ITEM, "b"), False, id="other objects"),
        pytest.param(_ITEM, _items(_ITEM, "a"), _items(_ITEM), True, id="fewer objects"),
        pytest.param(_ITEM, _items(_ITEM, "a"), _items(_ITEM, "?", "b"), False, id="may be one"),
        pytest.param(_ITEM, _items(_ITEM, "?", "a"), _items(_ITEM), True, id="cannot be none"),
        pytest.param(
            _LISTED, cty.unknown(_LISTED.implied_type), _items(_LISTED, "a"), True, id="how many"
        ),
        pytest.param(
            _SINGLE, cty.unknown(_SINGLE.implied_type), _items(_SINGLE, "a"), True, id="which"
        ),
        pytest.param(
            _SINGLE, cty.unknown(_SINGLE.implied_type), _items(_SINGLE, "?"), False, id="unknown"
        ),
    ],
)
def test_planned_nested_attributes(
    kind: NestedAttributes, config: cty.Value, planned: cty.Value, is_faulty: bool
) -> None:
    block = Block({"n": Attribute(nested=kind, optional=True)})
    values = [cty.object_value({"n": each}) for each in (config, planned)]
    assert bool(plan_faults(block, cty.null(block.implied_type), *values)) is is_faulty


_STRINGS = cty.SetType(cty.STRING)


@pytest.mark.parametrize(
    ("planned", "actual", "is_faulty"),
    [
        pytest.param(["a", "b"], ["a", "c"], True, id="another element"),
        pytest.param(["a", "?"], ["a", "c"], False, id="an unknown one"),
        pytest.param(["a", "?"], ["a"], False, id="the unknown one was the same"),
        pytest.param(["a", "?"], ["c"], True, id="a known one is gone"),
        pytest.param(["?"], ["a", "b"], True, id="more than planned"),
    ],
)
@pytest.mark.parametrize("as_blocks", [False, True])
def test_sets_in_results(
    planned: list[str], actual: list[str], is_faulty: bool, as_blocks: bool
) -> None:
    inner = Block({"x": Attribute(cty.STRING, optional=True)})
    block = Block({"s": Attribute(_STRINGS, optional=True)})
    if as_blocks:
        block = Block({}, {"s": NestedBlock(inner, Nesting.SET)})

    def holder(texts: list[str]) -> cty.Value:
        strings = [cty.unknown(cty.STRING) if t == "?" else cty.string(t) for t in texts]
        if as_blocks:
            objects = [cty.object_value({"x": each}) for each in strings]
            return cty.object_value({"s": cty.set_value(inner.implied_type, objects)})
        return cty.object_value({"s": cty.set_value(cty.STRING, strings)})

    assert bool(result_faults(block, holder(planned), holder(actual))) is is_faulty


@pytest.mark.parametrize(
    ("planned", "actual", "is_faulty"),
    [
        pytest.param({"prefix": "ab"}, cty.string("abc"), False, id="as was promised"),
        pytest.param({"prefix": "ab"}, cty.string("x"), True, id="another beginning"),
        pytest.param({"not_null": True}, cty.null(cty.STRING), True, id="null"),
    ],
)
def test_promises_of_unknown_values(
    planned: dict[str, Any], actual: cty.Value, is_faulty: bool
) -> None:
    block = Block({"a": Attribute(cty.STRING, computed=True)})
    refined = refine(cty.unknown(cty.STRING), Refinement(**planned))
    before, after = cty.object_value({"a": refined}), cty.object_value({"a": actual})
    assert bool(result_faults(block, before, after)) is is_faulty


def test_result_of_another_type() -> None:
    block = Block({"a": Attribute(cty.DYNAMIC, computed=True)})
    planned = cty.object_value({"a": cty.unknown(cty.STRING)})
    actual = cty.object_value({"a": cty.number(1)})
    assert [cty.path_text(fault.path) for fault in result_faults(block, planned, actual)] == [".a"]


def test_null_for_no_blocks_is_no_fault_of_a_result() -> None:
    nothing = cty.null(_value().attribute("b").type)
    actual = cty.object_value({**_value(arg="a").mapping(), "b": nothing})
    assert result_faults(_BLOCK, _value(arg="a"), actual) == []

"""What a provider may plan, and what it may give back."""

from __future__ import annotations

import pytest

from nigari import cty
from nigari.plan.provider_checks import plan_faults, result_faults
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting

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
    found = result_faults(planned, actual)
    assert [cty.path_text(fault.path) for fault in found] == faulty

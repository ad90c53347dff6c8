"""What a provider is asked to plan, from the configuration and the prior object."""

from __future__ import annotations

import pytest

from nigari import cty
from nigari.plan.objects.proposed_object import planned_unknown, proposed_new
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting

_INNER = Block(
    {
        "given": Attribute(cty.STRING, optional=True),
        "found": Attribute(cty.STRING, computed=True),
        "either": Attribute(cty.STRING, optional=True, computed=True),
    }
)


def _with(nesting: Nesting) -> Block:
    return Block(_INNER.attributes, {"b": NestedBlock(_INNER, nesting)})


def _object(given: str | None, found: str | None = None, either: str | None = None) -> cty.Value:
    values = {"given": given, "found": found, "either": either}
    return cty.object_value(
        {
            name: cty.null(cty.STRING) if text is None else cty.string(text)
            for name, text in values.items()
        }
    )


def _holder(blocks: cty.Value) -> cty.Value:
    return cty.object_value({**_object("g").mapping(), "b": blocks})


@pytest.mark.parametrize(
    ("prior", "config", "proposed"),
    [
        pytest.param(None, _object("x"), _object("x"), id="new"),
        pytest.param(
            _object("x", "f", "e"), _object("y"), _object("y", "f", "e"), id="computed stays"
        ),
        pytest.param(
            _object("x", "f", "e"), _object("y", either="z"), _object("y", "f", "z"), id="set wins"
        ),
        pytest.param(_object("x", "f", "e"), _object(None), _object(None, "f", "e"), id="unset"),
    ],
)
def test_attributes(prior: cty.Value | None, config: cty.Value, proposed: cty.Value) -> None:
    before = cty.null(_INNER.implied_type) if prior is None else prior
    assert proposed_new(_INNER, before, config) == proposed


def test_blocks_of_a_list_are_paired_by_position() -> None:
    block = _with(Nesting.LIST)
    element = _INNER.implied_type
    prior = _holder(cty.list_value(element, [_object("a", "1"), _object("b", "2")]))
    config = _holder(cty.list_value(element, [_object("b"), _object("c"), _object("d")]))
    blocks = proposed_new(block, prior, config).attribute("b").sequence()
    assert blocks == (_object("b", "1"), _object("c", "2"), _object("d"))


def test_blocks_of_a_set_are_paired_by_what_is_configured() -> None:
    block = _with(Nesting.SET)
    element = _INNER.implied_type
    prior = _holder(cty.set_value(element, [_object("a", "1"), _object("b", "2")]))
    config = _holder(cty.set_value(element, [_object("b"), _object("c")]))
    blocks = proposed_new(block, prior, config).attribute("b").sequence()
    assert set(blocks) == {_object("b", "2"), _object("c")}


def test_blocks_of_a_map_are_paired_by_key() -> None:
    block = _with(Nesting.MAP)
    element = _INNER.implied_type
    prior = _holder(cty.map_value(element, {"k": _object("a", "1")}))
    config = _holder(cty.map_value(element, {"k": _object("z"), "l": _object("y")}))
    blocks = proposed_new(block, prior, config).attribute("b").mapping()
    assert blocks == {"k": _object("z", "1"), "l": _object("y")}


def test_data_that_is_not_read_yet_is_unknown_where_nothing_is_set() -> None:
    planned = planned_unknown(_INNER, _object("x"))
    assert planned.attribute("given") == cty.string("x")
    assert not planned.attribute("found").is_known
    assert not planned.attribute("either").is_known


@pytest.mark.parametrize(
    ("configured", "found"),
    [
        pytest.param(None, None, id="a set that only the provider has"),
        pytest.param(["x"], ["x"], id="the same set"),
    ],
)
def test_sets_inside_elements_of_a_set_must_be_the_same(
    configured: list[str] | None, found: list[str] | None
) -> None:
    inner = Block(
        {
            "names": Attribute(cty.SetType(cty.STRING), optional=True, computed=True),
            "id": Attribute(cty.STRING, computed=True),
        }
    )
    block = Block({}, {"b": NestedBlock(inner, Nesting.SET)})

    def holder(names: list[str] | None, id_: str | None) -> cty.Value:
        element = cty.object_value(
            {
                "names": cty.null(cty.SetType(cty.STRING))
                if names is None
                else cty.set_value(cty.STRING, [cty.string(each) for each in names]),
                "id": cty.null(cty.STRING) if id_ is None else cty.string(id_),
            }
        )
        return cty.object_value({"b": cty.set_value(element.type, [element])})

    proposed = proposed_new(block, holder(["x"], "i"), holder(configured, None))
    assert proposed == holder(found, None if configured is None else "i")

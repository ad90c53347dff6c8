"""Minimal refresh: only what would change is read, with what it depends on."""

from __future__ import annotations

import pytest

from nigari.events import Event
from tests.plan.meters import World, changes, refreshed, session, world

__all__ = ["world"]

_STORED = {
    "gauge_meter.base",
    'gauge_meter.each["p"]',
    'gauge_meter.each["q"]',
    "gauge_meter.middle",
    "gauge_meter.end",
    "gauge_meter.alone",
}
_CHAIN = {"gauge_meter.base", "gauge_meter.middle", "gauge_meter.end"}


@pytest.mark.parametrize(
    ("variables", "read"),
    [
        ({}, set()),
        ({"end": "y"}, _CHAIN),
        ({"names": ["p", "q", "r"]}, set()),
        ({"names": ["p"]}, {'gauge_meter.each["q"]'}),
        ({"names": ["p"], "end": "y"}, {*_CHAIN, 'gauge_meter.each["q"]'}),
    ],
)
def test_an_unchanged_world_has_the_same_plan_with_fewer_reads(
    world: World, variables: dict[str, object], read: set[str]
) -> None:
    events: list[Event] = []
    minimal = session(variables).plan(minimal_refresh=True, listen=events.append)
    assert refreshed(events) == read
    assert len(world.read) == len(read)
    assert changes(minimal) == changes(session(variables).plan())


def test_an_object_named_for_replacement_is_read(world: World) -> None:
    events: list[Event] = []
    plan = session({}).plan(
        minimal_refresh=True, replace=["gauge_meter.alone"], listen=events.append
    )
    assert refreshed(events) == {"gauge_meter.alone"}
    assert [each.action for each in plan.changes] == ["replace"]


def test_drift_of_what_a_change_depends_on_is_planned_with(world: World) -> None:
    world.readings["base"] = 40
    events: list[Event] = []
    plan = session({"end": "y"}).plan(minimal_refresh=True, listen=events.append)
    assert refreshed(events) == _CHAIN
    full = session({"end": "y"}).plan()
    assert changes(plan) == changes(full)
    assert {each.address for each in plan.changes} == {"gauge_meter.middle", "gauge_meter.end"}


def test_drift_that_no_change_depends_on_stays_unseen_until_a_full_refresh(world: World) -> None:
    world.readings["alone"] = 40
    assert not session({}).plan(minimal_refresh=True).drift
    assert session({}).plan().drift == ("gauge_meter.alone",)


def test_a_destroy_reads_everything(world: World) -> None:
    events: list[Event] = []
    session({}).plan(destroy=True, minimal_refresh=True, listen=events.append)
    assert refreshed(events) == _STORED

"""What a plan reads: `-refresh=never`, `stale:AGE` and `changed-since=REF`, and minimal refresh by instance."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nigari
from nigari.events import Event
from nigari.workspace.session.refresh_choice import refresh_choice
from tests.plan.meters import World, changes, refreshed, session, world

__all__ = ["world"]

_RECORD = Path(".terraform/nigari.reads.json")
_ALL = {
    "gauge_meter.base",
    'gauge_meter.each["p"]',
    'gauge_meter.each["q"]',
    "gauge_meter.middle",
    "gauge_meter.end",
    "gauge_meter.alone",
}


def _read_by(refresh: bool | str, variables: dict[str, object] | None = None) -> set[str]:
    """What a plan reads, by address."""
    return _planned(refresh, variables)[1]


def _planned(
    refresh: bool | str, variables: dict[str, object] | None = None
) -> tuple[nigari.Plan, set[str]]:
    events: list[Event] = []
    plan = session(variables or {}).plan(refresh=refresh, listen=events.append)
    return plan, refreshed(events)


@pytest.mark.parametrize(
    ("text", "age"),
    [("stale:1h", 3600), ("stale:1h30m", 5400), ("stale:7d", 604800), ("stale:10s", 10)],
)
def test_ages(text: str, age: int) -> None:
    reads = refresh_choice(text).only_reads
    assert reads is not None
    assert reads.age == age


@pytest.mark.parametrize(
    "text", ["stale:", "stale:1", "stale:h", "sometimes", "", "changed-since="]
)
def test_unknown_words(text: str) -> None:
    with pytest.raises(ValueError, match=r"stale:1h|is not an age"):
        refresh_choice(text)


# -- objects that were read not long ago ------------------------------------------------------


def test_what_was_read_lately_is_not_read_again(world: World) -> None:
    assert _read_by("stale:1h") == _ALL
    assert _read_by("stale:1h") == set()
    assert _read_by(True) == _ALL


def test_the_record_has_addresses_and_times_only(world: World) -> None:
    assert _read_by(True) == _ALL
    assert not _RECORD.exists(), "no plan has asked for it"
    before = time.time()
    _read_by("stale:1h")
    (times,) = json.loads(_RECORD.read_text()).values()
    assert times.keys() == _ALL
    assert all(before - 1 <= each <= time.time() + 1 for each in times.values())


def test_age_counts_from_the_last_read(world: World) -> None:
    _read_by("stale:1h")
    record = json.loads(_RECORD.read_text())
    (times,) = record.values()
    times["gauge_meter.alone"] -= 1800
    times["gauge_meter.base"] -= 7200
    _RECORD.write_text(json.dumps(record))
    assert _read_by("stale:1h") == {"gauge_meter.base"}
    assert _read_by("stale:20m") == {"gauge_meter.alone"}
    assert _read_by("stale:10m") == set()


@pytest.mark.parametrize("damaged", ["", "[1]", '{"x": 1}', "\xff"])
def test_a_damaged_record_is_none(world: World, damaged: str) -> None:
    _RECORD.write_text(damaged)
    assert _read_by("stale:1h") == _ALL
    assert _read_by("stale:1h") == set()


def test_drift_that_is_not_stored_is_found_again(world: World) -> None:
    world.readings["alone"] = 40
    for _ in range(2):
        plan, read = _planned("stale:1h")
        assert plan.drift == ("gauge_meter.alone",)
        assert "gauge_meter.alone" in read
    assert _read_by("stale:1h") == {"gauge_meter.alone"}


def test_drift_found_by_another_plan_is_not_forgotten(world: World) -> None:
    _read_by("stale:1h")
    world.readings["alone"] = 40
    assert _planned(True)[0].drift == ("gauge_meter.alone",)
    assert _planned("stale:1h")[0].drift == ("gauge_meter.alone",)


def test_changes_are_based_on_objects_that_were_read(world: World) -> None:
    _read_by("stale:1h")
    world.read.clear()
    plan, read = _planned("stale:1h", {"end": "y"})
    assert read == {"gauge_meter.end"}
    assert world.read == ["end of 14"] or len(world.read) == 1
    assert changes(plan) == changes(session({"end": "y"}).plan())


def test_what_was_just_made_is_not_read(world: World) -> None:
    _read_by("stale:1h")
    session({"names": ["p", "q", "r"]}).apply()
    assert _read_by("stale:1h", {"names": ["p", "q", "r"]}) == set()


def test_nothing_is_read_twice_for_one_plan(world: World) -> None:
    world.read.clear()
    plan, read = _planned("stale:1h", {"end": "y", "names": ["p"]})
    assert read == _ALL
    assert len(world.read) == len(_ALL)
    assert {each.address for each in plan.changes} == {'gauge_meter.each["q"]', "gauge_meter.end"}


def test_other_states_have_other_times(world: World) -> None:
    _read_by("stale:1h")
    state = json.loads(Path("terraform.tfstate").read_text())
    state["lineage"] = "another"
    Path("terraform.tfstate").write_text(json.dumps(state))
    assert _read_by("stale:1h") == _ALL


# -- never ------------------------------------------------------------------------------------


def test_never_reads_nothing(world: World) -> None:
    assert _read_by("never") == set()
    assert _read_by("never", {"end": "y"}) == set()


# -- minimal refresh by instance --------------------------------------------------------------

_INSTANCES = """
variable "of" {
  default = { a = 1, b = 1, c = 1 }
}
resource "gauge_meter" "up" {
  for_each = var.of
  name     = "up ${each.key}"
}
resource "gauge_meter" "down" {
  for_each = var.of
  name     = "down ${each.value} ${gauge_meter.up[each.key].reading}"
}
module "m" {
  source   = "./m"
  for_each = var.of
  name     = "m ${each.key} ${each.value}"
}
"""
_SUM = """
resource "gauge_meter" "sum" {
  name = "sum ${sum([for each in gauge_meter.down : each.reading])}"
}
"""
_MODULE = """
terraform {
  required_providers {
    gauge = { source = "example.com/test/gauge" }
  }
}
variable "name" {}
resource "gauge_meter" "one" {
  name = "inner"
}
resource "gauge_meter" "two" {
  name = "${var.name} ${gauge_meter.one.reading}"
}
"""


@pytest.fixture
def instances(world: World) -> World:
    Path("m").mkdir()
    Path("m/main.tf").write_text(_MODULE)
    path = Path("main.tf")
    path.write_text(path.read_text().split("variable")[0] + _INSTANCES)
    session({}).init()
    session({}).apply()
    world.read.clear()
    return world


def test_only_instances_that_a_change_depends_on_are_read(instances: World) -> None:
    variables: dict[str, object] = {"of": {"a": 1, "b": 2, "c": 1}}
    events: list[Event] = []
    minimal = session(variables).plan(minimal_refresh=True, listen=events.append)
    assert refreshed(events) == {
        'gauge_meter.up["b"]',
        'gauge_meter.down["b"]',
        'module.m["b"].gauge_meter.one',
        'module.m["b"].gauge_meter.two',
    }
    assert len(instances.read) == 4
    assert changes(minimal) == changes(session(variables).plan())


def test_all_instances_are_read_where_a_change_depends_on_all(instances: World) -> None:
    path = Path("main.tf")
    path.write_text(path.read_text() + _SUM)
    session({}).apply()
    path.write_text(path.read_text().replace('"sum $', '"total $'))
    events: list[Event] = []
    session({}).plan(minimal_refresh=True, listen=events.append)
    assert refreshed(events) == {
        "gauge_meter.sum",
        *(f'gauge_meter.{name}["{key}"]' for name in ("up", "down") for key in "abc"),
    }


_RUNG = """
resource "gauge_meter" "rung" {
  name = "${var.rung} of ${gauge_meter.up["a"].reading}"
  lifecycle {
    action_trigger {
      events    = [after_update]
      condition = gauge_meter.up["b"].reading > 0
      actions   = [action.gauge_ring.bell]
    }
  }
}
variable "rung" {
  default = 1
}
action "gauge_ring" "bell" {}
"""


def test_the_condition_of_a_trigger_is_based_on_objects_that_were_read(instances: World) -> None:
    path = Path("main.tf")
    path.write_text(path.read_text() + _RUNG)
    session({}).apply()
    events: list[Event] = []
    session({"rung": 2}).plan(minimal_refresh=True, listen=events.append)
    assert {"gauge_meter.rung", 'gauge_meter.up["b"]'} <= refreshed(events)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    keys=st.sets(st.sampled_from("abcd"), min_size=1),
    numbers=st.lists(st.integers(1, 3), min_size=4, max_size=4),
    refresh=st.sampled_from(["minimal", "stale:1h"]),
)
def test_an_unchanged_world_has_the_same_plan(
    instances: World, keys: set[str], numbers: list[int], refresh: str
) -> None:
    """Whatever is read, and nothing is read twice."""
    variables: dict[str, object] = {"of": {key: numbers["abcd".index(key)] for key in keys}}
    instances.read.clear()
    events: list[Event] = []
    if refresh == "minimal":
        plan = session(variables).plan(minimal_refresh=True, listen=events.append)
    else:
        plan = session(variables).plan(refresh=refresh, listen=events.append)
    assert len(instances.read) == len(refreshed(events))
    existing = {each.address for each in plan.changes if not each.before.is_null}
    assert existing <= refreshed(events)
    assert changes(plan) == changes(session(variables).plan())

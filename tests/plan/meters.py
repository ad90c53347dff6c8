"""A provider of meters that notes what is read of them, with objects that depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import nigari
from nigari.events import Event, Started
from nigari.providers.python import Computed, Provider
from tests.providers_found import find_provider

_CONFIGURATION = """\
terraform {
  required_providers {
    gauge = { source = "example.com/test/gauge" }
  }
}
variable "end" {
  default = "z"
}
variable "names" {
  default = ["p", "q"]
}
resource "gauge_meter" "base" {
  name = "base"
}
resource "gauge_meter" "each" {
  for_each = toset(var.names)
  name     = each.key
}
resource "gauge_meter" "middle" {
  name = "middle of ${gauge_meter.base.reading}"
}
resource "gauge_meter" "end" {
  name       = "${var.end} of ${gauge_meter.middle.reading}"
}
resource "gauge_meter" "alone" {
  name = "alone"
}
data "gauge_all" "now" {}
"""


@dataclass
class World:
    """The meters that exist, and the names of those that were read."""

    readings: dict[str, int] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)


def _gauge(world: World) -> Provider:
    provider = Provider("gauge")

    @provider.resource("meter")
    @dataclass
    class Meter:
        name: str
        reading: Computed[int] = 0

        def create(self, config: object) -> None:
            self.reading = world.readings[self.name] = len(self.name)

        def read(self, config: object) -> bool:
            world.read.append(self.name)
            self.reading = world.readings.get(self.name, 0)
            return self.name in world.readings

        def update(self, config: object, prior: object) -> None:
            self.reading = world.readings[self.name] = len(self.name)

        def delete(self, config: object) -> None:
            world.readings.pop(self.name, None)

    @provider.data_source("all")
    @dataclass
    class All:
        names: Computed[list[str] | None] = None

        def read(self, config: object) -> None:
            self.names = sorted(world.readings)

    @provider.action("ring")
    @dataclass
    class Ring:
        def invoke(self, config: object) -> None: ...

    return provider


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    monkeypatch.chdir(tmp_path)
    find_provider(monkeypatch, lambda: _gauge(world))
    Path("main.tf").write_text(_CONFIGURATION)
    session({}).apply()
    world.read.clear()
    return world


def session(variables: dict[str, object]) -> nigari.Session:
    return nigari.open(variables=variables, environ={})


def refreshed(events: Sequence[Event]) -> set[str]:
    return {
        each.address for each in events if isinstance(each, Started) and each.action == "refresh"
    }


def changes(plan: nigari.Plan) -> list[object]:
    return [(each.address, each.action, each.before, each.after) for each in plan.changes]

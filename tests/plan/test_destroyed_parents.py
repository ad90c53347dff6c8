"""`all_objects_part_of` in provider blocks: what lives in an object that goes is forgotten."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

import nigari
from nigari.providers.python import Provider
from tests.plan.sessions import failed
from tests.providers_found import find_provider

_CONFIGURATION = """\
terraform {
  required_providers {
    ship = { source = "example.com/test/ship" }
  }
}
variable "ships" {
  default = 1
}
variable "decks" {
  default = 2
}
variable "built" {
  default = "here"
}
resource "terraform_data" "hull" {
  count            = var.ships
  triggers_replace = var.built
}
provider "ship" {
  lifecycle {
    all_objects_part_of = [terraform_data.hull]
  }
}
resource "ship_deck" "d" {
  count = var.decks
  name  = "deck ${count.index}"
}
"""
_DECKS = ["ship_deck.d[0]", "ship_deck.d[1]"]


@dataclass
class World:
    """The calls that the provider had."""

    read: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)


def _ship(world: World) -> Provider:
    provider = Provider("ship")

    @provider.resource("deck")
    @dataclass
    class Deck:
        name: str

        def create(self, config: object) -> None: ...

        def read(self, config: object) -> bool:
            world.read.append(self.name)
            return True

        def delete(self, config: object) -> None:
            world.deleted.append(self.name)

    return provider


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    monkeypatch.chdir(tmp_path)
    find_provider(monkeypatch, lambda: _ship(world))
    Path("main.tf").write_text(_CONFIGURATION)
    _session().apply()
    world.read.clear()
    return world


def _session(**variables: object) -> nigari.Session:
    return nigari.open(variables=variables, environ={})


def _fates(plan: nigari.Plan) -> dict[str, str]:
    return {each.address: each.action for each in plan.changes if each.action != "no-op"}


def test_what_lives_in_a_destroyed_object_is_forgotten(world: World) -> None:
    plan = _session().plan(destroy=True)
    assert _fates(plan) == {"terraform_data.hull[0]": "delete", **dict.fromkeys(_DECKS, "forget")}
    assert {each.why for each in plan.changes if each.action == "forget"} == {
        "because it is part of an object that will be destroyed"
    }
    _session().destroy()
    assert world.deleted == []
    assert not _session().state.resources


@pytest.mark.parametrize(
    ("variables", "fates"),
    [
        (
            {"ships": 0, "decks": 0},
            {"terraform_data.hull[0]": "delete", **dict.fromkeys(_DECKS, "forget")},
        ),
        ({"ships": 1, "decks": 0}, dict.fromkeys(_DECKS, "delete")),
        ({"ships": 1, "decks": 1}, {_DECKS[1]: "delete"}),
        # Another hull stays, so the decks may be on that.
        (
            {"ships": 2, "decks": 0},
            {"terraform_data.hull[1]": "create", **dict.fromkeys(_DECKS, "delete")},
        ),
        (
            {"built": "there", "decks": 1},
            {"terraform_data.hull[0]": "replace", _DECKS[1]: "forget"},
        ),
    ],
)
def test_fate_follows_that_of_the_parent(
    world: World, variables: dict[str, object], fates: dict[str, str]
) -> None:
    assert _fates(_session(**variables).plan()) == fates


def test_a_target_alone_is_destroyed(world: World) -> None:
    plan = _session().plan(destroy=True, targets=[_DECKS[0]])
    assert _fates(plan) == {_DECKS[0]: "delete"}


def test_forgetting_asks_no_provider(world: World) -> None:
    _session(ships=0, decks=0).apply()
    assert world.read == world.deleted == []


@pytest.mark.parametrize(
    ("parent", "fate"),
    [
        ("terraform_data.hull[0]", "forget"),
        ("terraform_data.hull[1]", "delete"),
        ("module.yard", "forget"),
        ('module.yard["a"]', "forget"),
        ('module.yard["b"]', "delete"),
        ("module.other", "delete"),
    ],
)
def test_parents_are_resources_instances_and_modules(world: World, parent: str, fate: str) -> None:
    path = Path("main.tf")
    path.write_text(
        path.read_text().replace("[terraform_data.hull]", f"[{parent}]")
        + 'variable "yards" {\n  default = ["a", "b"]\n}\n'
        'module "yard" {\n  source = "./yard"\n  for_each = toset(var.yards)\n}\n'
        'module "other" {\n  source = "./yard"\n}\n'
    )
    Path("yard").mkdir()
    Path("yard/main.tf").write_text('resource "terraform_data" "crane" {}\n')
    _session().init()
    _session(ships=2).apply()
    kept = [] if parent == "module.yard" else ["b"]
    found = _fates(_session(ships=0 if "hull[0]" in parent else 2, decks=0, yards=kept).plan())
    assert {found[each] for each in _DECKS} == {fate}


@pytest.mark.parametrize(
    ("parent", "summary"),
    [
        ("terraform_data.nope", "Reference to undeclared resource"),
        ("terraform_data.hull.id", "Dependency on part of an object"),
        ("var.ships", "Invalid all_objects_part_of"),
        ("data.x.y", "Invalid all_objects_part_of"),
        ("ship_deck.d", "Provider of its own parent"),
    ],
)
def test_invalid_parents_are_reported(world: World, parent: str, summary: str) -> None:
    path = Path("main.tf")
    path.write_text(path.read_text().replace("[terraform_data.hull]", f"[{parent}]"))
    assert summary in [each.summary for each in failed().diagnostics]

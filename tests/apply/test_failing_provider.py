"""What is stored and said of objects that a provider made in part, not at all or as it should."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import nigari
from fuzz.story.world import FAILURES, Fact, Settings, Thing, World
from fuzz.story.world import provider as world
from nigari import cty
from nigari.providers import api
from nigari.record import replace
from tests.plan.sessions import applied, apply_failed, plan, session, words
from tests.providers_found import find_provider

_REQUIRED: Final = (
    'terraform {\n  required_providers {\n    world = { source = "hashicorp/world" }\n  }\n}\n'
)
_THING: Final = """\
variable "v" {
  default = "a"
}
variable "s" {
  default   = "s"
  sensitive = true
}
variable "f" {
  default = "f"
}
resource "world_thing" "t" {
  name  = "t"
  value = var.v
  force = var.f
  note  = var.s
  lifecycle {
    create_before_destroy = true
  }
}
resource "world_thing" "u" {
  name  = "u"
  value = world_thing.t.id
  lifecycle {
    destroy = false
  }
}
output "o" {
  value = world_thing.u.value
}
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    find_provider(monkeypatch, lambda: world)
    Path("main.tf").write_text(_REQUIRED + _THING)
    Path(FAILURES).parent.mkdir()


def _fail(*calls: str) -> None:
    Path(FAILURES).write_text("".join(f"{each}\n" for each in calls))


def _stored(name: str = "t") -> list[dict[str, Any]]:
    """The objects of a resource, as the state file has them."""
    state = json.loads(Path("terraform.tfstate").read_text())
    found: list[list[dict[str, Any]]] = [
        each["instances"] for each in state["resources"] if each["name"] == name
    ]
    return found[0] if found else []


def test_what_is_stored_of_what_was_made() -> None:
    applied()
    (one,), (two,) = _stored(), _stored("u")
    assert one["create_before_destroy"] is True
    assert "status" not in one
    assert [{"type": "get_attr", "value": "note"}] in one["sensitive_attributes"]
    assert two["dependencies"] == ["world_thing.t"]
    assert two["skip_destroy"] is True
    assert "create_before_destroy" not in two
    assert not plan().changes or all(each.action == "no-op" for each in plan().changes)


@pytest.mark.parametrize("is_half", [False, True])
def test_creating_fails(is_half: bool) -> None:
    _fail("half create t" if is_half else "create t")
    said = words(apply_failed())
    assert "create of t." in said
    assert "world_thing.t" in said
    assert [each.get("status") for each in _stored()] == (["tainted"] if is_half else [])
    assert _stored("u") == []
    assert "o" not in session().state.outputs
    _fail()
    assert applied().counts == ((2, 0, 1) if is_half else (2, 0, 0))


@pytest.mark.parametrize("is_half", [False, True])
def test_updating_fails(is_half: bool) -> None:
    applied()
    _fail("half update t" if is_half else "update t")
    assert "update of t." in words(apply_failed({"v": "b"}))
    (stored,) = _stored()
    assert "status" not in stored
    assert stored["attributes"]["value"] == ("b" if is_half else "a")
    _fail()
    assert applied({"v": "b"}).counts == ((0, 0, 0) if is_half else (0, 1, 0))


@pytest.mark.parametrize(
    ("failing", "left"),
    [
        ("create t", [(None, "t#1")]),
        ("half create t", [("tainted", "t#2"), (None, "t#1")]),
        ("delete t", [(None, "t#2"), (None, "t#1")]),
    ],
)
def test_replacing_fails(failing: str, left: list[tuple[str | None, str]]) -> None:
    applied()
    _fail(failing)
    apply_failed({"f": "g"})
    found = _stored()
    assert [(each.get("status"), each["attributes"]["id"]) for each in found] == left
    assert ["deposed" in each for each in found] == [False, True][: len(left)]
    _fail()
    applied({"f": "g"})
    assert [each["attributes"]["force"] for each in _stored()] == ["g"]


class _Spoiling(World):
    """A provider that spoils the result of a change."""

    spoil: Callable[[cty.Value], cty.Value]
    seen = b""

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        self.seen = request.private
        return await super().read(request)

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        response = await super().apply(request)
        return replace(response, state=self.spoil(response.state), private=b"kept")


def _spoilt(monkeypatch: pytest.MonkeyPatch, spoil: Callable[[cty.Value], cty.Value]) -> _Spoiling:
    provider = _Spoiling("world", Settings)
    provider.resource("thing")(Thing)
    provider.data_source("fact")(Fact)
    provider.spoil = spoil
    find_provider(monkeypatch, lambda: provider)
    return provider


def test_what_only_the_provider_understands_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = _spoilt(monkeypatch, lambda made: made)
    applied()
    plan()
    assert provider.seen == b"kept"


def test_outputs_stay_where_they_are_left_out() -> None:
    applied()
    applied({"f": "g"}, targets=["world_thing.t"])
    assert session().state.outputs["o"].value == "t#1"


def test_nothing_is_there_after_creating(monkeypatch: pytest.MonkeyPatch) -> None:
    _spoilt(monkeypatch, lambda made: cty.null(made.type))
    assert "there is no object after the change" in words(apply_failed())
    assert _stored() == []


def _unknown_note(made: cty.Value) -> cty.Value:
    assert isinstance(made.type, cty.ObjectType)
    members = {name: made.attribute(name) for name in made.type.attributes}
    return cty.object_value({**members, "result": cty.unknown(cty.STRING)})


def test_part_of_what_was_made_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    _spoilt(monkeypatch, _unknown_note)
    assert "unknown" in words(apply_failed())
    (stored,) = _stored()
    assert (stored["status"], stored["attributes"]["result"]) == ("tainted", None)


def test_a_secret_is_no_change_to_the_provider() -> None:
    applied()
    Path("main.tf").write_text(_REQUIRED + _THING.replace('= "a"', '= "a"\n  sensitive = true'))
    _fail("update t")
    applied()
    assert [{"type": "get_attr", "value": "value"}] in _stored()[0]["sensitive_attributes"]


def test_outputs_are_stored_unless_they_are_null_or_ephemeral() -> None:
    text = 'output "n" {\n  value = null\n}\noutput "s" {\n  value = var.s\n  sensitive = true\n}\n'
    Path("main.tf").write_text(_REQUIRED + _THING + text)
    done = applied()
    outputs = json.loads(Path("terraform.tfstate").read_text())["outputs"]
    assert {name: each.get("sensitive", False) for name, each in outputs.items()} == {
        "o": False,
        "s": True,
    }
    assert isinstance(done.applied, nigari.Applied)

"""Objects that an older version of the provider stored, and objects that are gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nigari import cty
from nigari.cty.types import STRING
from nigari.providers import api
from nigari.providers.base import ProviderBase
from nigari.schema.block import Attribute, Block
from nigari.schema.provider import ProviderSchema, Schema
from tests.cli.process import inside
from tests.providers_found import find_provider

SOURCE = "example.com/test/archive"
CONFIG = f"""\
terraform {{
  required_providers {{
    archive = {{ source = "{SOURCE}" }}
  }}
}}
"""
BLOCK = Block({"title": Attribute(STRING, optional=True)})
State = dict[str, Any]  # JSON as it comes


class Archive(ProviderBase):
    """Once called `title` by another name. Nothing exists that is called "gone"."""

    def __init__(self, destroyed: list[str], upgraded: list[int] | None = None) -> None:
        self._destroyed = destroyed
        self._upgraded = [] if upgraded is None else upgraded

    async def schema(self) -> api.SchemaResponse:
        return api.SchemaResponse(
            ProviderSchema(Schema(Block()), resources={"archive_book": Schema(BLOCK, 2)})
        )

    async def validate_resource(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response()

    async def upgrade(self, request: api.UpgradeRequest) -> api.UpgradeResponse:
        self._upgraded.append(request.version)
        stored = json.loads(request.json)
        title = stored["title"].strip() if "title" in stored else stored["name"]
        return api.UpgradeResponse(cty.object_value({"title": cty.string(title)}))

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        if request.state.attribute("title").as_string() == "gone":
            return api.ReadResponse(cty.null(request.state.type))
        return api.ReadResponse(request.state)

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        return api.PlanResponse(request.proposed)

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        if request.planned.is_null:
            self._destroyed.append(request.prior.attribute("title").as_string())
        return api.ApplyResponse(request.planned)


@pytest.fixture
def destroyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    titles: list[str] = []
    find_provider(monkeypatch, lambda: Archive(titles))
    return titles


def store(*titles: str) -> None:
    """A state of an old version: the first title is the current object's, others are deposed."""
    instances: list[State] = [
        {"schema_version": 0, "attributes": {"name": title}} for title in titles
    ]
    for number, each in enumerate(instances[1:]):
        each["deposed"] = f"0000000{number}"
    resource = {
        "mode": "managed",
        "type": "archive_book",
        "name": "b",
        "provider": f'provider["{SOURCE}"]',
        "instances": instances,
    }
    state = {"version": 4, "serial": 1, "lineage": "l", "resources": [resource]}
    Path("terraform.tfstate").write_text(json.dumps(state))


def apply(text: str, *args: str) -> list[State]:
    Path("main.tf").write_text(CONFIG + text)
    done = inside("apply", "-auto-approve", "-no-color", *args)
    assert done.code == 0, done.out + done.err
    state = json.loads(Path("terraform.tfstate").read_text())
    return [each for resource in state["resources"] for each in resource["instances"]]


def versioned(version: int, **attributes: str) -> None:
    """A state with one object of some version."""
    store("x")
    path = Path("terraform.tfstate")
    state = json.loads(path.read_text())
    (stored,) = state["resources"][0]["instances"]
    stored.update(schema_version=version, attributes=attributes)
    path.write_text(json.dumps(state))


BOOK = 'resource "archive_book" "b" {\n  title = "%s"\n}\n'
REMOVED = "removed {\n  from = archive_book.b\n  lifecycle {\n    destroy = false\n  }\n}\n"


@pytest.mark.parametrize("flags", [[], ["-refresh=false"]])
def test_upgraded_and_otherwise_unchanged(destroyed: list[str], flags: list[str]) -> None:
    store("x")
    (left,) = apply(BOOK % "x", *flags)
    assert (left["schema_version"], left["attributes"]) == (2, {"title": "x"})


@pytest.mark.parametrize("flags", [[], ["-refresh=false"]])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ["d", "x"]),
        (BOOK % "y", ["d"]),
        (REMOVED, []),
    ],
)
def test_upgraded_and_ended(
    destroyed: list[str], flags: list[str], text: str, wanted: list[str]
) -> None:
    store("x", "d")
    left = apply(text, *flags)
    assert sorted(destroyed) == wanted
    assert [each["attributes"] for each in left] == ([{"title": "y"}] if "title" in text else [])


def test_the_end_of_everything(destroyed: list[str]) -> None:
    store("x", "d")
    assert apply(BOOK % "x", "-destroy") == []
    assert sorted(destroyed) == ["d", "x"]


def test_an_entry_without_objects_goes_with_everything_else(destroyed: list[str]) -> None:
    """OpenTofu stores such entries where nothing could be created."""
    store("x")
    path = Path("terraform.tfstate")
    state = json.loads(path.read_text())
    state["resources"].append({**state["resources"][0], "name": "empty", "instances": []})
    path.write_text(json.dumps(state))
    apply("", "-destroy")
    assert json.loads(path.read_text())["resources"] == []
    assert destroyed == ["x"]


@pytest.mark.parametrize("flags", [[], ["-refresh-only"], ["-destroy"]])
def test_gone(destroyed: list[str], flags: list[str]) -> None:
    store("gone", "gone")
    assert apply("", *flags) == []
    assert not destroyed


def test_a_deposed_object_that_is_gone(destroyed: list[str]) -> None:
    store("x", "gone")
    (left,) = apply(BOOK % "x")
    assert "deposed" not in left
    assert not destroyed


def test_a_state_that_terraform_wrote(destroyed: list[str]) -> None:
    """Its registry's providers stand for ours, and the next apply says so."""
    store("x")
    path = Path("terraform.tfstate")
    path.write_text(path.read_text().replace(SOURCE, "registry.terraform.io/hashicorp/archive"))
    Path("main.tf").write_text(CONFIG.replace(SOURCE, "hashicorp/archive") + BOOK % "x")
    done = inside("apply", "-auto-approve", "-no-color")
    assert done.code == 0, done.out + done.err
    assert "0 added, 0 changed, 0 destroyed" in done.out
    (resource,) = json.loads(path.read_text())["resources"]
    assert resource["provider"] == 'provider["registry.opentofu.org/hashicorp/archive"]'


@pytest.mark.parametrize("flags", [[], ["-refresh=false"], ["-refresh-only"], ["-destroy"]])
def test_the_provider_mends_what_it_stored_itself(
    flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object of the present version decodes, and is upgraded all the same."""
    monkeypatch.chdir(tmp_path)
    destroyed: list[str] = []
    upgraded: list[int] = []
    find_provider(monkeypatch, lambda: Archive(destroyed, upgraded))
    versioned(2, title=" x ")
    left = apply(BOOK % "x", *flags)
    assert upgraded == [2]
    if "-destroy" in flags:
        assert destroyed == ["x"]
    else:
        assert [each["attributes"] for each in left] == [{"title": "x"}]


def test_an_object_of_a_newer_version_is_refused(destroyed: list[str]) -> None:
    versioned(3, title="x")
    Path("main.tf").write_text(CONFIG + BOOK % "x")
    done = inside("plan", "-no-color")
    assert done.code == 1
    assert "Object of a newer provider version" in done.err

"""Opaque bytes of a plan: the plugin gets them back when the object is planned again to be applied."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nigari import cty
from nigari.providers import api
from nigari.providers.base import ProviderBase
from nigari.schema.block import Attribute, Block
from nigari.schema.provider import ProviderSchema, Schema
from tests.plugins import overriding, serving, write_plugin

_SCHEMA = Schema(
    Block(
        {
            "name": Attribute(cty.STRING, optional=True),
            "mark": Attribute(cty.STRING, computed=True),
        }
    )
)
_CONFIGURATION = """\
terraform {
  required_providers {
    noting = { source = "example.com/test/noting" }
  }
}
variable "name" {
  default = "a"
}
resource "noting_thing" "x" {
  name = var.name
}
"""


class Noting(ProviderBase):
    """Writes the opaque bytes of each plan and apply to a file, and returns them with one more step."""

    async def schema(self) -> api.SchemaResponse:
        return api.SchemaResponse(
            ProviderSchema(Schema(Block()), {"noting_thing": _SCHEMA}, schema_call_optional=True)
        )

    async def validate_resource(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response()

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        return api.ReadResponse(request.state, request.private)

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        _note("plan", request.prior_private, request.planned_private)
        if request.proposed.is_null:
            return api.PlanResponse(request.proposed)
        name = request.proposed.attribute("name")
        is_same = not request.prior.is_null and request.prior.attribute("name") == name
        mark = request.prior.attribute("mark") if is_same else cty.unknown(cty.STRING)
        planned = cty.object_value({"name": name, "mark": mark})
        return api.PlanResponse(planned, planned_private=request.planned_private + b"p")

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        _note("apply", b"", request.planned_private)
        if request.planned.is_null:
            return api.ApplyResponse(request.planned)
        name = request.planned.attribute("name")
        state = cty.object_value({"name": name, "mark": cty.string("made")})
        return api.ApplyResponse(state, b"stored")


def _note(what: str, prior: bytes, planned: bytes) -> None:
    with Path("notes.jsonl").open("a") as file:
        file.write(f"{json.dumps([what, prior.decode(), planned.decode()])}\n")


@pytest.mark.parametrize("is_saved", [False, True], ids=["at once", "as a saved plan"])
def test_the_second_plan_gets_what_the_first_returned(tmp_path: Path, is_saved: bool) -> None:
    write_plugin(tmp_path / "plugins", "noting", serving(Noting))
    environ = overriding(tmp_path / "rc", "example.com/test/noting", tmp_path / "plugins")
    (tmp_path / "main.tf").write_text(_CONFIGURATION)

    def nigari(*args: str) -> None:
        command = [sys.executable, "-m", "nigari", *args]
        subprocess.run(command, cwd=tmp_path, env=environ, check=True, capture_output=True)

    def notes() -> list[list[str]]:
        lines = (tmp_path / "notes.jsonl").read_text().splitlines()
        (tmp_path / "notes.jsonl").unlink()
        return [json.loads(line) for line in lines]

    def apply(*args: str) -> list[list[str]]:
        if is_saved:
            nigari("plan", "-out=saved", *args)
            nigari("apply", "saved")
        else:
            nigari("apply", "-auto-approve", *args)
        return notes()

    assert apply() == [["plan", "", ""], ["plan", "", "p"], ["apply", "", "pp"]]
    assert apply("-var=name=b") == [
        ["plan", "stored", ""],
        ["plan", "stored", "p"],
        ["apply", "", "pp"],
    ]

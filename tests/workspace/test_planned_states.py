"""Planning with outputs that other states will have."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from nigari import SessionError, aio, cty
from nigari.addrs.module import ROOT_MODULE
from nigari.backends.backend_address import state_identity
from nigari.backends.protocol import Around
from nigari.eval.core.causes import CauseKind, Phase, UnknownCause
from nigari.workspace.context.options import SessionOptions
from nigari.workspace.context.prompts import NO_PROMPTER
from nigari.workspace.session.open_session import given_variables, working_directory
from nigari.workspace.session.plan_result import Plan

_READER = """
data "terraform_remote_state" "network" {
  backend = "local"
  config  = { path = "../network/terraform.tfstate" }
}
resource "terraform_data" "known" { input = data.terraform_remote_state.network.outputs.name }
resource "terraform_data" "later" { input = data.terraform_remote_state.network.outputs.id }
"""
_LATER = UnknownCause(CauseKind.OTHER_STATE, ROOT_MODULE, "output id of network", None, Phase.APPLY)
_UNKNOWN = cty.unknown(cty.STRING).with_causes((_LATER,))


def _session(directory: Path, outputs: Mapping[str, cty.Value]) -> aio.Session:
    where = working_directory(directory, {})
    network = state_identity("local", {}, "default", Around(directory.parent / "network", {}))
    assert network is not None
    options = SessionOptions(planned={network: outputs})
    return aio.Session(where, given_variables({}), options, NO_PROMPTER)


@pytest.fixture
def app(tmp_path: Path) -> Path:
    directory = tmp_path / "app"
    directory.mkdir()
    (directory / "main.tf").write_text(_READER)
    return directory


def _plan(directory: Path, outputs: Mapping[str, cty.Value]) -> Plan:
    return asyncio.run(_session(directory, outputs).plan())


def test_known_outputs_are_as_if_they_were_stored(app: Path) -> None:
    plan = _plan(app, {"name": cty.string("net"), "id": cty.string("i-1")})
    assert {each.address: each.action for each in plan.changes} == {
        "terraform_data.known": "create",
        "terraform_data.later": "create",
    }
    assert plan.changes[0].after.attribute("input").to_python() == "net"


def test_unknown_outputs_stay_so_and_the_rest_is_known(app: Path) -> None:
    plan = _plan(app, {"name": cty.string("net"), "id": _UNKNOWN})
    changes = {each.address: each for each in plan.changes}
    assert changes["data.terraform_remote_state.network"].action == "read"
    assert changes["terraform_data.known"].after.attribute("input").to_python() == "net"
    assert not changes["terraform_data.later"].after.attribute("input").is_known


def test_a_slot_that_needs_the_value_now_names_the_cause(app: Path) -> None:
    text = (
        'resource "terraform_data" "n" {\n  count = data.terraform_remote_state.network.outputs.id'
    )
    (app / "more.tf").write_text(text + ' == "x" ? 1 : 0\n}\n')
    with pytest.raises(SessionError, match="output id of network"):
        _plan(app, {"name": cty.string("net"), "id": _UNKNOWN})


def test_what_is_applied_reads_the_state_that_is_stored(app: Path) -> None:
    network = app.parent / "network"
    network.mkdir()
    (network / "main.tf").write_text(
        'output "id" { value = "real" }\noutput "name" { value = "n" }\n'
    )

    async def whole() -> object:
        session = _session(app, {"name": cty.string("n"), "id": _UNKNOWN})
        plan = await session.plan()
        await aio.open(network).apply()
        applied = await session.apply(plan)
        stored = applied.state.resources["terraform_data.later"]
        return stored.attributes["output"]

    assert "real" in str(asyncio.run(whole()))


def test_other_states_are_read(app: Path) -> None:
    with pytest.raises(SessionError, match="Remote state not found"):
        asyncio.run(aio.open(app).plan())

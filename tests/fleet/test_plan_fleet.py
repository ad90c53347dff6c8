"""Plans of whole fleets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from nigari import SessionError, cty
from nigari.fleet import aio
from nigari.fleet.runs.plan_fleet import FleetPlan
from nigari.fleet.runs.results import UnitStatus
from nigari.fleet.work.tasks import TaskOptions, TaskStatus
from nigari.plan.model.changes import PlanMode
from tests.fleet.trees import APP, DECLARED, NETWORK, reading, write_tree

_READER = (
    reading("net", "../net/terraform.tfstate")
    + 'resource "terraform_data" "known" { input = data.terraform_remote_state.net.outputs.region }\n'
    + 'resource "terraform_data" "later" { input = data.terraform_remote_state.net.outputs.vpc_id }\n'
    + 'output "region" { value = terraform_data.known.input }\n'
    + 'output "vpc" { value = data.terraform_remote_state.net.outputs.vpc_id }\n'
)
_CHAIN = {
    "net/main.tf": NETWORK,
    "app/main.tf": _READER,
    "edge/main.tf": reading("app", "../app/terraform.tfstate")
    + 'resource "terraform_data" "e" { input = data.terraform_remote_state.app.outputs.region }\n',
}


def _planned(
    root: Path,
    files: Mapping[str, str] | None = None,
    only: list[str] | None = None,
    mode: PlanMode = PlanMode.NORMAL,
) -> FleetPlan:
    write_tree(root, files or {})

    async def whole() -> FleetPlan:
        async with aio.open(root, jobs=2) as fleet:
            names = fleet.select(only or ())
            return await fleet.plan(names, TaskOptions(mode), keep=False)

    return asyncio.run(whole())


def _applied(root: Path, only: list[str] | None = None) -> None:
    async def whole() -> None:
        async with aio.open(root, jobs=2) as fleet:
            result = await fleet.apply(await fleet.plan(fleet.select(only or ())))
            assert not result.has_failed, result

    asyncio.run(whole())


def _output(plan: FleetPlan, unit: str, name: str) -> cty.Value:
    outputs = plan.units[unit].result.outputs
    assert outputs is not None
    return outputs[name]


def test_downstream_sees_what_upstream_will_be(tmp_path: Path) -> None:
    plan = _planned(tmp_path, _CHAIN)
    assert not plan.has_failed
    assert plan.totals == (4, 0, 0)
    assert _output(plan, "app", "region").to_python() == "eu"
    assert not _output(plan, "app", "vpc").is_known
    # What is known through two units is known.
    assert plan.units["edge"].inputs == ""
    assert plan.units["net"].inputs != ""


def test_outputs_in_the_definition(tmp_path: Path) -> None:
    plan = _planned(tmp_path, DECLARED)
    assert not plan.has_failed
    assert plan.totals == (4, 0, 0)
    assert sorted(plan.changed) == sorted(plan.units)


def test_an_output_that_is_not_there(tmp_path: Path) -> None:
    text = DECLARED["fleet.hcl"].replace("outputs.vpc_id", "outputs.vpcid")
    plan = _planned(tmp_path, {**DECLARED, "fleet.hcl": text})
    result = plan.units['app["dev"]'].result
    assert result.status is UnitStatus.FAILED
    (problem,) = result.diagnostics
    assert problem.subject is not None
    assert problem.subject.filename == "fleet.hcl"
    assert plan.units['network["dev"]'].result.is_done


def test_a_failure_stops_what_depends_on_it_and_nothing_else(tmp_path: Path) -> None:
    files = {**_CHAIN, "app/wrong.tf": "locals { x = nothing.here }", "other/main.tf": NETWORK}
    plan = _planned(tmp_path, files)
    status = {name: each.result.status for name, each in plan.units.items()}
    assert status == {
        "app": UnitStatus.FAILED,
        "edge": UnitStatus.SKIPPED,
        "net": UnitStatus.DONE,
        "other": UnitStatus.DONE,
    }
    assert plan.units["edge"].result.because_of == "app"
    (problem, *_) = plan.units["app"].result.diagnostics
    assert problem.subject is not None
    assert problem.subject.filename == "app/wrong.tf"


def test_a_change_upstream_is_seen_downstream(tmp_path: Path) -> None:
    write_tree(tmp_path, _CHAIN)
    _applied(tmp_path)
    assert _planned(tmp_path).changed == []
    write_tree(tmp_path, {"net/terraform.tfvars": 'region = "us"'})
    plan = _planned(tmp_path)
    # The vpc is changed in place, so that its output is known only after that.
    assert sorted(plan.changed) == ["app", "edge", "net"]
    assert plan.totals == (0, 4, 0)


def test_units_that_are_not_selected_are_as_they_are_stored(tmp_path: Path) -> None:
    write_tree(tmp_path, DECLARED)
    plan = _planned(tmp_path, only=["app"])
    (problem,) = plan.units['app["dev"]'].result.diagnostics
    assert "-only=+app" in problem.detail
    _applied(tmp_path, ["network"])
    plan = _planned(tmp_path, only=["app"])
    assert not plan.has_failed
    assert plan.units['app["dev"]'].inputs


def test_secrets_stay_secret(tmp_path: Path) -> None:
    network = NETWORK + 'output "token" {\n  value = "hunter2"\n  sensitive = true\n}\n'
    app = APP.replace("vpc_id", "token") + 'output "again" { value = var.token }\n'
    text = DECLARED["fleet.hcl"].replace("vpc_id", "token")
    files = {**DECLARED, "network/main.tf": network, "app/main.tf": app, "fleet.hcl": text}
    plan = _planned(tmp_path, files)
    (problem, *_) = plan.units['app["dev"]'].result.diagnostics
    assert "sensitive" in f"{problem.summary} {problem.detail}"


def test_destroy_is_planned_with_what_is_stored(tmp_path: Path) -> None:
    write_tree(tmp_path, DECLARED)
    _applied(tmp_path)
    plan = _planned(tmp_path, mode=PlanMode.DESTROY)
    assert plan.totals == (0, 0, 4)


def test_drift(tmp_path: Path) -> None:
    write_tree(tmp_path, _CHAIN)
    _applied(tmp_path)
    plan = _planned(tmp_path, mode=PlanMode.REFRESH_ONLY)
    assert not plan.has_failed
    assert plan.drifted == []


def test_a_fleet_with_cycles_is_not_planned(tmp_path: Path) -> None:
    files = {
        "a/main.tf": reading("b", "../b/terraform.tfstate"),
        "b/main.tf": reading("a", "../a/terraform.tfstate"),
    }
    with pytest.raises(SessionError, match="depend on each other"):
        _planned(tmp_path, files)


def test_logs(tmp_path: Path) -> None:
    plan = _planned(tmp_path, _CHAIN)
    log = Path(plan.units["app"].result.log)
    assert "plan done: 2 to add" in log.read_text()
    assert log.parent.stat().st_mode & 0o077 == 0


def test_whatever_comes_of_a_task_comes_of_a_unit() -> None:
    assert {each.value for each in TaskStatus} <= {each.value for each in UnitStatus}

"""Fleets from Python programs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import nigari.fleet
from nigari import SessionError
from nigari.fleet import UnitFinished, UnitStatus
from nigari.fleet.runs.results import FleetEvent
from tests.fleet.trees import DECLARED, write_tree


def test_a_fleet_is_planned_and_applied(tmp_path: Path) -> None:
    write_tree(tmp_path, DECLARED)
    heard: list[FleetEvent] = []
    with nigari.fleet.open(tmp_path, jobs=2) as fleet:
        assert fleet.graph.layers()[1] == ['app["dev"]', 'app["prod"]']
        assert not fleet.init().has_failed
        plan = fleet.plan(only=["+label:dev"], listen=heard.append)
        assert list(plan.units) == ['network["dev"]', 'app["dev"]']
        assert sum(isinstance(each, UnitFinished) for each in heard) == 2
        assert plan.totals == (2, 0, 0)
        fleet.save(plan, tmp_path / "dev.plan")
        result = fleet.apply(plan)
        assert all(each.status is UnitStatus.DONE for each in result.units.values())
        outputs = fleet.outputs(only=["label:dev"]).units['app["dev"]'].outputs
        assert outputs is not None
        assert outputs["app"].to_python() == "vpc-eu-west-1"
        assert not fleet.plan(only=["+label:dev"], keep=False).changed
        assert not fleet.validate().has_failed
        with pytest.raises(SessionError, match="neither a unit"):
            fleet.plan(only=["nothing"])


def test_inside_a_running_event_loop(tmp_path: Path) -> None:
    write_tree(tmp_path, DECLARED)

    async def notebook() -> tuple[int, int, int]:
        with nigari.fleet.open(tmp_path, jobs=1) as fleet:
            fleet.init()
            return fleet.plan(keep=False).totals

    assert asyncio.run(notebook()) == (4, 0, 0)


def test_tests_of_units(tmp_path: Path) -> None:
    good = 'run "r" {\n  command = plan\n  assert {\n    condition = var.region == "eu"\n    error_message = "no"\n  }\n}\n'
    bad = good.replace("eu", "us")
    write_tree(
        tmp_path,
        {
            "a/main.tf": 'variable "region" { default = "eu" }',
            "b/main.tf": 'variable "region" { default = "eu" }',
            "a/x.tftest.hcl": good,
            "b/x.tftest.hcl": bad,
        },
    )
    with nigari.fleet.open(tmp_path, jobs=1) as fleet:
        result = fleet.test()
    assert result.units["a"].report == {"passed": 1, "runs": 1}
    assert result.units["a"].is_done
    assert result.units["b"].status is UnitStatus.FAILED
    assert result.units["b"].diagnostics

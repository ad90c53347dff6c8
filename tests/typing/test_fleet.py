"""All of `nigari.fleet`, as a user's program has it: type checkers read this file, and it runs as well."""

from collections.abc import Mapping
from pathlib import Path

import nigari.fleet

NETWORK = (
    'resource "terraform_data" "it" {\n  input = "net"\n}\noutput "id" {\n  value = "net-1"\n}\n'
)
SERVICE = """
data "terraform_remote_state" "network" {
  backend = "local"
  config = {
    path = "../network/terraform.tfstate"
  }
}
output "network" {
  value = data.terraform_remote_state.network.outputs.id
}
"""


def test_a_fleet(tmp_path: Path) -> None:
    for name, text in (("network", NETWORK), ("service", SERVICE)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.tf").write_text(text, encoding="utf-8")
    heard: list[nigari.fleet.UnitStarted | nigari.fleet.UnitFinished] = []
    fleet: nigari.fleet.Fleet
    with nigari.fleet.open(tmp_path) as fleet:
        graph: nigari.fleet.Graph = fleet.graph
        edge: nigari.fleet.Edge = graph.edges[0]
        why: nigari.fleet.EdgeReason = edge.reason
        assert why is nigari.fleet.EdgeReason.REMOTE_STATE
        states: Mapping[str, nigari.fleet.StateIdentity] = graph.states
        assert set(states) == set(fleet.units)
        unit: nigari.fleet.Unit = fleet.units["network"]
        copy: nigari.fleet.WorkingCopy | None = unit.copy
        assert copy is None
        foreign: tuple[nigari.fleet.ForeignState, ...] = graph.foreign
        shared: tuple[nigari.fleet.SharedState, ...] = graph.shared
        plan: nigari.fleet.FleetPlan = fleet.plan(listen=heard.append)
        assert plan.mode is nigari.fleet.PlanMode.NORMAL
        planned: nigari.fleet.PlannedUnit = plan.units["network"]
        changes: nigari.fleet.Changes | None = planned.result.changes
        assert changes is not None
        line: nigari.fleet.ChangeLine = changes.lines[0]
        result: nigari.fleet.FleetResult = fleet.apply(plan)
        done: nigari.fleet.UnitResult = result.units["service"]
        status: nigari.fleet.UnitStatus = done.status
        left: nigari.fleet.Unfinished | None = fleet.unfinished()
        orphans: list[nigari.fleet.Orphan] = fleet.orphans()
    assert (edge.unit, edge.needs, unit.name, foreign) == ("service", "network", "network", ())
    assert (line.action, done.is_done, status.name, left) == ("create", True, "DONE", None)
    assert (shared, orphans) == ((), [])
    assert len(heard) >= 2

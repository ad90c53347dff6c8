"""A fleet whose states are in a real PostgreSQL: one schema for each directory, a workspace or a
variable for each environment.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import nigari.fleet
from nigari.fleet import Fleet
from tests.cli.process import environment
from tests.fleet.trees import write_tree

psycopg = pytest.importorskip("psycopg")

from tests.backends.world.postgres import Postgres, running  # noqa: E402

pytestmark = pytest.mark.real

_FLEET = """
locals { environments = { dev = "eu", prod = "us" } }
unit "network" {
  for_each  = local.environments
  directory = "network"
  variables = { region = each.value }
}
unit "app" {
  for_each  = local.environments
  directory = "app"
  workspace = "default"
  variables = { environment = each.key }
}
"""


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running() as made:
        yield made


def _files(postgres: Postgres) -> dict[str, str]:
    backend = 'terraform {\n  backend "pg" {\n    conn_str = "%s"\n    schema_name = %s\n  }\n}\n'
    network = f"""
{backend % (postgres.conn_str, '"network"')}
variable "region" {{}}
resource "terraform_data" "vpc" {{ input = "vpc-${{var.region}}" }}
output "vpc" {{ value = terraform_data.vpc.output }}
output "region" {{ value = var.region }}
"""
    app = f"""
{backend % (postgres.conn_str, '"app-${var.environment}"')}
variable "environment" {{}}
data "terraform_remote_state" "network" {{
  backend   = "pg"
  workspace = var.environment
  config    = {{ conn_str = "{postgres.conn_str}", schema_name = "network" }}
}}
resource "terraform_data" "app" {{
  input = [
    data.terraform_remote_state.network.outputs.vpc,
    data.terraform_remote_state.network.outputs.region,
  ]
}}
output "app" {{ value = terraform_data.app.output }}
"""
    return {"fleet.hcl": _FLEET, "network/main.tf": network, "app/main.tf": app}


def _apps(fleet: Fleet) -> dict[str, object]:
    found = fleet.outputs(only=["app"]).units
    return {name: (each.outputs or {})["app"].to_python() for name, each in found.items()}


def test_states_in_a_database(tmp_path: Path, postgres: Postgres) -> None:
    write_tree(tmp_path, _files(postgres))
    with nigari.fleet.open(tmp_path, jobs=2, environ=environment()) as fleet:
        assert {(edge.unit, edge.needs) for edge in fleet.graph.edges} == {
            ('app["dev"]', 'network["dev"]'),
            ('app["prod"]', 'network["prod"]'),
        }
        made = fleet.init()
        assert not made.has_failed, [each.diagnostics for each in made.units.values()]
        plan = fleet.plan()
        assert not plan.has_failed, [each.result.diagnostics for each in plan.units.values()]
        assert plan.totals == (4, 0, 0)
        result = fleet.apply(plan, approve=lambda *_: False)
        assert not result.has_failed, [each.diagnostics for each in result.units.values()]
        assert _apps(fleet) == {
            'app["dev"]': ["vpc-eu", "eu"],
            'app["prod"]': ["vpc-us", "us"],
        }
        assert not fleet.plan(keep=False).changed
        text = _FLEET.replace('prod = "us"', 'prod = "ap"')
        write_tree(tmp_path, {"fleet.hcl": text})
        fleet.look_again()
        plan = fleet.plan()
        assert sorted(plan.changed) == ['app["prod"]', 'network["prod"]']
        assert not fleet.apply(plan, approve=lambda *_: False).has_failed
        assert _apps(fleet)['app["prod"]'] == ["vpc-ap", "ap"]
        gone = fleet.apply(fleet.plan(destroy=True))
        assert not gone.has_failed, [each.diagnostics for each in gone.units.values()]


def test_a_backend_that_is_gone(tmp_path: Path) -> None:
    with running() as server:
        write_tree(tmp_path, {**_files(server), "alone/main.tf": 'output "x" { value = 1 }'})
        with nigari.fleet.open(tmp_path, jobs=2, environ=environment()) as fleet:
            assert not fleet.init().has_failed
    with nigari.fleet.open(tmp_path, jobs=2, environ=environment()) as fleet:
        plan = fleet.plan(keep=False)
    status = {name: each.result.status.value for name, each in plan.units.items()}
    assert status == {
        'network["dev"]': "failed",
        'network["prod"]': "failed",
        'app["dev"]': "skipped",
        'app["prod"]': "skipped",
        "alone": "done",
    }

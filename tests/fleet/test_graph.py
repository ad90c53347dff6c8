"""Which units need which others, found by evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from nigari.diagnostics import to_text
from nigari.fleet.units.graph_loader import Survey
from tests.fleet.trees import DECLARED, NETWORK, reading, surveyed

_PG = 'terraform {\n  backend "pg" {\n    conn_str = "postgres://h/db"\n    schema_name = "%s"\n  }\n}\n'


def _edges(found: Survey) -> set[tuple[str, str]]:
    return {(edge.unit, edge.needs) for edge in found.graph.edges}


def _pg(schema: str, more: str = "") -> str:
    return (
        'data "terraform_remote_state" "n" {\n  backend = "pg"\n'
        f'  config = {{ conn_str = "postgres://h/db", schema_name = {schema} }}\n{more}}}\n'
    )


EDGES: list[tuple[str, Mapping[str, str], set[tuple[str, str]]]] = [
    (
        "a state in a local file",
        {"a/main.tf": NETWORK, "b/main.tf": reading("n", "../a/terraform.tfstate")},
        {("b", "a")},
    ),
    (
        "a path that is worked out",
        {
            "live/a/main.tf": NETWORK,
            "b/main.tf": 'variable "of" { default = "a" }\nlocals { d = "../live/${var.of}" }\n'
            + reading("n", "${path.module}/${local.d}/terraform.tfstate"),
        },
        {("b", "live/a")},
    ),
    (
        "a path from a file of variables",
        {
            "live/a/main.tf": NETWORK,
            "b/terraform.tfvars": 'of = "a"',
            "b/main.tf": 'variable "of" {}\n' + reading("n", "../live/${var.of}/terraform.tfstate"),
        },
        {("b", "live/a")},
    ),
    (
        "in a module that is called",
        {
            "a/main.tf": NETWORK,
            "b/main.tf": 'module "m" {\n source = "../lookup"\n of = "a"\n}',
            "lookup/main.tf": 'variable "of" {}\n' + reading("n", "../${var.of}/terraform.tfstate"),
        },
        {("b", "a")},
    ),
    (
        "instances of a data source and of a module",
        {
            "a/main.tf": NETWORK,
            "c/main.tf": NETWORK,
            "b/main.tf": 'module "m" {\n source = "../lookup"\n for_each = toset(["a", "c"])\n'
            " of = each.key\n}",
            "lookup/main.tf": 'variable "of" {}\n' + reading("n", "../${var.of}/terraform.tfstate"),
        },
        {("b", "a"), ("b", "c")},
    ),
    (
        "another backend, with other credentials",
        {"a/main.tf": _PG % "net", "b/main.tf": _pg('"net"')},
        {("b", "a")},
    ),
    ("another state of that backend", {"a/main.tf": _PG % "net", "b/main.tf": _pg('"x"')}, set()),
    (
        "a workspace",
        {
            "fleet.hcl": 'unit "a" {\n for_each = toset(["dev", "prod"])\n directory = "a"\n}',
            "a/main.tf": _PG % "net",
            "b/main.tf": _pg('"net"', '  workspace = "prod"\n'),
        },
        {("b", 'a["prod"]')},
    ),
    (
        "outputs in fleet.hcl",
        DECLARED,
        {('app["dev"]', 'network["dev"]'), ('app["prod"]', 'network["prod"]')},
    ),
    (
        "depends_on, of all instances and of one",
        {
            **DECLARED,
            "fleet.hcl": DECLARED["fleet.hcl"]
            + 'unit "z" {\n directory = "z"\n depends_on = [unit.network, unit.app["dev"]]\n}\n',
            "z/main.tf": "",
        },
        {
            ('app["dev"]', 'network["dev"]'),
            ('app["prod"]', 'network["prod"]'),
            ("z", 'network["dev"]'),
            ("z", 'network["prod"]'),
            ("z", 'app["dev"]'),
        },
    ),
    (
        "both branches of a condition, whose types decide",
        {
            "fleet.hcl": """
            unit "a" { directory = "a" }
            unit "b" { directory = "b" }
            unit "c" {
              directory = "c"
              variables = { x = true ? unit.a.outputs.region : unit.b.outputs.region }
            }""",
            "a/main.tf": NETWORK,
            "b/main.tf": NETWORK,
            "c/main.tf": 'variable "x" {}',
        },
        {("c", "a"), ("c", "b")},
    ),
    (
        "units that were found, by their paths",
        {
            "fleet.hcl": 'unit "c" {\n directory = "c"\n'
            ' variables = { x = unit["live/a"].outputs.region }\n}',
            "live/a/main.tf": NETWORK,
            "c/main.tf": 'variable "x" {}',
        },
        {("c", "live/a")},
    ),
]


@pytest.mark.parametrize(("files", "edges"), [r[1:] for r in EDGES], ids=[r[0] for r in EDGES])
def test_edges(tmp_path: Path, files: Mapping[str, str], edges: set[tuple[str, str]]) -> None:
    found = surveyed(tmp_path, files)
    assert not found.has_errors, to_text(found.diagnostics, found.sources)
    assert _edges(found) == edges


def test_an_edge_knows_where_it_is_written(tmp_path: Path) -> None:
    found = surveyed(
        tmp_path, {"a/main.tf": NETWORK, "b/x.tf": "\n" + reading("n", "../a/terraform.tfstate")}
    )
    (edge,) = found.graph.edges
    assert edge.address == "data.terraform_remote_state.n"
    assert str(edge.range).startswith("b/x.tf:2,")


def test_cycles_are_named_with_their_places(tmp_path: Path) -> None:
    found = surveyed(
        tmp_path,
        {
            "a/main.tf": reading("c", "../c/terraform.tfstate"),
            "b/main.tf": reading("a", "../a/terraform.tfstate"),
            "c/main.tf": reading("b", "../b/terraform.tfstate"),
            "d/main.tf": reading("a", "../a/terraform.tfstate"),
        },
    )
    assert found.has_errors
    (cycle,) = found.graph.cycles
    assert sorted(cycle) == ["a", "b", "c"]
    shown = to_text(found.diagnostics, found.sources)
    assert "a → c → b → a" in shown
    for name in "abc":
        assert f"{name}/main.tf line 1" in shown


def test_states_that_nobody_writes(tmp_path: Path) -> None:
    found = surveyed(
        tmp_path,
        {
            "a/main.tf": reading("gone", "../gone/terraform.tfstate")
            + 'resource "terraform_data" "x" {}\n'
            + reading("later", "${terraform_data.x.id}"),
        },
    )
    assert not found.has_errors
    gone, later = found.graph.foreign
    assert str(tmp_path / "gone/terraform.tfstate") in gone.state
    assert (later.state, str(later.range)[:11]) == ("", "a/main.tf:6")
    assert "terraform_data.x" in later.why


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ('backend = "atlas"', 'there is no backend "atlas"'),
        ("backend = null", "backend is not set"),
        ("backend = []", "are not valid"),
        ('backend = "local"\n  workspace = []', "are not valid"),
        ('backend = "s3"\n  config = { bucket = [] }', "are not valid"),
        ('backend = "s3"\n  config = "x"', "config is not an object"),
    ],
)
def test_states_whose_arguments_are_wrong(tmp_path: Path, arguments: str, why: str) -> None:
    """Their unit says so when it is validated; the fleet is not refused."""
    text = f'data "terraform_remote_state" "x" {{\n  {arguments}\n}}\n'
    found = surveyed(tmp_path, {"a/main.tf": text})
    assert not found.has_errors
    (foreign,) = found.graph.foreign
    assert why in foreign.why


def test_layers(tmp_path: Path) -> None:
    found = surveyed(
        tmp_path,
        {
            "a/main.tf": NETWORK,
            "b/main.tf": reading("a", "../a/terraform.tfstate"),
            "c/main.tf": reading("a", "../a/terraform.tfstate")
            + reading("b", "../b/terraform.tfstate"),
            "d/main.tf": "",
        },
    )
    assert found.graph.layers() == [["a", "d"], ["b"], ["c"]]
    assert found.graph.closure(["b"], is_upward=False) == {"b", "c"}
    assert found.graph.closure(["b"], is_upward=True) == {"a", "b"}

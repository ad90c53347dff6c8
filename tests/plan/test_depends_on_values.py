"""`depends_on` with any expression: what its value refers to is the dependency, for each instance."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plan import sessions
from tests.plan.sessions import Variables, applied, failed, graph_of

_BLOCKS = """
variable "e" { default = true }
locals {
  of   = { one = true, two = false }
  deps = { db = terraform_data.db }
}
resource "terraform_data" "db" { input = 1 }
resource "terraform_data" "other" { input = 1 }
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write(text: str) -> None:
    Path("main.tf").write_text(_BLOCKS + text)


@pytest.mark.parametrize(
    ("written", "dependencies"),
    [
        ("terraform_data.db.id", ["terraform_data.db"]),
        ("local.deps.db", ["terraform_data.db"]),
        ("var.e ? terraform_data.db : null", ["terraform_data.db"]),
        ("[for each in [terraform_data.db] : each.id]", ["terraform_data.db"]),
        (
            "[terraform_data.db.id, terraform_data.other.id]",
            ["terraform_data.db", "terraform_data.other"],
        ),
        ("var.e", []),
    ],
)
def test_values_order_operations(here: Path, written: str, dependencies: list[str]) -> None:
    _write(f'resource "terraform_data" "x" {{\n  depends_on = [{written}]\n}}\n')
    graph = graph_of(sessions.plan())
    order = [str(graph.operations[number]) for number in graph.in_order()]
    for each in dependencies:
        assert order.index(f"create {each}") < order.index("create terraform_data.x")
    applied()
    stored = json.loads(Path("terraform.tfstate").read_text())["resources"]
    (found,) = [each for each in stored if each["name"] == "x"]
    assert found["instances"][0].get("dependencies", []) == dependencies


_DATA = """
data "terraform_remote_state" "c" {
  for_each   = local.of
  backend    = "local"
  config     = { path = "other.tfstate" }
  depends_on = [%s]
}
"""
_EMPTY = {"version": 4, "terraform_version": "1.12.0", "serial": 1, "lineage": "a"}


@pytest.mark.parametrize(
    ("written", "variables", "waiting"),
    [
        ("terraform_data.db.id", {}, ["one", "two"]),
        ("local.deps.db", {}, ["one", "two"]),
        ("each.value ? terraform_data.db : null", {}, ["one"]),
        ('each.key == "two" ? [terraform_data.db] : []', {}, ["two"]),
        ("var.e ? terraform_data.db : null", {}, ["one", "two"]),
        ("var.e ? terraform_data.db : null", {"e": False}, []),
        # Which of them it is, is known after apply.
        ("terraform_data.db.output == 2 ? terraform_data.other : null", {}, ["one", "two"]),
        ("terraform_data.other, each.value ? terraform_data.db : null", {}, ["one"]),
    ],
)
def test_data_wait_for_what_their_own_value_refers_to(
    here: Path, written: str, variables: Variables, waiting: list[str]
) -> None:
    Path("other.tfstate").write_text(json.dumps(_EMPTY))
    _write(_DATA % written)
    applied()
    path = Path("main.tf")
    path.write_text(path.read_text().replace('"db" { input = 1 }', '"db" { input = 2 }'))
    changes = sessions.plan(variables).changes
    found = [each.address for each in changes if each.address.startswith("data.")]
    assert found == [f'data.terraform_remote_state.c["{key}"]' for key in waiting]


def test_calls_and_outputs_depend_on_values(here: Path) -> None:
    Path("m").mkdir()
    Path("m/main.tf").write_text('resource "terraform_data" "i" {}\n')
    _write(
        'module "m" {\n  source = "./m"\n  for_each = local.of\n'
        "  depends_on = [each.value ? local.deps.db : null]\n}\n"
        'output "o" {\n  value = 1\n  depends_on = [coalesce(terraform_data.db.id, "x")]\n}\n'
    )
    graph = graph_of(sessions.plan())
    order = [str(graph.operations[number]) for number in graph.in_order()]
    for key in ("one", "two"):
        inside = f'create module.m["{key}"].terraform_data.i'
        assert order.index("create terraform_data.db") < order.index(inside)


@pytest.mark.parametrize(
    ("written", "summary"),
    [
        ("local.nope.x", "Reference to undeclared local value"),
        ("terraform_data.db.nope", "Unsupported attribute"),
        ("each.value == 1 ? terraform_data.db : null", "Reference to each outside of for_each"),
        ("terraform_data.x.id", "Reference to itself"),
        ('upper("a")', "Reference required"),
        ('"${terraform_data.db.id}${terraform_data.other.id}"', "Reference required"),
        ("1", "Reference required"),
    ],
)
def test_mistakes_in_dependencies(here: Path, written: str, summary: str) -> None:
    _write(f'resource "terraform_data" "x" {{\n  depends_on = [{written}]\n}}\n')
    (found,) = failed().diagnostics
    assert found.summary == summary
    assert found.subject is not None
    is_cycle = summary == "Reference to itself"
    assert found.subject.start.line == (9 if is_cycle else 10)

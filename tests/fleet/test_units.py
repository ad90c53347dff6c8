"""Which units there are: what is found, and what fleet.hcl declares."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from nigari import cty
from nigari.diagnostics import Diagnostics, to_text
from nigari.fleet.units.graph_loader import Survey
from tests.fleet.trees import APP, DECLARED, NETWORK, surveyed, write_tree

_CALL = 'module "m" {\n  source = "%s"\n}\n'


def _shown(found: Survey) -> str:
    return to_text(found.diagnostics, found.sources)


FOUND: list[tuple[str, Mapping[str, str], list[str]]] = [
    ("every directory with configuration", {"a/main.tf": "", "b/c/x.tofu": ""}, ["a", "b/c"]),
    ("the root itself", {"main.tf": ""}, ["."]),
    ("JSON counts", {"a/main.tf.json": "{}"}, ["a"]),
    ("other files do not", {"a/readme.md": "", "b/x.tfvars": "", "c/t.tftest.hcl": ""}, []),
    (
        "called modules do not",
        {"a/main.tf": _CALL % "../modules/m", "modules/m/main.tf": ""},
        ["a"],
    ),
    (
        "modules of modules do not",
        {"a/x.tf": _CALL % "./in", "a/in/x.tf": _CALL % "../deep", "a/deep/x.tf": ""},
        ["a"],
    ),
    (
        "modules of tests do not",
        {
            "a/main.tf": "",
            "a/tests/x.tftest.hcl": 'run "r" {\n module {\n  source = "./tests/setup"\n }\n}\n',
            "a/tests/setup/main.tf": "",
        },
        ["a"],
    ),
    (
        "a source that has to be evaluated",
        {
            "a/main.tf": 'locals { n = "m" }\n' + _CALL % "../modules/${local.n}",
            "modules/m/main.tf": "",
            "modules/other/main.tf": "",
        },
        ["a", "modules/other"],
    ),
    (
        "hidden directories are not looked into",
        {"a/main.tf": "", "a/.terraform/modules/m/main.tf": "", ".git/x.tf": ""},
        ["a"],
    ),
    (
        "what is left out",
        {
            "fleet.hcl": 'fleet { exclude = ["old/**", "*/sandbox"] }',
            "a/main.tf": "",
            "a/sandbox/main.tf": "",
            "old/x/main.tf": "",
        },
        ["a"],
    ),
    (
        "only what is declared",
        {
            "fleet.hcl": 'fleet { discover = false }\nunit "one" { directory = "a" }',
            "a/main.tf": "",
            "b/main.tf": "",
        },
        ["one"],
    ),
    (
        "a called module that is declared is a unit",
        {
            "fleet.hcl": 'unit "m" { directory = "m" }',
            "a/main.tf": _CALL % "../m",
            "m/main.tf": "",
        },
        ["m", "a"],
    ),
    (
        "a name that is also that of a called module",
        {
            "fleet.hcl": 'unit "m" { directory = "a" }',
            "a/main.tf": "",
            "b/main.tf": _CALL % "../m",
            "m/main.tf": "",
        },
        ["m", "b"],
    ),
]


@pytest.mark.parametrize(("files", "names"), [row[1:] for row in FOUND], ids=[r[0] for r in FOUND])
def test_units(tmp_path: Path, files: Mapping[str, str], names: list[str]) -> None:
    found = surveyed(tmp_path, files)
    assert list(found.units) == names, _shown(found)
    assert not found.has_errors


def test_links_are_not_followed(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/main.tf": ""})
    (tmp_path / "again").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    assert list(surveyed(tmp_path).units) == ["a"]


def test_the_same_directory_for_several_environments(tmp_path: Path) -> None:
    found = surveyed(tmp_path, DECLARED)
    assert not found.has_errors, _shown(found)
    assert list(found.units) == [
        'network["dev"]',
        'network["prod"]',
        'app["dev"]',
        'app["prod"]',
    ]
    prod = found.units['network["prod"]']
    assert (prod.directory, prod.workspace) == ("network", "prod")
    assert prod.var_files == (str(tmp_path / "network/env/prod.tfvars"),)
    assert found.units['app["dev"]'].labels == ("dev",)
    variables = found.definition.values.variables('network["prod"]', {}, found.definition.diags)
    assert variables.values["region"].to_python() == "us-east-1"


def test_functions_and_files_in_the_definition(tmp_path: Path) -> None:
    text = """
    locals { teams = yamldecode(file("teams.yaml")) }
    unit "team" {
      for_each  = { for t in local.teams : lower(t.name) => t }
      directory = "team"
      workspace = "team-${each.key}"
      labels    = each.value.labels
      env       = { AWS_PROFILE = each.key }
    }
    """
    teams = "- {name: Red, labels: [x]}\n- {name: Blue, labels: []}\n"
    found = surveyed(tmp_path, {"fleet.hcl": text, "teams.yaml": teams, "team/main.tf": ""})
    assert not found.has_errors, _shown(found)
    red = found.units['team["red"]']
    assert (red.workspace, red.labels) == ("team-red", ("x",))
    assert red.environment({"A": "1"})["AWS_PROFILE"] == "red"


def test_units_of_one_directory_have_their_own_data(tmp_path: Path) -> None:
    found = surveyed(tmp_path, DECLARED)
    data = {unit.environment({})["TF_DATA_DIR"] for unit in found.units.values()}
    assert len(data) == 4
    assert "TF_DATA_DIR" not in surveyed(tmp_path / "x", {"a/main.tf": ""}).units["a"].environment(
        {}
    )


WRONG = [
    ('unit "a" { directory = "none" }', "No such directory"),
    ('unit "a" {}', "directory"),
    ('unit "a" { directory = "app" }\nunit "a" { directory = "app" }', "Duplicate unit"),
    (
        'unit "a" {\n  for_each  = toset(["x"])\n  directory = "app"\n}\nunit "a" { directory = "app" }',
        "Duplicate unit",
    ),
    ('unit "app" { directory = "network" }', "there is also a unit in the"),
    (
        'unit "a" {\n  directory = "app"\n  variables = { v = unit.apq.outputs.x }\n}',
        'There is no unit "apq"',
    ),
    (
        'unit "a" {\n  directory = "app"\n  depends_on = [unit["netwrk"]]\n}',
        'Did you mean "network"?',
    ),
    ('unit "a" {\n directory = "app"\n backend_config = "x"\n}', "must be an object"),
    ('unit "a" {\n directory = "app"\n backend_config = ["no.tfbackend"]\n}', "no.tfbackend"),
    ('unit "a" {\n directory = "app"\n labels = "x"\n}', "labels"),
    ('unit "a" {\n directory = "app"\n colour = "x"\n}', "colour"),
    ('unit "a" {\n directory = "app"\n variables = 5\n}', "must be an object"),
    ('unit "a" {\n directory = "app"\n variables = { v = unit.none.outputs.x }\n}', "none"),
    ('unit "a" {\n directory = unit.b.directory\n}', "unit"),
    ('unit "a" {\n for_each = timestamp()\n directory = "app"\n}', "timestamp"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_mistakes_are_reported_with_their_places(tmp_path: Path, text: str, message: str) -> None:
    files = {"fleet.hcl": text, "app/main.tf": APP, "network/main.tf": NETWORK}
    found = surveyed(tmp_path, files)
    assert found.has_errors
    shown = _shown(found)
    assert message in shown
    assert "fleet.hcl line" in shown


def test_a_unit_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    found = surveyed(tmp_path, {"a/main.tf": "resource {", "b/main.tf": NETWORK})
    assert list(found.units) == ["a", "b"]
    (problem, *_) = found.problems("a")
    assert problem.subject is not None
    assert problem.subject.filename == "a/main.tf"
    assert not found.problems("b")


def test_environments_of_a_directory(tmp_path: Path) -> None:
    environments = """
    environment "dev" {
      variables = { region = "eu" }
      backend   = { path = "dev.tfstate" }
    }
    environment "prod" {
      workspace = "prod"
      variables = { region = "us" }
    }
    """
    text = """
    unit "a" {
      for_each    = toset(["dev", "prod"])
      directory   = "a"
      environment = each.key
    }
    """
    network = 'terraform {\n  backend "local" {}\n}\n' + NETWORK
    found = surveyed(
        tmp_path, {"fleet.hcl": text, "a/main.tf": network, "a/environments.hcl": environments}
    )
    assert not found.has_errors, _shown(found)
    states = {name: str(state) for name, state in found.graph.states.items()}
    assert states['a["dev"]'].endswith('a/dev.tfstate"')
    assert states['a["prod"]'].endswith('terraform.tfstate.d/prod/terraform.tfstate"')
    (tmp_path / "fleet.hcl").unlink()
    chosen = surveyed(tmp_path, {"b/main.tf": NETWORK}, NIGARI_ENV="dev")
    assert not chosen.problems("a")
    assert [unit.environment_name for unit in chosen.units.values()] == ["dev", ""]
    wrong = surveyed(tmp_path, {"fleet.hcl": text.replace("each.key", '"test"')})
    assert wrong.problems('a["dev"]')


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("unit.a[each.key].outputs.v", "x-out"),
        ('"${unit.a["x"].outputs.v} ${unit.a[each.value].outputs.v}"', "x-out y-out"),
        ('"${unit.a[each.key].outputs.v} ${length(unit.a)}"', "x-out 2"),
        ('join(" ", [for one in unit.a : one.outputs.v])', "x-out y-out"),
        ('join(" ", [for key in ["y", "x"] : unit.a[key].outputs.v])', "y-out x-out"),
        ("unit.a[unit.c.outputs.key].outputs.v", "y-out"),
        ("unit.a[(each.key)].outputs.v", "x-out"),
        ("values(unit.a)[1].outputs.v", "y-out"),
        ('unit.a["y"].outputs.map[each.key]', "y-map"),
        ("unit.a[each.value].outputs.map[each.key]", "y-map"),
        ("unit.a.y.outputs.v", "y-out"),
    ],
)
def test_outputs_of_instances(tmp_path: Path, text: str, value: str) -> None:
    definition = f"""
    unit "a" {{
      for_each  = toset(["x", "y"])
      directory = "a"
    }}
    unit "b" {{
      for_each  = {{ x = "y" }}
      directory = "b"
      variables = {{ given = {text} }}
    }}
    unit "c" {{ directory = "c" }}
    """
    files = {f"{each}/main.tf": "" for each in "abc"}
    found = surveyed(tmp_path, {**files, "fleet.hcl": definition})
    assert not found.diagnostics
    outputs = {
        f'a["{key}"]': {
            "v": cty.string(f"{key}-out"),
            "map": cty.object_value({"x": cty.string(f"{key}-map")}),
        }
        for key in "xy"
    }
    given = {**outputs, "c": {"key": cty.string("y")}}
    diags = Diagnostics()
    values = found.definition.values.variables('b["x"]', given, diags).values
    assert not diags.in_order()
    assert values["given"].to_python() == value

"""Module calls whose instances differ, as commands show them: every kind once."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import FrameType

import pytest

from tests.cli.process import Done, inside

MAIN = """\
module "m" {
  for_each = { a = "./one", b = "./two", c = "./two" }
  source   = each.value
}
resource "terraform_data" "r" {
  input = module.m["b"].other
}
"""
ONE = """\
resource "terraform_data" "x" {}
output "id" {
  value = terraform_data.x.id
}
"""
TWO = """\
resource "terraform_data" "y" {}
output "other" {
  value = terraform_data.y.id
}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write({"main.tf": MAIN, "one/main.tf": ONE, "two/main.tf": TWO})


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    done = inside("init")
    assert done.code == 0, done.err


def said(*args: str, code: int = 0) -> str:
    done: Done = inside(*args)
    assert done.code == code, done.out + done.err
    return done.out + done.err


def test_the_configuration_of_a_plan_has_every_variant() -> None:
    said("plan", "-out=p")
    data = json.loads(said("show", "-json", "p"))
    calls = data["configuration"]["root_module"]["module_calls"]
    found = {
        name: (call["source"], call["instance_keys"], call["module"]["resources"][0]["address"])
        for name, call in calls.items()
    }
    assert found == {
        'm["a"]': ("./one", ["a"], "terraform_data.x"),
        'm["b"]': ("./two", ["b", "c"], "terraform_data.y"),
    }


def test_a_call_whose_instances_are_alike_is_one_member() -> None:
    write({"main.tf": MAIN.replace("one", "two")})
    said("plan", "-out=p")
    calls = json.loads(said("show", "-json", "p"))["configuration"]["root_module"]["module_calls"]
    assert list(calls) == ["m"]
    assert "instance_keys" not in calls["m"]


def test_a_member_has_what_any_of_its_instances_calls() -> None:
    outer = """\
variable "number" {}
variable "name" {
  default = "n${var.number}"
}
variable "fixed" {
  default = lower("F")
}
module "n" {
  count  = var.number
  source = "../one"
}
"""
    call = 'module "m" {\n  for_each = { a = 0, b = 1 }\n  source = "./outer"\n  number = each.value\n}\n'
    write({"main.tf": call, "outer/main.tf": outer})
    said("plan", "-out=p")
    data = json.loads(said("show", "-json", "p"))["configuration"]
    member = data["root_module"]["module_calls"]["m"]["module"]
    assert [each["name"] for each in member["module_calls"]["n"]["module"]["resources"]] == ["x"]
    assert member["variables"] == {
        "fixed": {"default": "f"},
        "name": {},
        "number": {"required": True},
    }
    assert list(data["provider_config"]) == ["module.m.module.n:terraform"]


def test_defaults_depend_on_the_instance() -> None:
    given = 'variable "v" {}\nvariable "w" {\n  default = "${var.v}!"\n}\n'
    output = 'output "w" {\n  value = var.w\n}\n'
    call = 'module "m" {\n  for_each = toset(["a", "b"])\n  source = "./one"\n  v = each.key\n}\n'
    write({"main.tf": call, "one/main.tf": given + output})
    assert said("eval", "[for m in module.m : m.w]").split() == ["[", '"a!",', '"b!",', "]"]
    unknown = call.replace('toset(["a", "b"])', "{ a = terraform_data.x.id }")
    unknown = unknown.replace("each.key", "each.value") + 'resource "terraform_data" "x" {}\n'
    Path("main.tf").write_text(unknown)
    found = said("validate", code=1)
    assert 'The default of var.w of module.m["a"] must be known' in " ".join(found.split())


def test_the_resolved_configuration_names_variants() -> None:
    modules = json.loads(said("config", "-json"))["modules"]
    assert {each["address"]: each["variant"] for each in modules} == {
        "": "",
        'module.m["a"]': 'module.m["a"]',
        'module.m["b"]': 'module.m["b"]',
        'module.m["c"]': 'module.m["b"]',
    }


def test_keys_may_be_left_out_at_any_depth() -> None:
    inner = """\
module "n" {
  for_each = toset(["p", "q"])
  source   = "../leaf"
  first    = each.key == "p"
}
"""
    leaf = """\
variable "first" {}
resource "terraform_data" "l" {
  lifecycle {
    create_before_destroy = var.first
  }
}
output "id" {
  value = terraform_data.l.id
}
"""
    write({"one/main.tf": ONE + inner, "leaf/main.tf": leaf})
    p, q = (f'module.m["a"].module.n["{key}"].id' for key in "pq")
    for address, users in (
        ("module.m.module.n.terraform_data.l", [p, q]),
        ('module.m["a"].module.n.terraform_data.l', [p, q]),
        ('module.m.module.n["q"].terraform_data.l', [q]),
        ('module.m["a"].module.n["p"].terraform_data.l', [p]),
    ):
        assert said("uses", "-list", address).split() == users
    assert "Nothing in the configuration is named" in said(
        "uses", 'module.m["b"].module.n.terraform_data.l', code=1
    )


def test_users_of_every_variant() -> None:
    assert said("uses", "-list", "module.m.terraform_data.y").split() == [
        'module.m["b"].other',
        "terraform_data.r",
    ]
    assert said("uses", 'module.m["c"].terraform_data.y').splitlines()[:2] == [
        'module.m["c"].terraform_data.y',
        '└── module.m["b"].other',
    ]
    assert said("uses", "-list", 'module.m["a"].terraform_data.x').split() == ['module.m["a"].id']
    assert set(said("uses", "-list", "module.m").split()) == {
        'module.m["a"].terraform_data.x',
        'module.m["a"].id',
        'module.m["b"].terraform_data.y',
        'module.m["b"].other',
        "terraform_data.r",
    }
    assert "terraform_data.r" in said("uses", "-list", "two/main.tf").split()
    assert "terraform_data.r" not in said("uses", "-list", "one/main.tf").split()


def test_the_sources_of_all_instances_are_explained() -> None:
    found = said("explain", "module.m.source")
    assert found.startswith(
        'module.m.source = {\n  "a" = "./one"\n  "b" = "./two"\n  "c" = "./two"\n}\n'
    )
    assert '  module.m["b"].source = "./two"\n' in found
    assert said("explain", 'module.m["a"].source').startswith('module.m["a"].source = "./one"\n')
    wrong = " ".join(said("explain", "module.m.terraform_data.x.input", code=1).split())
    assert 'stands for instances that differ. Add a key. The instances are ["a"], ["b"]' in wrong


def test_an_instance_of_a_provider_is_explained() -> None:
    provider = 'provider "terraform" {\n  alias    = "by"\n  for_each = { eu = "x", us = "y" }\n}\n'
    Path("providers.tf").write_text(provider)
    found = said("explain", 'provider.terraform.by["eu"]')
    assert found.startswith('provider.terraform.by["eu"] = "x"\n')
    assert 'for_each["eu"] = "x"' in found
    wrong = said("explain", 'provider.terraform.by["no"]', code=1)
    assert 'The instances are ["eu"] and ["us"]' in " ".join(wrong.split())
    assert wrong.count("Error: ") == 1


def test_the_graph_of_blocks_and_of_operations() -> None:
    assert 'create module.m[\\"b\\"].terraform_data.y' in said("graph")
    assert said("validate") == "Success! The configuration is valid.\n"


def test_what_an_instance_had_that_is_gone_outlives_its_users() -> None:
    first = (
        'resource "terraform_data" "x" {\n  lifecycle {\n    create_before_destroy = true\n  }\n}\n'
    )
    output = 'output "id" {\n  value = terraform_data.x.id\n}\n'
    after = 'resource "terraform_data" "after" {\n  input = [for m in module.m : m.id]\n}\n'
    call = 'module "m" {\n  for_each = { a = "./one", b = "./two" }\n  source = each.value\n}\n'
    files = {"one/main.tf": first + output, "two/main.tf": ONE}
    write({**files, "main.tf": call + after})
    said("apply", "-auto-approve")
    write({"main.tf": call.replace('a = "./one", ', "") + after})
    said("plan", "-out=p")
    edge = 'destroy module.m[\\"a\\"].terraform_data.x" -> "update terraform_data.after"'
    assert edge in said("graph", "-plan=p").replace("delete", "destroy")


def test_providers_are_listed_for_every_variant() -> None:
    found = said("providers")
    assert 'module.m["a"]' in found
    assert 'module.m["b"]' in found
    assert 'module.m["c"]' not in found


@pytest.mark.parametrize(
    ("expr", "is_right"),
    [
        ("[for m in module.m : m.id]", False),
        ("values(module.m)[*].id", False),
        ("values(module.m).*.id", False),
        ("[for m in [for each in module.m : each] : m.id]", False),
        ("[for x in [1] : [for m in module.m : [for y in [m.id] : y]]]", False),
        ("[for k in keys(module.m) : module.m[k].id]", False),
        ("{ for k, m in merge(module.m, {}) : m.id => k... }", False),
        ("[for m in module.m : m.id if can(m.id)]", True),
        ('[for k, m in module.m : m.id if k == "a"]', True),
        ("{ for k, m in module.m : k => try(m.id, null) }", True),
        ("length(module.m)", True),
    ],
)
@pytest.mark.parametrize(
    "place",
    [
        'output "all" {{\n  value = {}\n}}\n',
        "locals {{\n  all = {}\n}}\n",
        'resource "terraform_data" "all" {{\n  input = {}\n}}\n',
    ],
)
def test_validate_looks_into_collections_of_instances(
    place: str, expr: str, is_right: bool
) -> None:
    write({"more.tf": place.format(expr)})
    found = said("validate", code=0 if is_right else 1)
    assert ('no attribute named "id"' in found) is not is_right


def test_a_mistake_names_the_instances_that_have_it() -> None:
    keys = [*"bcdefg"]
    calls = ", ".join(f'{key} = "./two"' for key in keys)
    write({"main.tf": MAIN.replace('b = "./two", c = "./two"', calls)})
    Path("two/main.tf").write_text(TWO.replace("{}", "{\n  inptu = 1\n}", 1))
    found = said("validate", code=1)
    assert found.count("Error: ") == 1
    where = 'with module.m["b"], module.m["c"], module.m["d"] and 3 more,'
    assert where in found


def test_one_instance_is_overridden_in_a_test() -> None:
    write(
        {
            "main.tf": MAIN
            + 'output "all" {\n  value = [module.m["b"].other, module.m["c"].other]\n}\n'
        }
    )
    test = """\
override_module {
  target  = module.m["b"]
  outputs = { other = "made up" }
}
run "r" {
  command = apply
  assert {
    condition     = output.all[0] == "made up" && length(output.all[1]) == 36
    error_message = "other than expected"
  }
}
"""
    Path("tests").mkdir()
    Path("tests/main.tftest.hcl").write_text(test)
    assert "1 passed, 0 failed" in said("test")
    Path("tests/main.tftest.hcl").write_text(test.replace('["b"]', '["no"]'))
    assert 'The tested configuration has no module.m["no"]' in said("test", code=1)


def test_a_cycle_through_two_instances_of_one_source_says_what_to_do() -> None:
    given = 'variable "v" {\n  default = ""\n}\noutput "v" {\n  value = var.v\n}\n'
    call = """\
module "m" {
  for_each = toset(["a", "b"])
  source   = "./one"
  v        = each.key == "a" ? "" : module.n.v
}
module "n" {
  source = "./one"
  v      = module.m["a"].id
}
"""
    write({"main.tf": call, "one/main.tf": ONE.replace("{}", "{\n  input = var.v\n}", 1) + given})
    found = " ".join(said("validate", code=1).split())
    assert "Instances of a module call that have the same source are taken together" in found


@pytest.mark.parametrize(
    "sources", ["./one", '${each.key == "x" ? "./two" : "./one"}', "./m${each.key}"]
)
def test_the_cost_of_a_plan_is_linear_in_the_instances(sources: str) -> None:
    few, many = (_calls_of_a_plan(number, sources) for number in (60, 120))
    assert many < 2.2 * few


def _calls_of_a_plan(number: int, source: str) -> int:
    """How many functions a plan calls with so many module instances."""
    write({f"m{each}/main.tf": ONE for each in range(number if "/m" in source else 0)})
    write(
        {
            "main.tf": f"""
module "m" {{
  for_each = toset([for n in range({number}) : tostring(n)])
  source   = "{source}"
}}
"""
        }
    )
    calls = 0

    def count(_frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        said("plan")
    finally:
        sys.setprofile(before)
    return calls

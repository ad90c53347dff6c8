"""A plan on the page: what changes and how, what drifted, checks and outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.explore.explored import Data, Values, explored_plan

BEFORE = {
    "main.tf": """\
resource "terraform_data" "a" {
  count = 3
  input = { name = "same", old = "x" }
}
resource "terraform_data" "text" {
  input = "one\\ntwo\\n"
}
resource "terraform_data" "gone" {}
output "o" {
  value = 1
}
"""
}
AFTER = {
    "main.tf": """\
resource "terraform_data" "a" {
  count = 3
  input = { name = "same", new = [1] }
}
resource "terraform_data" "text" {
  input            = "one\\nthree\\n"
  triggers_replace = "now"
}
module "m" {
  source = "./m"
}
output "o" {
  value = 2
}
check "c" {
  assert {
    condition     = terraform_data.text.triggers_replace == "never"
    error_message = "It is not."
  }
}
""",
    "m/main.tf": 'resource "terraform_data" "json" {\n  input = jsonencode({ a = [1] })\n}\n',
}


@pytest.fixture(name="plan", scope="module")
def explored_data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return explored_plan(tmp_path_factory.mktemp("plan"), AFTER, BEFORE).data


def changes(data: Data) -> dict[str, Data]:
    return {each["address"]: each for each in data["plan"]["changes"]}


def parts(data: Data, address: str) -> dict[str, Data]:
    """The entries of a change by name."""
    entries = [json.loads(data["plan"]["parts"][each]) for each in changes(data)[address]["diff"]]
    return {entry[0]: entry[1] for entry in entries}


def test_actions(plan: Data) -> None:
    assert {address: each["action"] for address, each in changes(plan).items()} == {
        "module.m.terraform_data.json": "create",
        "terraform_data.a[0]": "update",
        "terraform_data.a[1]": "update",
        "terraform_data.a[2]": "update",
        "terraform_data.gone": "delete",
        "terraform_data.text": "replace",
    }
    assert plan["plan"]["counts"] == {
        "add": 2,
        "change": 3,
        "destroy": 2,
        "import": 0,
        "forget": 0,
    }


def test_reasons_and_places(plan: Data) -> None:
    found = changes(plan)
    assert found["terraform_data.gone"]["why"].endswith("is not in configuration")
    assert "triggers_replace" in found["terraform_data.text"]["why"]
    assert found["terraform_data.text"]["steps"] == ["delete", "create"]
    file, start, _ = found["module.m.terraform_data.json"]["at"]
    assert plan["files"][file]["name"] == "m/main.tf"
    assert plan["files"][file]["text"][start:].startswith("resource")


def test_an_object_part_by_part(plan: Data) -> None:
    found = parts(plan, "terraform_data.a[0]")["input"]
    assert found[:4] == ["m", "~", 0, 0]
    assert found[4] == {
        "name": ["s", " ", 0, "same", "same"],
        "new": ["l", "+", 0, 0, [["s", "+", 0, None, ["#", "1"]]]],
        "old": ["s", "-", 0, "x", None],
    }


def test_a_text_line_by_line(plan: Data) -> None:
    found = parts(plan, "terraform_data.text")
    assert found["input"] == ["t", "~", 0, [[" ", "one"], ["-", "two"], ["+", "three"]]]
    assert found["triggers_replace"] == ["s", "+", 1, None, "now"]


def test_the_lines_of_a_new_text_are_new(tmp_path: Path) -> None:
    new = {"main.tf": 'resource "terraform_data" "new" {\n  input = "one\\ntwo"\n}\n'}
    found = parts(explored_plan(tmp_path, new, {}).data, "terraform_data.new")
    assert found["input"] == ["t", "+", 0, [["+", "one"], ["+", "two"]]]


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ('["a", "b", "c"]', '["a", "x", "y"]', [" a", "~b", "~c"]),
        ('["a", "b", "c"]', '["x", "c"]', ["-a", "-b", "+x", " c"]),
        ('["a", "b"]', '["x", "y", "b"]', ["-a", "+x", "+y", " b"]),
        ('["a", "b"]', '["a", terraform_data.new.id]', [" a", "~b"]),
        ('["a", ["b"]]', '["a", {}]', [" a", "~b"]),
    ],
)
def test_elements_that_others_replace_are_changes(
    tmp_path: Path, before: str, after: str, changes: list[str]
) -> None:
    new = 'resource "terraform_data" "new" {}\n'
    old = {"main.tf": f'output "o" {{\n  value = {before}\n}}\n'}
    files = {"main.tf": f'{new}output "o" {{\n  value = {after}\n}}\n'}
    data: Data = explored_plan(tmp_path, files, old).data
    (output,) = data["plan"]["outputs"]
    name, part = json.loads(data["plan"]["parts"][output["diff"]])
    assert (name, part[1]) == ("o", "~")
    assert [each[1] + _leaf(each) for each in part[4]] == changes


def _leaf(part: Data) -> str:
    """The first text in a part."""
    while part[0] != "s":
        part = part[4][0] if part[0] == "l" else part[3]
    return str(part[3] if part[3] is not None else part[4])


def test_json_in_a_string(plan: Data) -> None:
    found = parts(plan, "module.m.terraform_data.json")["input"]
    assert found[0] == "j"
    assert found[3] == ["m", "+", 0, 0, {"a": ["l", "+", 0, 0, [["s", "+", 0, None, ["#", "1"]]]]}]


def test_equal_parts_are_written_once(plan: Data) -> None:
    inputs = {changes(plan)[f"terraform_data.a[{at}]"]["diff"][1] for at in range(3)}
    assert len(inputs) == 1


def test_outputs_and_checks(plan: Data) -> None:
    (output,) = plan["plan"]["outputs"]
    assert json.loads(plan["plan"]["parts"][output["diff"]]) == [
        "o",
        ["s", "~", 0, ["#", "1"], ["#", "2"]],
    ]
    (check,) = plan["plan"]["checks"]
    assert (check["address"], check["status"]) == ("check.c", "fail")
    (checked,) = check["objects"]
    assert (checked["address"], checked["messages"]) == ("check.c", ["It is not."])


def test_operations_are_a_graph(plan: Data) -> None:
    operations = plan["operations"]
    named = {f"{each['kind']} {each['address']}": each for each in operations}
    create = named["create terraform_data.text"]
    before = {f"{operations[at]['kind']} {operations[at]['address']}" for at in create["needs"]}
    assert "delete terraform_data.text" in before
    assert named["create module.m.terraform_data.json"]["module"] == "module.m"


def test_reasons_lead_to_what_sets_a_value(tmp_path: Path) -> None:
    def files(env: str) -> dict[str, str]:
        return {
            "main.tf": 'variable "env" {}\nlocals {\n  name = "${var.env}-x"\n}\n'
            'resource "terraform_data" "a" {\n  count = 2\n  input = local.name\n}\n',
            "terraform.tfvars": f'env = "{env}"\n',
        }

    data: Data = explored_plan(tmp_path, files("b"), files("a")).data
    numbers = {each["reason"] for each in data["plan"]["changes"]}
    # Reasons that are the same are written once.
    assert len(numbers) == 1
    (argument,) = json.loads(data["plan"]["reasons"][numbers.pop()])["arguments"]
    assert (argument["path"], argument["source"]) == ("input", "configuration")
    assert [step[:3] for step in argument["steps"]] == [
        [0, "local.name", '"b-x"'],
        [1, "var.env", '"b"'],
    ]


def test_many_instances_of_a_block_share_the_reasons_of_the_first(tmp_path: Path) -> None:
    text = 'resource "terraform_data" "a" {\n  count = 25\n  input = "x${count.index}"\n}\n'
    data: Data = explored_plan(tmp_path, {"main.tf": text}, {}).data
    told = [each.get("reason_of", "") for each in data["plan"]["changes"]]
    assert told == [""] * 20 + ["terraform_data.a[0]"] * 5


@pytest.mark.parametrize(
    ("name", "giver", "written"),
    [("env", "terraform.tfvars", '"b"'), ("size", "default", "1")],
)
def test_a_plan_knows_what_sets_variables(
    tmp_path: Path, name: str, giver: str, written: str
) -> None:
    files = {
        "main.tf": 'variable "env" {}\nvariable "size" {\n  default = 1\n}\n'
        'resource "terraform_data" "a" {\n  input = "${var.env} ${var.size}"\n}\n',
        "terraform.tfvars": 'env = "b"\n',
    }
    values = Values(explored_plan(tmp_path, files, {}))
    row = values.row(f"var.{name}")
    assert (row["giver"], values.written(row["expr"])) == (giver, written)


_CHECKED = """\
variable "size" {
  default = 1
  validation {
    condition     = var.size > 0
    error_message = "It must be positive."
  }
}
variable "secret" {
  default   = "planted-value"
  sensitive = true
}
locals {
  names = [for number in range(var.size) : "n${number}"]
}
check "several" {
  assert {
    condition     = var.size > 0
    error_message = "This holds."
  }
  assert {
    condition     = length(local.names) > 4
    error_message = "Too few."
  }
  assert {
    condition     = var.secret == "x"
    error_message = "Not this one."
  }
}
check "read" {
  data "terraform_remote_state" "other" {
    backend = "local"
    config  = { path = "nothing.tfstate" }
  }
  assert {
    condition     = data.terraform_remote_state.other.outputs.x == var.size
    error_message = "It is another."
  }
}
module "m" {
  for_each = toset(["a", "b"])
  source   = "./m"
  key      = each.key
}
"""
_KEYED = """\
variable "key" {}
check "key" {
  assert {
    condition     = var.key == "a"
    error_message = "It is ${var.key}."
  }
}
"""


def test_a_failed_check_has_its_place_and_values(tmp_path: Path) -> None:
    values = Values(explored_plan(tmp_path, {"main.tf": _CHECKED, "m/main.tf": _KEYED}, {}))
    assert "planted" not in json.dumps(values.data)
    checks = {each["address"]: each for each in values.data["plan"]["checks"]}

    def conditions(address: str) -> dict[str, dict[str, list[str]]]:
        """The conditions by object, and the values behind them."""
        found: dict[str, dict[str, list[str]]] = {}
        for each in checks[address]["objects"]:
            if "reason" in each:
                reason = json.loads(values.data["plan"]["reasons"][each["reason"]])
                found[each["address"]] = {
                    values.written(one["at"]): [f"{step[1]} = {step[2]}" for step in one["steps"]]
                    for one in reason["arguments"]
                }
        return found

    assert values.written(checks["check.several"]["at"]) == 'check "several"'
    several = conditions("check.several")["check.several"]
    assert list(several) == ["length(local.names) > 4", 'var.secret == "x"']
    assert several["length(local.names) > 4"] == ['local.names = ["n0"]', "var.size = 1"]
    assert several['var.secret == "x"'] == ["var.secret = (sensitive value)"]
    (read,) = conditions("check.read")["check.read"].values()
    assert "var.size = 1" in read
    assert values.written(checks["module.m.check.key"]["at"]) == 'check "key"'
    keyed = conditions("module.m.check.key")
    assert list(keyed) == ['module.m["b"].check.key']
    (steps,) = keyed['module.m["b"].check.key'].values()
    assert steps[0] == 'var.key of module.m["b"] = "b"'

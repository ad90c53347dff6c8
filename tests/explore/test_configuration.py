"""The configuration on the page: every value with its text, its reasons and what it comes from."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

import pytest

from tests.explore.explored import Data, Values, explored

FILES = {
    "main.tf": """\
# Ünïcode 🧊 before everything.
variable "env" {
  default = "prod"
}
variable "owner" {
  description = "Who is to blame"
}
locals {
  name  = "${var.env}-app"
  later = terraform_data.x["b"].id
}
module "m" {
  for_each = { a = "one", b = "two" }
  source   = "./${each.value}"
  title    = upper(local.name)
}
resource "terraform_data" "x" {
  for_each = toset(["a", "b"])
  input    = each.key
  provisioner "local-exec" {
    command = "true"
  }
}
output "titles" {
  value = [for m in module.m : m.title]
}
""",
    "terraform.tfvars": 'env = "test"\n',
    "one/main.tf": 'variable "title" {}\noutput "title" {\n  value = var.title\n}\n',
    "two/main.tf": 'variable "title" {}\noutput "title" {\n  value = "two ${var.title}"\n}\n',
}


@pytest.fixture(name="values", scope="module")
def explored_values(tmp_path_factory: pytest.TempPathFactory) -> Values:
    return Values(explored(tmp_path_factory.mktemp("explored"), FILES))


@pytest.mark.parametrize(
    ("name", "text", "phase"),
    [
        ("var.env", '"test"', "static"),
        ("var.owner", "(no value)", "missing"),
        ("local.name", '"test-app"', "static"),
        ("local.later", "(known after apply)", "apply"),
        ('module.m["a"].source', '"./one"', "static"),
        ('output.title of module.m["b"]', '"two TEST-APP"', "static"),
        ('terraform_data.x["a"].input', '"a"', "static"),
        ("terraform_data.x.for_each", 'toset([\n  "a",\n  "b",\n])', "static"),
    ],
)
def test_a_value_has_a_text_and_a_phase(values: Values, name: str, text: str, phase: str) -> None:
    assert (values.text(name), values.row(name)["phase"]) == (text, phase)


@pytest.mark.parametrize(
    ("name", "links"),
    [
        ("local.name", [("var.env", ["var.env"])]),
        ('module.m["a"].source', [("each.value", ["each.value"])]),
        ('terraform_data.x["b"].input', [("each.key", ["each.key"])]),
        (
            "output.titles",
            [("module.m", ['output.title of module.m["a"]', 'output.title of module.m["b"]'])],
        ),
        ('var.title of module.m["a"]', [("local.name", ["local.name"])]),
        ("local.later", [('terraform_data.x["b"]', ["terraform_data.x"])]),
    ],
)
def test_links_lead_one_step_back(
    values: Values, name: str, links: list[tuple[str, list[str]]]
) -> None:
    assert values.links(name) == links


def test_each_leads_to_the_argument_that_repeats_the_block(values: Values) -> None:
    rows = [row for row in values.data["values"]["rows"] if row["name"] == "each.value"]
    texts = values.data["values"]["texts"]
    assert sorted(texts[row["text"]] for row in rows) == ['"one"', '"two"']
    for row in rows:
        ((place, numbers),) = row["links"]
        assert values.written(place) == '{ a = "one", b = "two" }'
        assert values.data["values"]["rows"][numbers[0]]["name"] == "module.m.for_each"


def test_places_are_where_things_are_written(values: Values) -> None:
    assert values.written(values.row("local.name")["expr"]) == '"${var.env}-app"'
    assert values.written(values.row("var.env")["expr"]) == '"test"'
    assert values.row("var.env")["giver"] == "terraform.tfvars"


def test_what_is_not_known_says_why(values: Values) -> None:
    assert values.row("local.later")["reasons"][0].startswith("local.later ← terraform_data.x")
    assert "reasons" not in values.row("local.name")


def test_modules_have_what_they_declare(values: Values) -> None:
    modules: Data = {each["address"]: each for each in values.data["configuration"]["modules"]}
    assert list(modules) == ["", 'module.m["a"]', 'module.m["b"]']
    root = modules[""]
    assert [each["name"] for each in root["variables"]] == ["env", "owner"]
    assert root["variables"][1]["description"] == "Who is to blame"
    (resource,) = root["resources"]
    assert (resource["address"], resource["count"]) == ("terraform_data.x", 2)
    assert [each["key"] for each in resource["instances"]] == ['["a"]', '["b"]']
    # What differs in each instance is not told once more for the block.
    assert "arguments" not in resource
    assert [each["is_installed"] for each in root["calls"][0]["calls"]] == [True, True]


def test_a_module_that_is_not_installed_is_said_to_be_missing(tmp_path: Path) -> None:
    files = {"main.tf": 'module "far" {\n  source = "git::https://example.com/far.git"\n}\n'}
    document = explored(tmp_path, files)
    data: Data = document.data
    (call,) = data["configuration"]["modules"][0]["calls"]
    assert call["calls"][0]["is_installed"] is False
    assert data["problems"]


def test_blocks_are_a_graph(values: Values) -> None:
    blocks = values.data["blocks"]
    needs = {
        each["address"]: {blocks[number]["address"] for number in each["needs"]} for each in blocks
    }
    assert needs["local.name"] == {"var.env"}
    assert 'module.m["a"].var.title' in needs['module.m["a"].title']
    assert needs["output.titles"] == {'module.m["a"].title', 'module.m["b"].title'}
    kinds = {each["address"]: each["kind"] for each in blocks}
    assert kinds["terraform_data.x"] == "resource"
    assert kinds['module.m["b"]'] == "module"


def test_blocks_of_alike_instances_are_one(tmp_path: Path) -> None:
    sources = '{ a = "one", b = "two", c = "one", d = "one" }'
    files = {**FILES, "main.tf": FILES["main.tf"].replace('{ a = "one", b = "two" }', sources)}
    data: Data = explored(tmp_path, files).data
    modules = data["configuration"]["modules"]
    variants = {each["address"]: each.get("variant", each["address"]) for each in modules}
    alike = {variants[f'module.m["{key}"]'] for key in "acd"}
    assert len(alike) == 1
    assert variants['module.m["b"]'] not in alike
    blocks = {each["address"]: each.get("module", "") for each in data["blocks"]}
    for variant in variants.values():
        assert blocks[f"{variant}.title" if variant else "output.titles"] == variant


def test_the_document_cannot_end_the_script_that_it_is_in(tmp_path: Path) -> None:
    document = explored(tmp_path, {"main.tf": 'locals {\n  a = "</script><!-- \\ud800"\n}\n'})
    assert "<" not in document.packed()
    assert json.loads(gzip.decompress(base64.b64decode(document.packed()))) is not None


def test_parts_of_expressions_have_values(tmp_path: Path) -> None:
    files = {
        "main.tf": 'variable "a" {\n  default = { x = "y" }\n}\nlocals {\n'
        '  b = "${upper(var.a.x)}-${length([for k in ["p"] : k])}"\n'
        "  c = true ? lower(local.b) : tonumber(local.b)\n}\n"
    }
    values = Values(explored(tmp_path, files))

    def parts(name: str) -> dict[str, str]:
        texts = values.data["values"]["texts"]
        return {values.written(place): texts[text] for place, text, _ in values.row(name)["parts"]}

    assert parts("local.b") == {
        "upper(var.a.x)": '"Y"',
        "var.a.x": '"y"',
        'length([for k in ["p"] : k])': "1",
    }
    # What fails in a branch that is not taken has no value, and is no mistake.
    assert parts("local.c") == {"lower(local.b)": '"y-1"', "local.b": '"Y-1"'}
    assert not values.data["problems"]

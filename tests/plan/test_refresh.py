"""Refreshing looks at everything that exists, also where something it depends on is gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.process import inside
from tests.plan.cloud import REQUIRED, Cloud, install

_BOXES = """\
provider "cloud" { region = "eu" }
resource "cloud_box" "gone" {
  name    = "gone"
  content = "x"
}
resource "cloud_box" "next" {
  name    = "next"
  content = cloud_box.gone.region
  lifecycle {
    precondition {
      condition     = cloud_box.gone.content == "x"
      error_message = "not x"
    }
  }
}
module "m" {
  source = "./m"
  v      = cloud_box.next.content
}
output "o" { value = cloud_box.gone.content }
"""
_MODULE = """\
variable "v" {}
resource "cloud_box" "last" {
  count   = 1
  name    = "last"
  content = var.v
}
"""


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    monkeypatch.chdir(tmp_path)
    Path("m").mkdir()
    Path("m/main.tf").write_text(REQUIRED + _MODULE)
    Path("main.tf").write_text(REQUIRED + _BOXES)
    cloud = install(monkeypatch)
    assert inside("get").code == 0
    assert inside("apply", "-auto-approve").code == 0
    return cloud


def _contents() -> dict[str, str]:
    data = json.loads(Path("terraform.tfstate").read_text())
    return {
        each["name"]: each["instances"][0]["attributes"]["content"] for each in data["resources"]
    }


@pytest.mark.parametrize(
    "command", [["refresh"], ["apply", "-refresh-only", "-auto-approve"], ["saved"]]
)
def test_what_depends_on_a_gone_object_is_read(command: list[str], cloud: Cloud) -> None:
    del cloud.objects["eu", "gone"]
    cloud.objects["eu", "next"] = cloud.objects["eu", "last"] = "changed"
    if command == ["saved"]:
        done = inside("plan", "-refresh-only", "-out=p", "-no-color")
        assert "module.m.cloud_box.last[0]: Refreshing state" in done.out
        command = ["apply", "p"]
    done = inside(*command, "-no-color")
    assert done.code == 0, done.out + done.err
    assert _contents() == {"next": "changed", "last": "changed"}


def test_what_depends_on_something_new_is_read(cloud: Cloud) -> None:
    main = Path("main.tf")
    text = main.read_text().replace('  content = "x"', "  content = cloud_box.new.content")
    main.write_text(text + 'resource "cloud_box" "new" {\n  name = "new"\n  content = "x"\n}\n')
    cloud.objects["eu", "gone"] = "changed"
    assert inside("refresh").code == 0
    assert _contents()["gone"] == "changed"
    assert "new" not in _contents()


@pytest.mark.parametrize("content", ["x", "to be changed"])
@pytest.mark.parametrize("command", [["refresh"], ["apply", "-refresh-only", "-auto-approve"]])
def test_the_provider_of_the_configuration_is_taken_over(
    command: list[str], content: str, cloud: Cloud
) -> None:
    other = 'provider "cloud" {\n  alias  = "other"\n  region = "eu"\n}\n'
    text = _BOXES.replace('"gone" {', '"gone" {\n  provider = cloud.other', 1)
    text = text.replace('= "x"\n}', f'= "{content}"\n}}').replace('== "x"', '!= ""')
    Path("main.tf").write_text(REQUIRED + other + text)
    assert inside(*command).code == 0
    data = json.loads(Path("terraform.tfstate").read_text())
    found = {each["name"]: each["provider"] for each in data["resources"]}
    assert found["gone"].endswith(".other")
    assert not found["next"].endswith(".other")


@pytest.mark.parametrize("content", ["x", "to be changed"])
@pytest.mark.parametrize("command", [["refresh"], ["apply", "-refresh-only", "-auto-approve"]])
def test_who_is_created_first_is_taken_over(command: list[str], content: str, cloud: Cloud) -> None:
    text = _BOXES.replace("  lifecycle {\n", "  lifecycle {\n    create_before_destroy = true\n")
    text = text.replace('= "x"\n}', f'= "{content}"\n}}').replace('== "x"', '!= ""')
    Path("main.tf").write_text(REQUIRED + text)
    done = inside(*command, "-no-color")
    assert done.code == 0, done.out + done.err
    data = json.loads(Path("terraform.tfstate").read_text())
    found = {
        each["name"]
        for each in data["resources"]
        for one in each["instances"]
        if one.get("create_before_destroy")
    }
    assert found == {"gone", "next"}


def test_refresh_finds_what_a_plan_finds(cloud: Cloud) -> None:
    text = 'resource "cloud_box" "more" {\n  name = "more"\n  content = "y"\n}\n'
    text += 'import {\n  to = cloud_box.more\n  id = "more"\n}\n'
    text += 'output "known" { value = cloud_box.more.content }\n'
    text += 'output "later" { value = timestamp() }\n'
    cloud.objects["eu", "more"] = "y"
    Path("main.tf").write_text(REQUIRED + _BOXES + text)
    done = inside("refresh", "-no-color")
    assert done.code == 0, done.out + done.err
    assert _contents()["more"] == "y"
    outputs = json.loads(Path("terraform.tfstate").read_text())["outputs"]
    assert {name: each["value"] for name, each in outputs.items()} == {"known": "y", "o": "x"}


def test_refresh_forgets_how_checks_went(cloud: Cloud) -> None:
    assert json.loads(Path("terraform.tfstate").read_text())["check_results"]
    assert inside("refresh").code == 0
    assert json.loads(Path("terraform.tfstate").read_text())["check_results"] is None


def test_a_mistake_stops_a_refresh(cloud: Cloud) -> None:
    Path("main.tf").write_text(REQUIRED + _BOXES.replace('"gone"\n', "one([1, 2])\n", 1))
    assert inside("refresh").code == 1


def test_what_must_not_be_destroyed_is_refreshed(cloud: Cloud) -> None:
    kept = 'resource "terraform_data" "k" {\n  triggers_replace = %d\n'
    kept += "  lifecycle {\n    prevent_destroy = true\n  }\n}\n"
    Path("main.tf").write_text(REQUIRED + _BOXES + kept % 1)
    assert inside("apply", "-auto-approve").code == 0
    Path("main.tf").write_text(REQUIRED + _BOXES + kept % 2)
    assert inside("plan").code == 1
    assert inside("refresh").code == 0


def test_data_that_cannot_be_asked_is_left_out(cloud: Cloud, tmp_path: Path) -> None:
    text = (
        'resource "terraform_data" "%s" { input = { a = "x" } }\n'
        'data "terraform_remote_state" "one" {\n  backend = "local"\n'
        "  config = { path = terraform_data.%s.output.a }\n}\n"
        'data "terraform_remote_state" "each" {\n  for_each = toset(["k"])\n'
        '  backend = "local"\n  config = { path = terraform_data.%s.output.a }\n}\n'
        'output "one" { value = try(data.terraform_remote_state.one.backend, "failed") }\n'
        'output "each" { value = keys(data.terraform_remote_state.each) }\n'
    )
    Path("x").write_text(Path("terraform.tfstate").read_text())
    Path("main.tf").write_text(text % ("a", "a", "a"))
    assert inside("apply", "-auto-approve").code == 0
    Path("main.tf").write_text(text % ("b", "b", "b"))
    done = inside("apply", "-refresh-only", "-auto-approve", "-no-color")
    assert done.code == 0, done.out + done.err
    data = json.loads(Path("terraform.tfstate").read_text())
    assert [each["mode"] for each in data["resources"]] == ["managed"]
    assert data["outputs"]["each"]["value"] == []


@pytest.mark.parametrize(
    ("repetition", "gone", "value"),
    [
        ("count = 2", "1", '["0"]'),
        ("count = 2", "01", "[]"),
        ('for_each = toset(["0", "1"])', "0", '["1"]'),
        ("lifecycle {\n    enabled = true\n  }", "0", "null"),
        ("lifecycle {\n    enabled = true\n  }", "", '"0"'),
    ],
)
def test_what_is_gone_is_no_instance(repetition: str, gone: str, value: str, cloud: Cloud) -> None:
    key = "count.index" if "count" in repetition else "each.key" if "each" in repetition else "0"
    seen = "one(cloud_box.b[*].content)" if key == "0" else "values(cloud_box.b)[*].content"
    seen = seen if key != "count.index" else "cloud_box.b[*].content"
    text = f'resource "cloud_box" "b" {{\n  name = "b${{{key}}}"\n  content = {key}\n  {repetition}\n}}\n'
    text += f'output "seen" {{ value = jsonencode({seen}) }}\n'
    Path("main.tf").write_text(REQUIRED + _BOXES + text)
    assert inside("apply", "-auto-approve").code == 0
    for number in gone:
        del cloud.objects["eu", f"b{number}"]
    done = inside("apply", "-refresh-only", "-auto-approve")
    assert done.code == 0, done.out + done.err
    outputs = json.loads(Path("terraform.tfstate").read_text())["outputs"]
    assert outputs["seen"]["value"] == value


@pytest.mark.parametrize(
    ("condition", "status"),
    [('self.content == "x"', "unknown"), ('var.p == "x"', "pass"), ('var.p == "y"', "fail")],
)
@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize("setting", ["", "enabled = true"])
def test_conditions_of_what_is_not_there_are_looked_at(
    condition: str, status: str, is_new: bool, setting: str, cloud: Cloud
) -> None:
    text = (
        'variable "p" { default = "x" }\nresource "cloud_box" "c" {\n  name = "c"\n'
        f'  content = "x"\n  lifecycle {{\n    {setting}\n    postcondition {{\n'
        '      condition     = %s\n      error_message = "no"\n    }\n  }\n}\n'
    )
    if not is_new:
        Path("main.tf").write_text(REQUIRED + _BOXES + text % "self.content != var.p[*]")
        assert inside("apply", "-auto-approve").code == 0
        del cloud.objects["eu", "c"]
    Path("main.tf").write_text(REQUIRED + _BOXES + text % condition)
    assert inside("plan", "-refresh-only", "-out=p").code == 0
    checks = json.loads(inside("show", "-json", "p").out)["checks"]
    found = {each["address"]["to_display"]: each["status"] for each in checks}
    assert found["cloud_box.c"] == status


def test_what_others_report_does_not_fail_an_object_that_is_gone(cloud: Cloud) -> None:
    text = (
        'resource "cloud_box" "many" {\n  count = 8\n  name = "many${count.index}"\n'
        '  content = "x"\n  lifecycle {\n    postcondition {\n'
        '      condition     = self.content == var.wanted\n      error_message = "no"\n    }\n  }\n}\n'
        'variable "wanted" { default = "x" }\n'
    )
    Path("main.tf").write_text(REQUIRED + _BOXES + text)
    assert inside("apply", "-auto-approve").code == 0
    for number in range(0, 8, 2):
        del cloud.objects["eu", f"many{number}"]
    done = inside("plan", "-no-color", "-var=wanted=y")
    assert done.code == 1
    assert all(f"cloud_box.many[{number}]" in done.err for number in range(8))


@pytest.mark.parametrize("repetition", ["", "count = 1", 'for_each = toset(["k"])'])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_mistake_in_what_is_wanted_does_not_matter(
    repetition: str, is_new: bool, cloud: Cloud
) -> None:
    text = (
        'variable "l" { default = ["x"] }\nresource "cloud_box" "c" {\n'
        f'  {repetition}\n  name = "c"\n  content = var.l[0]\n}}\n'
    )
    Path("main.tf").write_text(REQUIRED + _BOXES + text)
    if not is_new:
        assert inside("apply", "-auto-approve").code == 0
        cloud.objects["eu", "c"] = "changed"
    done = inside("apply", "-refresh-only", "-auto-approve", "-var=l=[]")
    assert done.code == 0, done.out + done.err
    assert _contents().get("c") == (None if is_new else "changed")
    assert inside("plan", "-var=l=[]").code == 1


def test_preconditions_of_instances_that_are_not_there_are_looked_at(cloud: Cloud) -> None:
    text = (
        'variable "p" { default = "x" }\nresource "cloud_box" "c" {\n'
        '  for_each = toset(["k"])\n  name = each.key\n  content = "x"\n  lifecycle {\n'
        '    precondition {\n      condition     = var.p == "y"\n      error_message = "no"\n    }\n'
        "  }\n}\n"
    )
    Path("main.tf").write_text(REQUIRED + _BOXES + text)
    done = inside("plan", "-refresh-only", "-out=p", "-no-color")
    assert done.code == 0, done.out + done.err
    assert 'with cloud_box.c["k"]' in done.out + done.err
    checks = json.loads(inside("show", "-json", "p").out)["checks"]
    found = {each["address"]["to_display"]: each["status"] for each in checks}
    assert found["cloud_box.c"] == "fail"

"""Refreshing looks at everything that exists, also where something it depends on is gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import nigari
from nigari.events import Event
from tests.plan.cloud import REQUIRED, Cloud, install
from tests.plan.sessions import (
    applied,
    apply_saved,
    failed,
    plan,
    session,
    started,
    words,
)

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
    applied()
    return cloud


def refresh(how: str) -> None:
    """Refresh at once, or with a plan that could be looked at before."""
    if how == "at once":
        session().refresh()
    else:
        applied(refresh_only=True)


def _contents() -> dict[str, str]:
    data = json.loads(Path("terraform.tfstate").read_text())
    return {
        each["name"]: each["instances"][0]["attributes"]["content"] for each in data["resources"]
    }


HOW = pytest.mark.parametrize("how", ["at once", "planned"])


@pytest.mark.parametrize("how", ["at once", "planned", "saved"])
def test_what_depends_on_a_gone_object_is_read(how: str, cloud: Cloud) -> None:
    del cloud.objects["eu", "gone"]
    cloud.objects["eu", "next"] = cloud.objects["eu", "last"] = "changed"
    if how == "saved":
        events = list[Event]()
        session().plan(refresh_only=True, listen=events.append).save("p")
        assert "module.m.cloud_box.last[0]" in started(events, "refresh")
        apply_saved()
    else:
        refresh(how)
    assert _contents() == {"next": "changed", "last": "changed"}


def test_what_depends_on_something_new_is_read(cloud: Cloud) -> None:
    main = Path("main.tf")
    text = main.read_text().replace('  content = "x"', "  content = cloud_box.new.content")
    main.write_text(text + 'resource "cloud_box" "new" {\n  name = "new"\n  content = "x"\n}\n')
    cloud.objects["eu", "gone"] = "changed"
    session().refresh()
    assert _contents()["gone"] == "changed"
    assert "new" not in _contents()


@pytest.mark.parametrize("content", ["x", "to be changed"])
@HOW
def test_the_provider_of_the_configuration_is_taken_over(
    how: str, content: str, cloud: Cloud
) -> None:
    other = 'provider "cloud" {\n  alias  = "other"\n  region = "eu"\n}\n'
    text = _BOXES.replace('"gone" {', '"gone" {\n  provider = cloud.other', 1)
    text = text.replace('= "x"\n}', f'= "{content}"\n}}').replace('== "x"', '!= ""')
    Path("main.tf").write_text(REQUIRED + other + text)
    refresh(how)
    data = json.loads(Path("terraform.tfstate").read_text())
    found = {each["name"]: each["provider"] for each in data["resources"]}
    assert found["gone"].endswith(".other")
    assert not found["next"].endswith(".other")


@pytest.mark.parametrize("content", ["x", "to be changed"])
@HOW
def test_who_is_created_first_is_taken_over(how: str, content: str, cloud: Cloud) -> None:
    text = _BOXES.replace("  lifecycle {\n", "  lifecycle {\n    create_before_destroy = true\n")
    text = text.replace('= "x"\n}', f'= "{content}"\n}}').replace('== "x"', '!= ""')
    Path("main.tf").write_text(REQUIRED + text)
    refresh(how)
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
    session().refresh()
    assert _contents()["more"] == "y"
    outputs = json.loads(Path("terraform.tfstate").read_text())["outputs"]
    assert {name: each["value"] for name, each in outputs.items()} == {"known": "y", "o": "x"}


def test_refresh_forgets_how_checks_went(cloud: Cloud) -> None:
    assert json.loads(Path("terraform.tfstate").read_text())["check_results"]
    session().refresh()
    assert json.loads(Path("terraform.tfstate").read_text())["check_results"] is None


def test_only_instances_of_the_state_count_for_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text("""
variable "n" {}
resource "terraform_data" "a" {
  count = var.n
}
check "c" {
  assert {
    condition     = try(terraform_data.a[1].id, "none") == "none"
    error_message = "There are two."
  }
}
""")
    applied({"n": 1})
    done = applied({"n": 2}, refresh_only=True)
    assert done.warnings == []
    (found,) = json.loads(Path("terraform.tfstate").read_text())["check_results"]
    assert found["status"] == "pass"


def test_a_mistake_stops_a_refresh(cloud: Cloud) -> None:
    Path("main.tf").write_text(REQUIRED + _BOXES.replace('"gone"\n', "one([1, 2])\n", 1))
    with pytest.raises(nigari.SessionError, match="one"):
        session().refresh()


def test_what_must_not_be_destroyed_is_refreshed(cloud: Cloud) -> None:
    kept = 'resource "terraform_data" "k" {\n  triggers_replace = %d\n'
    kept += "  lifecycle {\n    prevent_destroy = true\n  }\n}\n"
    Path("main.tf").write_text(REQUIRED + _BOXES + kept % 1)
    applied()
    Path("main.tf").write_text(REQUIRED + _BOXES + kept % 2)
    failed()
    session().refresh()


@pytest.mark.parametrize("is_only", [True, False], ids=["-refresh-only", "refresh"])
def test_what_would_be_forgotten_is_refreshed(cloud: Cloud, is_only: bool) -> None:
    """The state still has it afterwards, so it must not be as it once was."""
    text = "removed {\n  from = module.m\n  lifecycle {\n    destroy = false\n  }\n}\n"
    call = _BOXES[_BOXES.index("module") : _BOXES.index("output")]
    Path("main.tf").write_text(REQUIRED + _BOXES.replace(call, text))
    cloud.objects["eu", "last"] = "changed"
    if is_only:
        applied(refresh_only=True)
    else:
        session().refresh()
    assert _contents()["last"] == "changed"


def test_data_that_cannot_be_asked_is_left_out(cloud: Cloud, tmp_path: Path) -> None:
    text = (
        'resource "terraform_data" "%s" { input = { a = "x" } }\n'
        'data "terraform_remote_state" "one" {\n  backend = "local"\n'
        "  config = { path = terraform_data.%s.output.a }\n}\n"
        'data "terraform_remote_state" "each" {\n  for_each = toset(["k"])\n'
        '  backend = "local"\n  config = { path = terraform_data.%s.output.a }\n}\n'
        'data "terraform_remote_state" "maybe" {\n  backend = "local"\n'
        "  config = { path = terraform_data.%s.output.a }\n  lifecycle {\n    enabled = true\n  }\n}\n"
        'output "maybe" { value = data.terraform_remote_state.maybe == null }\n'
        'output "one" { value = try(data.terraform_remote_state.one.backend, "failed") }\n'
        'output "each" { value = keys(data.terraform_remote_state.each) }\n'
    )
    Path("x").write_text(Path("terraform.tfstate").read_text())
    Path("main.tf").write_text(text % (("a",) * 4))
    applied()
    Path("main.tf").write_text(text % (("b",) * 4))
    applied(refresh_only=True)
    data = json.loads(Path("terraform.tfstate").read_text())
    assert [each["mode"] for each in data["resources"]] == ["managed"]
    assert data["outputs"]["each"]["value"] == []
    assert data["outputs"]["maybe"]["value"] is True


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
    applied()
    for number in gone:
        del cloud.objects["eu", f"b{number}"]
    applied(refresh_only=True)
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
        applied()
        del cloud.objects["eu", "c"]
    Path("main.tf").write_text(REQUIRED + _BOXES + text % condition)
    document: dict[str, Any] = plan(refresh_only=True).to_json()
    found = {each["address"]["to_display"]: each["status"] for each in document["checks"]}
    assert found["cloud_box.c"] == status


def test_what_others_report_does_not_fail_an_object_that_is_gone(cloud: Cloud) -> None:
    text = (
        'resource "cloud_box" "many" {\n  count = 8\n  name = "many${count.index}"\n'
        '  content = "x"\n  lifecycle {\n    postcondition {\n'
        '      condition     = self.content == var.wanted\n      error_message = "no"\n    }\n  }\n}\n'
        'variable "wanted" { default = "x" }\n'
    )
    Path("main.tf").write_text(REQUIRED + _BOXES + text)
    applied()
    for number in range(0, 8, 2):
        del cloud.objects["eu", f"many{number}"]
    said = words(failed({"wanted": "y"}))
    assert all(f"cloud_box.many[{number}]" in said for number in range(8))


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
        applied()
        cloud.objects["eu", "c"] = "changed"
    applied({"l": []}, refresh_only=True)
    assert _contents().get("c") == (None if is_new else "changed")
    failed({"l": []})


def test_preconditions_of_instances_that_are_not_there_are_looked_at(cloud: Cloud) -> None:
    text = (
        'variable "p" { default = "x" }\nresource "cloud_box" "c" {\n'
        '  for_each = toset(["k"])\n  name = each.key\n  content = "x"\n  lifecycle {\n'
        '    precondition {\n      condition     = var.p == "y"\n      error_message = "no"\n    }\n'
        "  }\n}\n"
    )
    Path("main.tf").write_text(REQUIRED + _BOXES + text)
    made = plan(refresh_only=True)
    assert [each.address for each in made.warnings] == ['cloud_box.c["k"]']
    document: dict[str, Any] = made.to_json()
    found = {each["address"]["to_display"]: each["status"] for each in document["checks"]}
    assert found["cloud_box.c"] == "fail"


def test_what_a_provider_no_longer_keeps_for_itself_is_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text('resource "terraform_data" "a" {}\n')
    applied()
    assert plan(refresh_only=True).is_empty
    state = json.loads(Path("terraform.tfstate").read_text())
    state["resources"][0]["instances"][0]["private"] = "bnVsbA=="
    Path("terraform.tfstate").write_text(json.dumps(state))
    assert plan().is_empty
    assert not plan(refresh_only=True).is_empty
    applied(refresh_only=True)
    assert "private" not in Path("terraform.tfstate").read_text()

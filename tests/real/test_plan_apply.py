"""Plans and applies beside the real program: the same changes, the same state afterwards.

Each scenario is a row of configurations that follow one another. Both programs plan from the same
state; then each applies in a directory of its own, and the real one must find nothing left to do
where we have applied.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nigari.plan.show_json import plan_to_json
from tests.plan.command import applied, planned
from tests.real import program

pytestmark = pytest.mark.real

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

SCENARIOS: dict[str, list[str]] = {
    "create, update, replace": [
        'resource "terraform_data" "a" { input = "one" }',
        'resource "terraform_data" "a" { input = "two" }',
        """\
resource "terraform_data" "a" {
  input = "two"
  triggers_replace = 1
}
""",
        """\
resource "terraform_data" "a" {
  input = { x = [1, "b"] }
  triggers_replace = 2
}
""",
        "",
    ],
    "chain": [
        """\
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "b" { input = terraform_data.a.output }
resource "terraform_data" "c" { input = terraform_data.b.id }
output "o" { value = terraform_data.b.output }
""",
        """\
resource "terraform_data" "a" { input = 2 }
resource "terraform_data" "b" { input = terraform_data.a.output }
resource "terraform_data" "c" { triggers_replace = terraform_data.b.id }
output "o" { value = terraform_data.b.output }
output "p" {
  value = terraform_data.a.input
  sensitive = true
}
""",
        'resource "terraform_data" "b" { input = 3 }',
    ],
    "count": [
        """\
resource "terraform_data" "a" {
  count = 3
  input = count.index
}
""",
        """\
resource "terraform_data" "a" {
  count = 1
  input = count.index
}
""",
        'resource "terraform_data" "a" { input = 0 }',
        """\
resource "terraform_data" "a" {
  for_each = toset(["x", "y"])
  input = each.key
}
""",
        """\
resource "terraform_data" "a" {
  for_each = toset(["y"])
  input = each.key
}
""",
        """\
resource "terraform_data" "a" {
  count = 0
}
""",
    ],
    "create first": [
        """\
resource "terraform_data" "a" {
  triggers_replace = 1
  lifecycle { create_before_destroy = true }
}
resource "terraform_data" "b" { triggers_replace = terraform_data.a.id }
""",
        """\
resource "terraform_data" "a" {
  triggers_replace = 2
  lifecycle { create_before_destroy = true }
}
resource "terraform_data" "b" { triggers_replace = terraform_data.a.id }
""",
        'resource "terraform_data" "b" { triggers_replace = "x" }',
    ],
    "forced create first": [
        """\
resource "terraform_data" "a" { triggers_replace = 1 }
resource "terraform_data" "b" {
  triggers_replace = terraform_data.a.id
  lifecycle { create_before_destroy = true }
}
""",
        """\
resource "terraform_data" "a" { triggers_replace = 2 }
resource "terraform_data" "b" {
  triggers_replace = terraform_data.a.id
  lifecycle { create_before_destroy = true }
}
""",
    ],
    "ignore changes": [
        """\
resource "terraform_data" "a" {
  input = { a = 1, b = 2 }
  lifecycle { ignore_changes = [input] }
}
""",
        """\
resource "terraform_data" "a" {
  input = { a = 9, b = 2 }
  triggers_replace = 1
  lifecycle { ignore_changes = [input] }
}
""",
        """\
resource "terraform_data" "a" {
  input = 5
  triggers_replace = 7
  lifecycle { ignore_changes = all }
}
""",
    ],
    "triggers": [
        """\
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "b" {
  lifecycle { replace_triggered_by = [terraform_data.a] }
}
resource "terraform_data" "c" {
  lifecycle { replace_triggered_by = [terraform_data.a.triggers_replace] }
}
""",
        """\
resource "terraform_data" "a" { input = 2 }
resource "terraform_data" "b" {
  lifecycle { replace_triggered_by = [terraform_data.a] }
}
resource "terraform_data" "c" {
  lifecycle { replace_triggered_by = [terraform_data.a.triggers_replace] }
}
""",
    ],
    "moved": [
        """\
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "l" {
  count = 2
  input = count.index
}
""",
        """\
resource "terraform_data" "b" { input = 1 }
moved {
  from = terraform_data.a
  to = terraform_data.b
}
resource "terraform_data" "l" {
  for_each = toset(["x", "y"])
  input = each.key
}
moved {
  from = terraform_data.l[0]
  to = terraform_data.l["x"]
}
""",
        """\
resource "terraform_data" "b" {
  count = 1
  input = 1
}
""",
    ],
    "sensitive": [
        """\
variable "s" {
  default = "secret"
  sensitive = true
}
resource "terraform_data" "a" { input = { v = var.s, w = 1 } }
output "o" {
  value = terraform_data.a.output
  sensitive = true
}
""",
        """\
variable "s" {
  default = "secret"
}
resource "terraform_data" "a" { input = { v = var.s, w = 1 } }
""",
    ],
    "conditions": [
        """\
resource "terraform_data" "a" {
  input = 1
  lifecycle {
    precondition {
      condition = 1 < length(path.root)+9
      error_message = "no"
    }
    postcondition {
      condition = self.output == 1
      error_message = "no"
    }
  }
}
check "c" {
  assert {
    condition = terraform_data.a.output == 1
    error_message = "not one"
  }
}
""",
    ],
    "removed": [
        """\
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "b" { input = 1 }
""",
        """\
removed {
  from = terraform_data.a
  lifecycle { destroy = false }
}
removed {
  from = terraform_data.b
  lifecycle { destroy = true }
}
""",
    ],
    "enabled": [
        """\
resource "terraform_data" "a" {
  input = 1
  lifecycle { enabled = true }
}
output "o" { value = terraform_data.a.input }
""",
        """\
resource "terraform_data" "a" {
  input = 1
  lifecycle { enabled = false }
}
""",
    ],
    "modules": [
        """\
module "m" {
  source = "./m"
  for_each = { a = 1, b = 2 }
  v = each.value
}
resource "terraform_data" "r" {
  input = [for m in module.m : m.id]
  depends_on = [module.m]
}
output "all" { value = { for k, m in module.m : k => m.v } }
### m/main.tf
variable "v" { type = number }
resource "terraform_data" "x" { input = var.v }
resource "terraform_data" "y" { input = terraform_data.x.output }
output "id" { value = terraform_data.y.id }
output "v" { value = var.v }
""",
        """\
module "m" {
  source = "./m"
  for_each = { b = 3 }
  v = each.value
}
resource "terraform_data" "r" {
  input = [for m in module.m : m.id]
  depends_on = [module.m]
}
""",
        """\
module "n" {
  source = "./m"
  v = 3
}
moved {
  from = module.m["b"]
  to = module.n
}
""",
    ],
    "nested modules": [
        """\
module "o" {
  source = "./o"
  count = 2
  n = count.index + 1
}
output "t" { value = module.o[1].all }
### o/main.tf
variable "n" {}
module "i" {
  source = "../m"
  count = var.n
  v = count.index
}
output "all" { value = module.i[*].v }
### m/main.tf
variable "v" { type = number }
resource "terraform_data" "x" { input = var.v }
output "v" { value = terraform_data.x.output }
""",
        """\
module "o" {
  source = "./o"
  count = 1
  n = 3
}
output "t" { value = module.o[0].all }
""",
    ],
    "provider keys": [
        """\
provider "random" {
  alias = "by"
  for_each = toset(["a", "b"])
}
resource "random_pet" "p" {
  for_each = toset(["a", "b"])
  provider = random.by[each.key]
  length = 1
}
module "m" {
  source = "./m"
  providers = { random = random.by["b"] }
}
### m/main.tf
resource "random_pet" "q" { length = 1 }
""",
        """\
provider "random" {
  alias = "by"
  for_each = toset(["a", "b"])
}
resource "random_pet" "p" {
  for_each = toset(["a"])
  provider = random.by[each.key]
  length = 2
}
module "m" {
  source = "./m"
  providers = { random = random.by["a"] }
}
""",
        """\
provider "random" { alias = "one" }
resource "random_pet" "p" {
  for_each = toset(["a"])
  provider = random.one
  length = 2
}
module "m" {
  source = "./m"
  providers = { random = random.one }
}
""",
    ],
    "null and unknown": [
        """\
resource "terraform_data" "a" { input = null }
resource "terraform_data" "b" {
  input = [terraform_data.a.id, timestamp() == "", 1.5]
  lifecycle { ignore_changes = [input] }
}
output "n" { value = null }
output "l" { value = [terraform_data.a.id, 1] }
""",
        """\
resource "terraform_data" "a" { input = { "a b" = null, c = "d\\ne" } }
resource "terraform_data" "b" {
  input = 1
  lifecycle { ignore_changes = [input] }
}
output "n" { value = 1 }
""",
    ],
    "time": [
        """\
resource "time_static" "t" { triggers = { a = "1" } }
resource "time_offset" "o" {
  base_rfc3339 = "2020-01-01T00:00:00Z"
  offset_days = 3
}
output "y" { value = time_offset.o.year }
""",
        """\
resource "time_static" "t" { triggers = { a = "2" } }
resource "time_offset" "o" {
  base_rfc3339 = "2020-01-01T00:00:00Z"
  offset_days = 4
}
output "y" { value = time_offset.o.year }
""",
    ],
    "import": [
        """\
resource "terraform_data" "a" { input = 1 }
import {
  to = terraform_data.a
  id = "abc"
}
""",
        """\
resource "terraform_data" "a" { input = 1 }
import {
  to = terraform_data.a
  id = "abc"
}
""",
    ],
    "random": [
        """\
resource "random_pet" "p" { length = 2 }
resource "random_password" "s" { length = 8 }
resource "random_integer" "i" {
  min = 1
  max = 5
  keepers = { p = random_pet.p.id }
}
output "len" { value = random_integer.i.max }
""",
        """\
resource "random_pet" "p" { length = 3 }
resource "random_password" "s" { length = 8 }
resource "random_integer" "i" {
  min = 1
  max = 5
  keepers = { p = random_pet.p.id }
}
""",
    ],
    "local": [
        """\
resource "local_file" "f" {
  filename = "${path.module}/out.txt"
  content = "x"
}
data "local_file" "d" {
  filename = local_file.f.filename
  depends_on = [local_file.f]
}
output "c" { value = data.local_file.d.content }
""",
        """\
resource "local_file" "f" {
  filename = "${path.module}/out.txt"
  content = "y"
}
data "local_file" "d" {
  filename = local_file.f.filename
  depends_on = [local_file.f]
}
output "c" { value = data.local_file.d.content }
""",
    ],
}


class Place:
    """A working directory."""

    def __init__(self, path: Path, settings: Path) -> None:
        self.path = path
        path.mkdir()
        self.environ = {**os.environ, "TF_CLI_CONFIG_FILE": str(settings), "NIGARI_DEBUG": "1"}

    @property
    def state(self) -> Path:
        return self.path / "terraform.tfstate"

    def write(self, text: str) -> None:
        first, *others = text.split("### ")
        (self.path / "main.tf").write_text(first + "\n")
        for other in others:
            name, _, content = other.partition("\n")
            (self.path / name).parent.mkdir(exist_ok=True)
            (self.path / name).write_text(content + "\n")

    def run(self, *command: str | Path, ok: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            [str(each) for each in command],
            cwd=self.path,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode in ok, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def _changes(shown: str) -> object:
    data = json.loads(shown)
    found = list(data.get("resource_changes", ()))
    for each in found:
        each.pop("type", None)
        for name in ("before_identity", "after_identity"):
            each["change"].pop(name, None)
    found.sort(key=lambda each: (each["address"], each.get("deposed", "")))
    outputs = data.get("output_changes", {})
    return {"changes": found, "outputs": outputs}


def _normal(path: Path) -> object:
    text = _MOMENT.sub("<moment>", _ID.sub("<id>", path.read_text()))
    data = json.loads(text)
    for name in ("serial", "lineage", "terraform_version"):
        data.pop(name)
    for resource in data["resources"]:
        if resource["type"] in ("random_pet", "random_password", "random_integer", "time_static"):
            for instance in resource["instances"]:
                instance["attributes"] = sorted(instance["attributes"])
    data["check_results"] = sorted(data["check_results"] or (), key=str)
    return data


def _lines(data: object) -> list[str]:
    return json.dumps(data, indent=1, sort_keys=True).splitlines()


@pytest.mark.parametrize("name", SCENARIOS)
def test_same_as_tofu(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tofu = program("tofu")
    settings = tmp_path / "settings.tfrc"
    plugins = "\n".join(
        f'    "hashicorp/{each}" = "{program("terraform-provider-" + each).parent}"'
        for each in ("random", "local", "time")
    )
    settings.write_text(f"provider_installation {{\n  dev_overrides {{\n{plugins}\n  }}\n}}\n")
    theirs, ours = Place(tmp_path / "theirs", settings), Place(tmp_path / "ours", settings)
    for step, text in enumerate([*SCENARIOS[name], None]):
        flags = ["-destroy"] if text is None else []
        if text is not None:
            theirs.write(text)
            ours.write(text)
        if theirs.state.exists():
            shutil.copy(theirs.state, ours.state)
        for each in ("out.txt",):
            if (theirs.path / each).exists():
                shutil.copy(theirs.path / each, ours.path / each)
        theirs.run(tofu, "get")
        shutil.copytree(theirs.path / ".terraform", ours.path / ".terraform", dirs_exist_ok=True)
        theirs.run(tofu, "plan", "-out=p", *flags)
        wanted = _changes(theirs.run(tofu, "show", "-json", "p"))
        monkeypatch.chdir(ours.path)
        plan, told, _ = planned(flags, ours.environ)
        assert plan is not None, told
        found = _changes(json.dumps(plan_to_json(plan)))
        assert _lines(found) == _lines(wanted), f"step {step}"
        theirs.run(tofu, "apply", "p")
        status, text = applied(flags, ours.environ)
        assert status == 0, text
        assert _lines(_normal(ours.state)) == _lines(_normal(theirs.state)), f"step {step}"
        left = ours.run(tofu, "plan", "-detailed-exitcode", *flags, ok=(0, 2))
        assert "No changes." in left, f"step {step}\n{left}"

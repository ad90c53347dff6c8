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
        'resource "terraform_data" "a" {\n  input = "two"\n  triggers_replace = 1\n}',
        'resource "terraform_data" "a" {\n  input = { x = [1, "b"] }\n  triggers_replace = 2\n}',
        "",
    ],
    "chain": [
        'resource "terraform_data" "a" { input = 1 }\n'
        'resource "terraform_data" "b" { input = terraform_data.a.output }\n'
        'resource "terraform_data" "c" { input = terraform_data.b.id }\n'
        'output "o" { value = terraform_data.b.output }',
        'resource "terraform_data" "a" { input = 2 }\n'
        'resource "terraform_data" "b" { input = terraform_data.a.output }\n'
        'resource "terraform_data" "c" { triggers_replace = terraform_data.b.id }\n'
        'output "o" { value = terraform_data.b.output }\n'
        'output "p" {\n  value = terraform_data.a.input\n  sensitive = true\n}',
        'resource "terraform_data" "b" { input = 3 }',
    ],
    "count": [
        'resource "terraform_data" "a" {\n  count = 3\n  input = count.index\n}',
        'resource "terraform_data" "a" {\n  count = 1\n  input = count.index\n}',
        'resource "terraform_data" "a" { input = 0 }',
        'resource "terraform_data" "a" {\n  for_each = toset(["x", "y"])\n  input = each.key\n}',
        'resource "terraform_data" "a" {\n  for_each = toset(["y"])\n  input = each.key\n}',
        'resource "terraform_data" "a" {\n  count = 0\n}',
    ],
    "create first": [
        'resource "terraform_data" "a" {\n  triggers_replace = 1\n'
        "  lifecycle { create_before_destroy = true }\n}\n"
        'resource "terraform_data" "b" { triggers_replace = terraform_data.a.id }',
        'resource "terraform_data" "a" {\n  triggers_replace = 2\n'
        "  lifecycle { create_before_destroy = true }\n}\n"
        'resource "terraform_data" "b" { triggers_replace = terraform_data.a.id }',
        'resource "terraform_data" "b" { triggers_replace = "x" }',
    ],
    "forced create first": [
        'resource "terraform_data" "a" { triggers_replace = 1 }\n'
        'resource "terraform_data" "b" {\n  triggers_replace = terraform_data.a.id\n'
        "  lifecycle { create_before_destroy = true }\n}",
        'resource "terraform_data" "a" { triggers_replace = 2 }\n'
        'resource "terraform_data" "b" {\n  triggers_replace = terraform_data.a.id\n'
        "  lifecycle { create_before_destroy = true }\n}",
    ],
    "ignore changes": [
        'resource "terraform_data" "a" {\n  input = { a = 1, b = 2 }\n'
        "  lifecycle { ignore_changes = [input] }\n}",
        'resource "terraform_data" "a" {\n  input = { a = 9, b = 2 }\n  triggers_replace = 1\n'
        "  lifecycle { ignore_changes = [input] }\n}",
        'resource "terraform_data" "a" {\n  input = 5\n  triggers_replace = 7\n'
        "  lifecycle { ignore_changes = all }\n}",
    ],
    "triggers": [
        'resource "terraform_data" "a" { input = 1 }\n'
        'resource "terraform_data" "b" {\n'
        "  lifecycle { replace_triggered_by = [terraform_data.a] }\n}\n"
        'resource "terraform_data" "c" {\n'
        "  lifecycle { replace_triggered_by = [terraform_data.a.triggers_replace] }\n}",
        'resource "terraform_data" "a" { input = 2 }\n'
        'resource "terraform_data" "b" {\n'
        "  lifecycle { replace_triggered_by = [terraform_data.a] }\n}\n"
        'resource "terraform_data" "c" {\n'
        "  lifecycle { replace_triggered_by = [terraform_data.a.triggers_replace] }\n}",
    ],
    "moved": [
        'resource "terraform_data" "a" { input = 1 }\n'
        'resource "terraform_data" "l" {\n  count = 2\n  input = count.index\n}',
        'resource "terraform_data" "b" { input = 1 }\n'
        "moved {\n  from = terraform_data.a\n  to = terraform_data.b\n}\n"
        'resource "terraform_data" "l" {\n  for_each = toset(["x", "y"])\n  input = each.key\n}\n'
        'moved {\n  from = terraform_data.l[0]\n  to = terraform_data.l["x"]\n}',
        'resource "terraform_data" "b" {\n  count = 1\n  input = 1\n}',
    ],
    "sensitive": [
        'variable "s" {\n  default = "secret"\n  sensitive = true\n}\n'
        'resource "terraform_data" "a" { input = { v = var.s, w = 1 } }\n'
        'output "o" {\n  value = terraform_data.a.output\n  sensitive = true\n}',
        'variable "s" {\n  default = "secret"\n}\n'
        'resource "terraform_data" "a" { input = { v = var.s, w = 1 } }',
    ],
    "conditions": [
        'resource "terraform_data" "a" {\n  input = 1\n  lifecycle {\n'
        '    precondition {\n      condition = 1 < length(path.root)+9\n      error_message = "no"\n'
        "    }\n    postcondition {\n      condition = self.output == 1\n"
        '      error_message = "no"\n    }\n  }\n}\n'
        'check "c" {\n  assert {\n    condition = terraform_data.a.output == 1\n'
        '    error_message = "not one"\n  }\n}',
    ],
    "removed": [
        'resource "terraform_data" "a" { input = 1 }\nresource "terraform_data" "b" { input = 1 }',
        "removed {\n  from = terraform_data.a\n  lifecycle { destroy = false }\n}\n"
        "removed {\n  from = terraform_data.b\n  lifecycle { destroy = true }\n}",
    ],
    "enabled": [
        'resource "terraform_data" "a" {\n  input = 1\n  lifecycle { enabled = true }\n}\n'
        'output "o" { value = terraform_data.a.input }',
        'resource "terraform_data" "a" {\n  input = 1\n  lifecycle { enabled = false }\n}',
    ],
    "modules": [
        'module "m" {\n  source = "./m"\n  for_each = { a = 1, b = 2 }\n  v = each.value\n}\n'
        'resource "terraform_data" "r" {\n  input = [for m in module.m : m.id]\n'
        "  depends_on = [module.m]\n}\n"
        'output "all" { value = { for k, m in module.m : k => m.v } }\n'
        '### m/main.tf\nvariable "v" { type = number }\n'
        'resource "terraform_data" "x" { input = var.v }\n'
        'resource "terraform_data" "y" { input = terraform_data.x.output }\n'
        'output "id" { value = terraform_data.y.id }\noutput "v" { value = var.v }',
        'module "m" {\n  source = "./m"\n  for_each = { b = 3 }\n  v = each.value\n}\n'
        'resource "terraform_data" "r" {\n  input = [for m in module.m : m.id]\n'
        "  depends_on = [module.m]\n}\n",
        'module "n" {\n  source = "./m"\n  v = 3\n}\n'
        'moved {\n  from = module.m["b"]\n  to = module.n\n}',
    ],
    "nested modules": [
        'module "o" {\n  source = "./o"\n  count = 2\n  n = count.index + 1\n}\n'
        'output "t" { value = module.o[1].all }\n'
        '### o/main.tf\nvariable "n" {}\nmodule "i" {\n  source = "../m"\n  count = var.n\n'
        '  v = count.index\n}\noutput "all" { value = module.i[*].v }\n'
        '### m/main.tf\nvariable "v" { type = number }\n'
        'resource "terraform_data" "x" { input = var.v }\n'
        'output "v" { value = terraform_data.x.output }',
        'module "o" {\n  source = "./o"\n  count = 1\n  n = 3\n}\n'
        'output "t" { value = module.o[0].all }\n',
    ],
    "provider keys": [
        'provider "random" {\n  alias = "by"\n  for_each = toset(["a", "b"])\n}\n'
        'resource "random_pet" "p" {\n  for_each = toset(["a", "b"])\n'
        "  provider = random.by[each.key]\n  length = 1\n}\n"
        'module "m" {\n  source = "./m"\n  providers = { random = random.by["b"] }\n}\n'
        '### m/main.tf\nresource "random_pet" "q" { length = 1 }',
        'provider "random" {\n  alias = "by"\n  for_each = toset(["a", "b"])\n}\n'
        'resource "random_pet" "p" {\n  for_each = toset(["a"])\n'
        "  provider = random.by[each.key]\n  length = 2\n}\n"
        'module "m" {\n  source = "./m"\n  providers = { random = random.by["a"] }\n}\n',
        'provider "random" { alias = "one" }\n'
        'resource "random_pet" "p" {\n  for_each = toset(["a"])\n'
        "  provider = random.one\n  length = 2\n}\n"
        'module "m" {\n  source = "./m"\n  providers = { random = random.one }\n}\n',
    ],
    "null and unknown": [
        'resource "terraform_data" "a" { input = null }\n'
        'resource "terraform_data" "b" {\n  input = [terraform_data.a.id, timestamp() == "", 1.5]\n'
        "  lifecycle { ignore_changes = [input] }\n}\n"
        'output "n" { value = null }\noutput "l" { value = [terraform_data.a.id, 1] }',
        'resource "terraform_data" "a" { input = { "a b" = null, c = "d\\ne" } }\n'
        'resource "terraform_data" "b" {\n  input = 1\n'
        "  lifecycle { ignore_changes = [input] }\n}\n"
        'output "n" { value = 1 }',
    ],
    "time": [
        'resource "time_static" "t" { triggers = { a = "1" } }\n'
        'resource "time_offset" "o" {\n  base_rfc3339 = "2020-01-01T00:00:00Z"\n'
        "  offset_days = 3\n}\n"
        'output "y" { value = time_offset.o.year }',
        'resource "time_static" "t" { triggers = { a = "2" } }\n'
        'resource "time_offset" "o" {\n  base_rfc3339 = "2020-01-01T00:00:00Z"\n'
        "  offset_days = 4\n}\n"
        'output "y" { value = time_offset.o.year }',
    ],
    "random": [
        'resource "random_pet" "p" { length = 2 }\n'
        'resource "random_password" "s" { length = 8 }\n'
        'resource "random_integer" "i" {\n  min = 1\n  max = 5\n'
        "  keepers = { p = random_pet.p.id }\n}\n"
        'output "len" { value = random_integer.i.max }',
        'resource "random_pet" "p" { length = 3 }\n'
        'resource "random_password" "s" { length = 8 }\n'
        'resource "random_integer" "i" {\n  min = 1\n  max = 5\n'
        "  keepers = { p = random_pet.p.id }\n}",
    ],
    "local": [
        'resource "local_file" "f" {\n  filename = "${path.module}/out.txt"\n  content = "x"\n}\n'
        'data "local_file" "d" {\n  filename = local_file.f.filename\n'
        "  depends_on = [local_file.f]\n}\n"
        'output "c" { value = data.local_file.d.content }',
        'resource "local_file" "f" {\n  filename = "${path.module}/out.txt"\n  content = "y"\n}\n'
        'data "local_file" "d" {\n  filename = local_file.f.filename\n'
        "  depends_on = [local_file.f]\n}\n"
        'output "c" { value = data.local_file.d.content }',
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
    found = [each for each in data.get("resource_changes", ())]
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

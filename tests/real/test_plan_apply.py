"""Plans and applies beside the real program: the same changes, the same state afterwards.

Each scenario is a row of configurations that follow one another. Both programs plan from the same
state; then each applies in a directory of its own, and the real one must find nothing left to do
where we have applied.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.beside import Pair

pytestmark = pytest.mark.real


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
    "taint": [
        """\
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "b" { input = terraform_data.a.id }
""",
        """\
# taint: terraform_data.a
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "b" { input = terraform_data.a.id }
""",
    ],
    "target and replace": [
        """\
# flags: -target=terraform_data.b
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "b" { input = terraform_data.a.id }
resource "terraform_data" "c" { input = terraform_data.b.id }
output "o" { value = terraform_data.c.id }
output "p" { value = terraform_data.a.id }
""",
        """\
# flags: -replace=terraform_data.a
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "b" { input = terraform_data.a.id }
resource "terraform_data" "c" { input = terraform_data.b.id }
""",
        """\
# flags: -target=terraform_data.a
resource "terraform_data" "b" { input = 2 }
""",
    ],
    "outside": [
        """\
resource "local_file" "f" {
  filename = "${path.module}/out.txt"
  content  = "x"
}
resource "terraform_data" "a" { input = local_file.f.content_md5 }
""",
        """\
# outside: other
resource "local_file" "f" {
  filename = "${path.module}/out.txt"
  content  = "x"
}
resource "terraform_data" "a" { input = local_file.f.content_md5 }
""",
        """\
# outside: other
# flags: -refresh=false
resource "local_file" "f" {
  filename = "${path.module}/out.txt"
  content  = "x"
}
resource "terraform_data" "a" { input = local_file.f.content_md5 }
""",
    ],
    "data in modules": [
        """\
module "m" {
  source     = "./m"
  depends_on = [terraform_data.a]
}
resource "terraform_data" "a" { input = "x" }
data "terraform_remote_state" "s" {
  backend  = "local"
  config   = { path = "other.tfstate" }
  defaults = { d = 1 }
}
output "r" { value = data.terraform_remote_state.s.outputs.k }
output "m" { value = module.m.c }
### m/main.tf
data "local_file" "d" { filename = "${path.root}/main.tf" }
resource "terraform_data" "x" { input = data.local_file.d.content_md5 }
output "c" { value = terraform_data.x.output }
### other.tfstate
{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"x","outputs":{"k":{"value":[1],"type":["list","number"]}},"resources":[]}
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


@pytest.mark.parametrize("name", SCENARIOS)
def test_same_as_tofu(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair(tmp_path, monkeypatch)
    for step, text in enumerate([*SCENARIOS[name], None]):
        pair.step(f"step {step}", text)

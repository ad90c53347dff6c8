"""Applies come to the same end in whatever legal order their operations are begun."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apply.orders import MakeSchedule, Watch, by_chance, delaying, hurrying, last_ready
from tests.cli.process import inside
from tests.plan.vault import REQUIRED, install
from tests.real.alike import compare, states

_CHANCES = 2
_CHOSEN = 4
_MODULE = """\
variable "v" { default = null }
resource "terraform_data" "f" {
  input            = var.v
  triggers_replace = var.v
}
output "id" { value = terraform_data.f.id }
output "v" { value = terraform_data.f.output }
"""
_NESTED = """\
variable "v" {}
variable "n" { default = 1 }
module "deep" {
  count  = var.n
  source = "../m"
  v      = local.v
}
locals { v = "${var.v}!" }
output "ids" { value = module.deep[*].id }
output "all" { value = module.deep }
"""
_TWO = """\
variable "v" {}
variable "n" { default = 0 }
resource "terraform_data" "one" { input = "one" }
resource "terraform_data" "two" { input = [terraform_data.one.id, var.v] }
output "one" { value = terraform_data.one.id }
output "two" { value = terraform_data.two.output }
output "n" { value = var.n }
"""
_WITH_DATA = """\
variable "v" {}
data "vault_look" "d" { name = "d" }
resource "terraform_data" "f" { input = [data.vault_look.d.found, var.v] }
output "found" { value = data.vault_look.d.found }
"""
_THINGS = """\
variable "v" {}
resource "vault_thing" "t" {
  count   = var.v
  name    = "t"
  version = var.v
}
output "version" { value = vault_thing.t[*].version }
"""
_LENT = """\
variable "v" {
  validation {
    condition     = var.v != terraform_data.other.id
    error_message = "the same"
  }
}
resource "terraform_data" "other" {}
ephemeral "vault_lease" "l" { name = var.v }
output "secret" {
  value     = ephemeral.vault_lease.l.secret
  ephemeral = true
}
"""
_MODULES = {
    "m": _MODULE,
    "nested": _NESTED,
    "two": _TWO,
    "data": _WITH_DATA,
    "things": _THINGS,
    "lent": _LENT,
}
_P = """\
variable "n" {}
resource "terraform_data" "p" {
  count            = var.n
  triggers_replace = var.n
}
"""

CASES = {
    "a module's expansion and arguments": _P
    + """
module "m" {
  source = "./m"
  count  = length(terraform_data.p)
  v      = join(",", terraform_data.p[*].id)
}
""",
    "keys from another module's outputs": _P
    + """
module "a" {
  source   = "./m"
  for_each = { for i, p in terraform_data.p : "k${i}" => i }
  v        = terraform_data.p[each.value].id
}
module "b" {
  source   = "./m"
  for_each = module.a
  v        = each.value.id
}
output "o" { value = { for k, m in module.b : k => m.id } }
""",
    "modules in modules": _P
    + """
module "m" {
  source   = "./nested"
  for_each = toset([for i, p in terraform_data.p : "k${i}"])
  v        = join(",", terraform_data.p[*].id)
  n        = length(terraform_data.p)
}
resource "terraform_data" "last" { input = { for k, m in module.m : k => m.all[*].id } }
""",
    "instances that are called with each other": _P
    + """
module "m" {
  source   = "./two"
  for_each = toset([for i, p in terraform_data.p : "k${i}"])
  v        = each.key == "k0" ? "" : module.m["k0"].one
}
resource "terraform_data" "last" { input = values(module.m)[*].two }
""",
    "instances of which some have nothing to do": _P
    + """
module "m" {
  source   = "./two"
  for_each = { a = "same", b = terraform_data.p[0].id }
  v        = each.value
  n        = length(terraform_data.p)
}
module "n" {
  source = "./m"
  count  = length(module.m)
  v      = module.m["a"].two
}
resource "terraform_data" "last" { input = [module.m["a"].n, module.n[*].v] }
""",
    "depends_on of a module": _P
    + """
module "first" {
  source = "./m"
  count  = var.n
  v      = var.n
}
module "m" {
  source     = "./data"
  v          = length(terraform_data.p)
  depends_on = [terraform_data.p, module.first]
}
output "o" { value = module.m.found }
""",
    "locals through modules": _P
    + """
locals { ids = terraform_data.p[*].id }
module "a" {
  source = "./m"
  v      = local.ids
}
locals { again = [for v in module.a.v : "a ${v}"] }
module "b" {
  source = "./m"
  count  = length(local.ids)
  v      = local.again
}
resource "terraform_data" "z" { input = module.b[*].v }
""",
    "conditions": _P
    + """
resource "terraform_data" "checked" {
  input = "same"
  lifecycle {
    precondition {
      condition     = length(join(",", terraform_data.p[*].id)) > 0
      error_message = "empty ${terraform_data.p[0].id}"
    }
    postcondition {
      condition     = self.output != module.m.id
      error_message = "equal"
    }
  }
}
module "m" {
  source = "./m"
  v      = terraform_data.p[*].id
}
check "c" {
  data "vault_look" "c" { name = terraform_data.checked.output }
  assert {
    condition     = data.vault_look.c.found != terraform_data.p[0].id
    error_message = "equal"
  }
}
""",
    "replace_triggered_by": _P
    + """
resource "terraform_data" "t" {
  count = 2
  input = "same"
  lifecycle { replace_triggered_by = [terraform_data.p] }
}
resource "terraform_data" "u" {
  input = terraform_data.t[*].id
  lifecycle { replace_triggered_by = [terraform_data.t[1].id] }
}
""",
    "create_before_destroy": _P
    + """
resource "terraform_data" "c" {
  for_each         = toset([for i, p in terraform_data.p : "k${i}"])
  triggers_replace = terraform_data.p[*].id
  lifecycle { create_before_destroy = true }
}
module "m" {
  source = "./m"
  count  = length(terraform_data.c)
  v      = [for c in terraform_data.c : c.id]
}
""",
    "provider configurations": _P
    + """
provider "vault" { token = join(",", terraform_data.p[*].id) }
resource "vault_thing" "t" {
  count   = length(terraform_data.p)
  name    = "t${count.index}"
  version = var.n
}
module "m" {
  source = "./m"
  v      = vault_thing.t[*].id
}
module "d" {
  source = "./data"
  count  = var.n
  v      = vault_thing.t[count.index].id
}
""",
    "a provider configured from a module": _P
    + """
module "m" {
  source = "./m"
  count  = length(terraform_data.p)
  v      = terraform_data.p[count.index].id
}
provider "vault" { token = join(",", module.m[*].v) }
resource "vault_thing" "t" {
  name    = "t"
  version = var.n
}
""",
    "ephemeral": _P
    + """
ephemeral "vault_lease" "l" {
  count = length(terraform_data.p)
  name  = terraform_data.p[count.index].id
}
provider "vault" {
  alias = "by"
  token = join(",", ephemeral.vault_lease.l[*].secret)
}
resource "vault_thing" "t" {
  provider = vault.by
  count    = length(terraform_data.p)
  name     = "t${count.index}"
  version  = var.n
  password = ephemeral.vault_lease.l[count.index].secret
}
module "m" {
  source = "./m"
  v      = vault_thing.t[*].version
}
""",
    "providers with keys": _P
    + """
provider "vault" {
  alias    = "by"
  for_each = toset(["a", "b"])
  token    = "${each.key} ${join(",", terraform_data.p[*].id)}"
}
module "m" {
  source    = "./things"
  for_each  = toset(["a", "b"])
  v         = length(terraform_data.p)
  providers = { vault = vault.by[each.key] }
}
resource "terraform_data" "last" { input = values(module.m)[*].version }
""",
    "functions of providers": _P
    + """
provider "vault" { token = join(",", terraform_data.p[*].id) }
module "m" {
  source = "./m"
  count  = length(terraform_data.p)
  v      = provider::vault::twice(terraform_data.p[count.index].id)
}
resource "terraform_data" "last" { input = provider::vault::twice(join(",", module.m[*].id)) }
""",
    "validations and ephemeral values of modules": _P
    + """
module "m" {
  source = "./lent"
  count  = length(terraform_data.p)
  v      = terraform_data.p[count.index].id
}
resource "vault_thing" "t" {
  name     = "t"
  version  = var.n
  password = join(",", module.m[*].secret)
}
""",
    "data that waits": _P
    + """
data "vault_look" "d" {
  count      = length(terraform_data.p)
  name       = "x${count.index}"
  depends_on = [terraform_data.p]
}
module "m" {
  source   = "./m"
  for_each = { for i, d in terraform_data.p : "k${i}" => i }
  v        = data.vault_look.d[each.value].found
}
module "d" {
  source     = "./data"
  for_each   = module.m
  v          = each.value.v
  depends_on = [module.m]
}
output "o" { value = module.d }
""",
    "destroy provisioners": _P
    + """
resource "terraform_data" "d" {
  count            = length(terraform_data.p)
  triggers_replace = terraform_data.p[*].id
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone ${count.index} ${path.module} >> gone"
  }
}
module "m" {
  source = "./m"
  count  = length(terraform_data.d)
  v      = terraform_data.d[*].id
}
""",
}


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    install(monkeypatch)
    return Watch(monkeypatch)


def _write(folder: Path, text: str) -> None:
    for name, content in _MODULES.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "main.tf").write_text(REQUIRED + content)
    (folder / "main.tf").write_text(REQUIRED + text)


class _Story:
    """The applies of one case, each time from the beginning, in one order after the other."""

    def __init__(self, text: str, folder: Path, watch: Watch, chdir: pytest.MonkeyPatch) -> None:
        self._text = text
        self._folder = folder
        self._watch = watch
        self._chdir = chdir
        self._number = 0
        self.sizes: list[int] = []

    def told(self, orders: list[MakeSchedule | None], parallelism: int = 1) -> list[str]:
        """The states after each apply of the story."""
        self._number += 1
        here = self._folder / str(self._number)
        _write(here, self._text)
        self._chdir.chdir(here)
        assert inside("get").code == 0
        found: list[str] = []
        steps = (["-var=n=2"], ["-var=n=3"], ["-var=n=1"], ["-var=n=1", "-destroy"])
        for order, args in zip(orders, steps, strict=True):
            if order is None:
                self._watch.order()
            else:
                self._watch.order(order)
            done = inside("apply", "-auto-approve", f"-parallelism={parallelism}", *args)
            assert done.code == 0, done.out + done.err
            assert not self._watch.early, self._watch.early
            self.sizes.append(self._watch.operations)
            found.append(Path("terraform.tfstate").read_text())
        gone = Path("gone")
        return [*found, *sorted(gone.read_text().splitlines() if gone.exists() else ())]


def _same(ours: list[str], usual: list[str], about: str) -> None:
    for number in range(4):
        left, right = states(usual[number], ours[number])
        compare(right, left, f"apply {number + 1} {about}")
    assert ours[4:] == usual[4:]


@pytest.mark.parametrize("case", CASES)
def test_any_order(
    case: str, watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = _Story(CASES[case], tmp_path, watch, monkeypatch)
    usual = story.told([None] * 4, parallelism=10)
    _same(story.told([last_ready] * 4), usual, "last ready first")
    for seed in range(_CHANCES):
        _same(story.told([by_chance(seed)] * 4), usual, f"by chance {seed}")
    sizes = story.sizes[:4]
    for make in (delaying, hurrying):
        for number in range(0, max(sizes), max(sizes) // _CHOSEN + 1):
            orders = [make(min(number, size - 1)) for size in sizes]
            _same(story.told([*orders]), usual, f"{make.__name__} {number}")

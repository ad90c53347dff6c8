"""Ephemeral resources, from the plan over its application to the end: opened, renewed, closed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plan.sessions import (
    Options,
    applied,
    apply_failed,
    apply_saved,
    failed,
    plan,
    saved,
    session,
    started,
    words,
)
from tests.plan.vault import REQUIRED, Vault, install

CHAIN = """\
ephemeral "vault_lease" "a" { name = "a" }
ephemeral "vault_lease" "b" { name = "b${ephemeral.vault_lease.a.renewals}" }
"""


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    monkeypatch.chdir(tmp_path)
    return install(monkeypatch)


def write(*texts: str, **modules: str) -> None:
    Path("main.tf").write_text(REQUIRED + "".join(texts))
    for name, text in modules.items():
        Path(name).mkdir(exist_ok=True)
        Path(name, "main.tf").write_text(REQUIRED + text)


def test_closed_in_reverse_order_of_opening(vault: Vault) -> None:
    write(CHAIN, 'resource "vault_thing" "t" {\n  name = "t"\n', "}\n")
    plan()
    assert vault.taken() == ["open a", "open b0", "close b0", "close a"]
    assert vault.running == 0


def test_opened_again_while_applying_if_anything_uses_it(vault: Vault) -> None:
    thing = 'resource "vault_thing" "t" {\n  name = "t"\n  password = %s\n}\n'
    write(CHAIN, thing % "ephemeral.vault_lease.b.secret")
    applied()
    opened = ["open a", "open b0"]
    closed = ["close b0", "close a"]
    created = ["create t with secret of b0"]
    assert vault.taken() == [*opened, *closed, *opened, *created, *closed]
    write(CHAIN, thing % '"x"', 'resource "vault_thing" "u" { name = "u" }\n')
    applied()
    assert [each for each in vault.taken() if each.startswith("open")] == opened


def test_not_opened_for_an_output_of_something_that_uses_it(vault: Vault) -> None:
    thing = 'resource "vault_thing" "t" {\n  name = "t"\n'
    thing += "  password = ephemeral.vault_lease.b.secret\n}\n"
    data = 'resource "terraform_data" "d" { input = %s }\n'
    output = 'output "o" { value = vault_thing.t.id }\n'
    write(CHAIN, thing, data % 1, output)
    applied()
    vault.taken()
    write(CHAIN, thing, data % 2, output)
    applied()
    assert [each for each in vault.taken() if each.startswith("open")] == ["open a", "open b0"]


@pytest.mark.parametrize(
    ("options", "opened"),
    [
        (Options(targets=['module.m["x"]']), ["x"]),
        (Options(targets=['module.m["x"].ephemeral.vault_lease.l']), ["x"]),
        (Options(targets=["module.m"]), ["x", "y"]),
        (Options(excludes=['module.m["x"]']), ["y"]),
        (Options(targets=["terraform_data.all"]), ["x", "y"]),
    ],
)
def test_opened_in_those_module_instances_that_matter(
    options: Options, opened: list[str], vault: Vault
) -> None:
    call = 'module "m" {\n  source = "./m"\n  for_each = toset(["x", "y"])\n  k = each.key\n}\n'
    inner = 'variable "k" {}\nephemeral "vault_lease" "l" { name = var.k }\n'
    inner += 'resource "vault_thing" "t" {\n  name = var.k\n'
    inner += "  password = ephemeral.vault_lease.l.secret\n}\n"
    inner += 'output "o" { value = vault_thing.t.id }\n'
    last = 'resource "terraform_data" "all" { input = values(module.m)[*].o }\n'
    write(call, last, m=inner)
    plan(**options)
    assert sorted(each for each in vault.taken() if "open" in each) == [
        f"open {each}" for each in opened
    ]


_LENT = """\
variable "k" {}
variable "n" {}
variable "lent" {
  default   = null
  ephemeral = true
}
ephemeral "vault_lease" "l" { name = var.k }
resource "vault_thing" "t" {
  name     = "${var.k}${var.n}"
  password = ephemeral.vault_lease.l.secret
}
resource "vault_thing" "u" {
  name     = "u${var.k}${var.n}"
  password = var.lent
}
output "lease" {
  value     = ephemeral.vault_lease.l.secret
  ephemeral = true
}
"""
_PASSED = """\
variable "given" { ephemeral = true }
output "given" {
  value     = var.given
  ephemeral = true
}
"""
_CALLS = """\
module "m" {
  source   = "./m"
  for_each = { x = 1, y = %s }
  k        = each.key
  n        = each.value
}
module "passed" {
  source = "./passed"
  given  = module.m["x"].lease
}
module "last" {
  source = "./m"
  k      = "z"
  n      = %s
  lent   = module.passed.given
}
"""


@pytest.mark.parametrize(
    ("changed", "opened"),
    # A reference to one instance of a call counts for all of them.
    [((1, 2), {"x", "y", "z"}), ((2, 1), {"y"}), ((1, 1), set())],
)
def test_opened_while_applying_in_those_module_instances_that_change(
    changed: tuple[int, int], opened: set[str], vault: Vault
) -> None:
    write(_CALLS % (1, 1), m=_LENT, passed=_PASSED)
    applied()
    write(_CALLS % changed, m=_LENT, passed=_PASSED)
    saved()
    vault.taken()
    apply_saved()
    assert {each for each in vault.taken() if "open" in each} == {f"open {e}" for e in opened}


def test_not_opened_for_who_wants_the_outputs_of_its_module(vault: Vault) -> None:
    output = 'output "o" { value = values(module.m)[0].o }\n'
    call = 'module "m" {\n  source = "./m"\n  for_each = toset(["k"])\n}\n'
    data = 'resource "terraform_data" "d" {}\n'
    write(call, output, data, m=CHAIN + 'output "o" { value = 1 }\n')
    applied()
    assert [each for each in vault.taken() if each.startswith("open")] == ["open a", "open b0"]


def test_opened_for_conditions_of_what_stays(vault: Vault) -> None:
    thing = 'resource "vault_thing" "t" {\n  name = "t"\n'
    thing += "  password = ephemeral.vault_lease.b.secret\n  lifecycle {\n    precondition {\n"
    thing += '      condition     = var.v > 0\n      error_message = "no"\n    }\n  }\n}\n'
    data = 'variable "v" { default = 1 }\nresource "terraform_data" "d" { input = %s }\n'
    write(CHAIN, thing, data % 1)
    applied()
    vault.taken()
    write(CHAIN, thing, data % 2)
    applied()
    opened = [each for each in vault.taken() if each.startswith("open")]
    assert opened == ["open a", "open b0"] * 2


def test_not_opened_for_a_whole_module_whose_outputs_do_not_use_it(vault: Vault) -> None:
    write(
        'module "m" {\n  source = "./inner"\n}\n'
        'resource "terraform_data" "d" { input = keys(module.m) }\n',
        inner='ephemeral "vault_lease" "l" { name = "l" }\noutput "o" { value = 1 }\n',
    )
    applied()
    assert vault.taken() == ["open l", "close l"]


def test_nothing_of_it_is_stored(vault: Vault) -> None:
    write(
        CHAIN,
        'resource "vault_thing" "t" {\n  name = "t"\n'
        "  password = ephemeral.vault_lease.b.secret\n}\n",
    )
    saved()
    apply_saved()
    stored = json.loads(Path("terraform.tfstate").read_text())
    assert [each["type"] for each in stored["resources"]] == ["vault_thing"]
    instance = stored["resources"][0]["instances"][0]
    assert instance["attributes"]["password"] is None
    assert instance["dependencies"] == ["ephemeral.vault_lease.a", "ephemeral.vault_lease.b"]
    for path in ("p", "terraform.tfstate"):
        assert b"secret of" not in Path(path).read_bytes()
    assert plan().is_empty


def test_waits_for_what_is_not_known_yet(vault: Vault) -> None:
    write(
        'resource "vault_thing" "t" { name = "t" }\n'
        'ephemeral "vault_lease" "l" { name = vault_thing.t.id }\n'
        'resource "vault_thing" "u" {\n  name = "u"\n'
        "  password = ephemeral.vault_lease.l.secret\n}\n"
    )
    saved()
    assert vault.taken() == []
    apply_saved()
    created = ["create t with None", "open id-t", "create u with secret of id-t", "close id-t"]
    assert vault.taken() == created


@pytest.mark.parametrize("argument", ["depends_on = [vault_thing.t]", "name = vault_thing.t.name"])
def test_waits_for_what_it_depends_on(vault: Vault, argument: str) -> None:
    name = "" if argument.startswith("name") else 'name = "l"\n'
    write(
        'resource "vault_thing" "t" { name = "t" }\n'
        f'ephemeral "vault_lease" "l" {{\n  {name}{argument}\n}}\n'
    )
    plan()
    assert vault.taken() == []
    applied()
    plan()
    assert vault.taken()[-2:] == [
        "open " + ("l" if name else "t"),
        "close " + ("l" if name else "t"),
    ]


def test_a_provider_configured_with_it_is_closed_before(vault: Vault) -> None:
    write(
        CHAIN,
        'provider "vault" {\n  alias = "two"\n  token = ephemeral.vault_lease.b.secret\n}\n'
        'ephemeral "vault_lease" "c" {\n  provider = vault.two\n  name = "c"\n}\n'
        'resource "vault_thing" "t" {\n  provider = vault.two\n  name = "t"\n'
        "  password = ephemeral.vault_lease.c.secret\n}\n",
    )
    applied()
    opened = ["open a", "open b0", "open c as secret of b0"]
    closed = ["close c", "close b0", "close a"]
    created = ["create t with secret of c as secret of b0"]
    assert vault.taken() == [*opened, *closed, *opened, *created, *closed]
    session().destroy()
    needed, released = opened[:2], closed[1:]
    there = ["read t as secret of b0"]
    gone = ["delete t as secret of b0"]
    assert vault.taken() == [*needed, *there, *released, *needed, *gone, *released]


def test_repetition_and_modules(vault: Vault) -> None:
    write(
        'module "m" {\n  source = "./inner"\n  for_each = toset(["x", "y"])\n  key = each.key\n}\n'
        'ephemeral "vault_lease" "n" {\n  count = 2\n  name = "n${count.index}"\n}\n'
        'ephemeral "vault_lease" "off" {\n  name = "off"\n  lifecycle { enabled = false }\n}\n'
        'resource "vault_thing" "t" {\n  name = "t"\n'
        '  password = join(",", concat([for m in module.m : m.s], '
        "ephemeral.vault_lease.n[*].name))\n}\n",
        inner='variable "key" {}\n'
        'ephemeral "vault_lease" "l" { name = var.key }\n'
        'output "s" {\n  value = ephemeral.vault_lease.l.name\n  ephemeral = true\n}\n',
    )
    applied()
    notes = vault.taken()
    assert "create t with x,y,n0,n1" in notes
    assert sorted(notes[:4]) == ["open n0", "open n1", "open x", "open y"]
    assert sorted(notes[-4:]) == ["close n0", "close n1", "close x", "close y"]


def test_renewed_in_the_background(vault: Vault) -> None:
    write(
        'ephemeral "vault_lease" "l" {\n  name = "l"\n  renewed_every = 0.05\n}\n'
        'resource "vault_thing" "t" {\n  name = "t"\n  takes = 0.4\n'
        "  password = ephemeral.vault_lease.l.secret\n}\n"
    )
    done = applied()
    notes = vault.taken()
    later = notes[notes.index("close l") + 1 :]
    assert later[:2] == ["open l", "create t with secret of l"]
    assert later.count("renew l") > 2
    assert later[-1] == "close l"
    assert "ephemeral.vault_lease.l" in started(done.events, "renew")


@pytest.mark.parametrize(
    ("fails", "summary", "notes"),
    [
        ("open", "No lease", ["open a", "close a"]),
        ("close", "Not closed", ["open a", "open f", "close f", "close a"]),
    ],
)
def test_failures_while_planning(vault: Vault, fails: str, summary: str, notes: list[str]) -> None:
    write(
        'ephemeral "vault_lease" "a" { name = "a" }\n'
        f'ephemeral "vault_lease" "f" {{\n  name = "f"\n  fails = "{fails}"\n'
        "  depends_on = [ephemeral.vault_lease.a]\n}\n"
    )
    assert f"Error: {summary}" in words(failed())
    assert vault.taken() == notes
    assert vault.running == 0


def test_a_renewal_that_fails_is_an_error(vault: Vault) -> None:
    write(
        'ephemeral "vault_lease" "l" {\n  name = "l"\n  fails = "renew"\n  renewed_every = 0.05\n}\n'
        'resource "vault_thing" "t" {\n  name = "t"\n  takes = 0.4\n'
        "  password = ephemeral.vault_lease.l.secret\n}\n"
    )
    assert "Error: Not renewed" in words(apply_failed())
    assert vault.taken()[-2:] == ["renew l", "close l"]
    assert "vault_thing.t" in session().state.resources


def test_closed_also_after_an_error_elsewhere(vault: Vault) -> None:
    write(
        CHAIN,
        'resource "vault_thing" "t" {\n  name = "broken"\n'
        "  password = ephemeral.vault_lease.b.secret\n}\n",
    )
    assert "Error: Broken thing" in words(apply_failed())
    assert vault.taken()[-3:] == ["create broken with secret of b0", "close b0", "close a"]
    assert vault.running == 0


@pytest.mark.parametrize(
    ("condition", "opened"),
    [("precondition", []), ("postcondition", ["open l", "close l"])],
)
def test_conditions(vault: Vault, condition: str, opened: list[str]) -> None:
    write(
        'ephemeral "vault_lease" "l" {\n  name = "l"\n  lifecycle {\n'
        f"    {condition} {{\n"
        '      condition = path.module == "elsewhere"\n      error_message = "not so"\n    }\n  }\n}\n'
    )
    assert "not so" in words(failed())
    assert vault.taken() == opened


@pytest.mark.parametrize(
    "text",
    [
        'resource "vault_thing" "t" { name = ephemeral.vault_lease.a.secret }\n',
        'output "o" {\n  value = ephemeral.vault_lease.a.secret\n  sensitive = true\n}\n',
        'resource "terraform_data" "t" { count = ephemeral.vault_lease.a.renewals }\n',
        'data "vault_look" "l" { name = ephemeral.vault_lease.a.secret }\n',
    ],
    ids=["argument", "output", "count", "data"],
)
def test_places_that_would_store_it(vault: Vault, text: str) -> None:
    write(CHAIN, text)
    assert "phemeral" in words(failed())


def test_only_what_a_target_needs_is_opened(vault: Vault) -> None:
    write(
        CHAIN,
        'resource "vault_thing" "t" {\n  name = "t"\n'
        "  password = ephemeral.vault_lease.a.secret\n}\n"
        'resource "vault_thing" "u" { name = "u" }\n',
    )
    plan(targets=["vault_thing.u"])
    assert vault.taken() == []
    plan(targets=["vault_thing.t"])
    assert vault.taken() == ["open a", "close a"]


def test_nothing_is_opened_for_what_is_destroyed(vault: Vault) -> None:
    text = 'resource "vault_thing" "t" {\n  count = %d\n  name = "t${count.index}"\n'
    text += "  password = ephemeral.vault_lease.a.secret\n}\n"
    write(CHAIN, text % 2)
    applied()
    write(CHAIN, text % 1)
    saved()
    vault.taken()
    apply_saved()
    assert vault.taken() == ["delete t1"]


def test_a_check_has_it_opened_while_applying(vault: Vault) -> None:
    write(
        CHAIN,
        'resource "vault_thing" "t" { name = "t" }\n'
        'check "c" {\n  assert {\n    condition = ephemeral.vault_lease.a.renewals == 1\n'
        '    error_message = "never renewed"\n  }\n}\n',
    )
    found = applied().applied.warnings
    assert any("never renewed" in each.detail for each in found)
    notes = vault.taken()
    assert notes.count("open a") == 2
    assert notes.count("open b0") == 1


def test_closed_before_what_it_was_opened_with_is_destroyed(vault: Vault) -> None:
    write(
        'resource "vault_thing" "r" {\n  name = "r"\n'
        "  lifecycle { create_before_destroy = true }\n}\n"
        'ephemeral "vault_lease" "l" { name = vault_thing.r.id }\n'
        'provider "vault" {\n  alias = "two"\n  token = ephemeral.vault_lease.l.name\n}\n'
        'resource "vault_thing" "t" {\n  provider = vault.two\n  name = "t"\n}\n'
    )
    applied()
    vault.taken()
    session().destroy()
    ended = ["open id-r", "delete t as id-r", "close id-r", "delete r"]
    assert vault.taken()[-4:] == ended

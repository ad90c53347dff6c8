"""Data sources: when they are read, and those that belong to checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nigari
from nigari.events import Event
from nigari.plan.model.changes import Reason
from tests.plan.sessions import Done, applied, apply_failed, plan, planned, session, started
from tests.plan.vault import REQUIRED, Vault, install

THING = 'resource "vault_thing" "t" {\n  name = "t"\n  version = 1\n}\n'

_POSTCONDITION = 'postcondition {\n  condition = self.found != ""\n  error_message = "no"\n}'


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    monkeypatch.chdir(tmp_path)
    return install(monkeypatch)


def reads(text: str) -> dict[str, Reason]:
    """The data sources that are read when the plan is applied."""
    Path("main.tf").write_text(REQUIRED + text)
    changes = plan().changes
    return {each.address: Reason(each.reason) for each in changes if each.action == "read"}


def apply(text: str) -> Done:
    Path("main.tf").write_text(REQUIRED + text)
    return applied()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('name = "n"', None),
        ("name = vault_thing.t.id", Reason.CONFIG_UNKNOWN),
        ("name = vault_thing.t.name", Reason.DEPENDENCY_PENDING),
        ("name = local.name", None),
        ('name = "n"\n  depends_on = [vault_thing.t]', Reason.DEPENDENCY_PENDING),
        ('name = "n"\n  depends_on = [local.name]', Reason.DEPENDENCY_PENDING),
        (
            "name = local.name\n  lifecycle {\n    " + _POSTCONDITION + "\n  }",
            Reason.DEPENDENCY_PENDING,
        ),
    ],
    ids=[
        "alone",
        "unknown",
        "refers to something pending",
        "refers to it through a local value",
        "depends on it",
        "depends on it through a local value",
        "with conditions",
    ],
)
def test_read_now_or_later(vault: Vault, body: str, reason: Reason | None) -> None:
    text = "locals { name = vault_thing.t.name }\n" + THING
    text += f'data "vault_look" "l" {{\n  {body}\n}}\n'
    found = reads(text)
    assert found == ({} if reason is None else {"data.vault_look.l": reason})
    apply(text)
    assert reads(text) == {}


_NEEDING = 'resource "terraform_data" "n" { input = vault_thing.t.name }\n'
_NEEDING_CALL = 'module "needing" {\n  source = "./needing"\n  v = vault_thing.t.name\n}\n'
_LOOKING = REQUIRED + 'data "vault_look" "l" { name = "n" }\n'


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ('data "vault_look" "l" {\n  name = "n"\n  depends_on = [terraform_data.n]\n}\n', False),
        (
            'module "m" {\n  source = "./m"\n  depends_on = [terraform_data.n]\n}\n',
            True,
        ),
        (
            'module "m" {\n  source = "./m"\n  depends_on = [module.needing]\n}\n' + _NEEDING_CALL,
            True,
        ),
        (
            'data "vault_look" "l" {\n  name = "n"\n  depends_on = [module.needing]\n}\n'
            + _NEEDING_CALL,
            True,
        ),
        (
            'data "vault_look" "l" {\n  name = "n"\n  depends_on = [module.needing]\n}\n'
            + _NEEDING_CALL.replace("./needing", "./idle"),
            True,
        ),
    ],
    ids=[
        "a resource",
        "a call, for a resource",
        "a call, for a module",
        "a module",
        "a module that does not use it",
    ],
)
def test_what_depends_on_means_of_things_that_need_others(
    vault: Vault, text: str, waits: bool
) -> None:
    for folder in ("m", "needing", "idle"):
        Path(folder).mkdir()
    Path("m/main.tf").write_text(_LOOKING)
    Path("idle/main.tf").write_text('variable "v" {}\n')
    Path("needing/main.tf").write_text(
        'variable "v" {}\nresource "terraform_data" "in" { input = var.v }\n'
    )
    apply(THING + _NEEDING + text)
    changed = THING.replace("version = 1", "version = 2")
    assert list(reads(changed + _NEEDING + text).values()) == [Reason.DEPENDENCY_PENDING] * waits


@pytest.mark.parametrize(
    "declared",
    [THING.replace('"t" {', '"t" {\n  count = 0'), THING.replace("version = 1", "version = 2")],
    ids=["it would go", "it would change"],
)
@pytest.mark.parametrize("written", ["data", "call"])
def test_a_refresh_waits_for_no_change(vault: Vault, declared: str, written: str) -> None:
    Path("m").mkdir()
    Path("m/main.tf").write_text(_LOOKING)
    text = {
        "data": 'data "vault_look" "l" {\n  name = "n"\n  depends_on = [vault_thing.t]\n}\n',
        "call": 'module "m" {\n  source = "./m"\n  depends_on = [vault_thing.t]\n}\n',
    }[written]
    apply(THING + text)
    Path("main.tf").write_text(REQUIRED + declared + text)
    applied(refresh_only=True)
    modes = [
        each["mode"] for each in json.loads(Path("terraform.tfstate").read_text())["resources"]
    ]
    assert sorted(modes) == ["data", "managed"]


_CONDITION = 'condition {\n  condition = var.no\n  error_message = "no"\n}'


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        ("vault_thing.t", "lifecycle {\n pre" + _CONDITION + "\n }"),
        ("vault_thing.t", "lifecycle {\n post" + _CONDITION + "\n }"),
        ("vault_thing.t", "takes = one([1, 2])"),
        ("vault_thing.t", "count = one([1, 2])"),
        ("vault_thing.t", 'count = 2\n takes = count.index == 1 ? one(["1", "2"]) : 0'),
        ("data.vault_look.none", ""),
    ],
    ids=["precondition", "postcondition", "argument", "count", "one instance", "data source"],
)
def test_nothing_is_read_that_depends_on_what_went_wrong(
    vault: Vault, name: str, mistake: str
) -> None:
    apply(THING)
    text = THING.replace("version = 1", "version = 1\n  " + mistake)
    text += 'data "vault_look" "none" { name = "nothing" }\n' if not mistake else ""
    text += f'data "vault_look" "l" {{\n  name = "n"\n  depends_on = [{name}]\n}}\n'
    text += 'variable "no" { default = false }\n'
    Path("main.tf").write_text(REQUIRED + text)
    vault.taken()
    assert planned()[0] is None
    assert "look n" not in vault.taken()


def test_nothing_is_read_that_must_not_be_although_the_provider_is_open(vault: Vault) -> None:
    refused = "lifecycle {\n pre" + _CONDITION + "\n }"
    Path("main.tf").write_text(
        REQUIRED
        + 'data "vault_look" "first" { name = "f" }\n'
        + 'data "vault_look" "l" {\n  name = "n"\n  depends_on = [data.vault_look.first]\n'
        + f'  {refused}\n}}\nvariable "no" {{ default = false }}\n'
    )
    assert planned()[0] is None
    assert vault.taken() == ["look f"]


def test_data_wait_for_what_a_removed_module_instance_leaves(vault: Vault) -> None:
    Path("m").mkdir()
    Path("m/main.tf").write_text(REQUIRED + THING)
    text = 'module "m" {\n  source = "./m"\n  count = %s\n}\n'
    text += 'data "vault_look" "l" {\n  name = "n"\n  depends_on = [module.m]\n}\n'
    apply(text % 2)
    assert reads(text % 2) == {}
    assert reads(text % 1) == {"data.vault_look.l": Reason.DEPENDENCY_PENDING}
    assert reads(text % 0) == {"data.vault_look.l": Reason.DEPENDENCY_PENDING}


def test_data_wait_for_changes_in_their_own_module_instance(vault: Vault) -> None:
    call = (
        'module "m" {\n  source = "./m"\n  for_each = { x = 1, y = %s }\n'
        "  k = each.key\n  version_of = each.value\n}\n"
    )
    Path("m").mkdir()
    Path("m", "main.tf").write_text(
        REQUIRED + 'variable "k" {}\nvariable "version_of" {}\n'
        'resource "vault_thing" "t" {\n  name = var.k\n  version = var.version_of\n}\n'
        'data "vault_look" "d" {\n  name = var.k\n  depends_on = [vault_thing.t]\n}\n'
    )
    apply(call % 1)
    found = reads(call % 2)
    assert found == {'module.m["y"].data.vault_look.d': Reason.DEPENDENCY_PENDING}


def test_data_wait_for_what_a_module_no_longer_declares(vault: Vault) -> None:
    Path("m").mkdir()
    Path("m/main.tf").write_text(REQUIRED + THING)
    text = 'module "m" {\n  source = "./m"\n}\n'
    text += 'data "vault_look" "l" {\n  name = "n"\n  depends_on = [module.m]\n}\n'
    apply(text)
    Path("m/main.tf").write_text(REQUIRED)
    assert reads(text) == {"data.vault_look.l": Reason.DEPENDENCY_PENDING}


def test_data_that_could_not_be_read_anew_is_not_stored(vault: Vault) -> None:
    text = 'resource "terraform_data" "n" {\n  triggers_replace = %d\n'
    text += '  provisioner "local-exec" { command = "exit %d" }\n}\n'
    text += 'data "vault_look" "l" {\n  name = "n"\n  depends_on = [terraform_data.n]\n}\n'
    apply(text % (1, 0))
    Path("main.tf").write_text(REQUIRED + text % (2, 1))
    apply_failed()
    stored = json.loads(Path("terraform.tfstate").read_text())["resources"]
    assert [each["mode"] for each in stored] == ["managed"]


CHECK = """\
check "c" {
  data "vault_look" "l" { name = "%s" }
  assert {
    condition     = data.vault_look.l.found == "found x"
    error_message = "It is ${data.vault_look.l.found}."
  }
}
"""


def results() -> list[tuple[str, str, list[str]]]:
    data = json.loads(Path("terraform.tfstate").read_text())
    return [
        (each["config_addr"], each["status"], each["objects"][0].get("failure_messages", []))
        for each in data["check_results"]
    ]


def test_the_data_source_of_a_check_is_read_again_at_the_end(vault: Vault) -> None:
    text = THING + CHECK % "x"
    assert reads(text) == {"data.vault_look.l": Reason.CHECK_NESTED}
    vault.taken()
    apply(text)
    assert vault.taken() == ["look x", "create t with None", "look x"]
    assert results() == [("check.c", "pass", [])]


@pytest.mark.parametrize(
    ("name", "said", "failure"),
    [
        ("y", "Check failed", "It is found y."),
        ("nothing", "Not found", "Not found: There is none."),
    ],
)
def test_a_check_that_fails_stops_nothing(vault: Vault, name: str, said: str, failure: str) -> None:
    assert said in apply(THING + CHECK % name).warnings
    assert results() == [("check.c", "fail", [failure])]
    assert "create t with None" in vault.notes


def test_only_its_check_can_see_it(vault: Vault) -> None:
    Path("main.tf").write_text(
        REQUIRED + CHECK % "x" + 'output "o" { value = data.vault_look.l.found }\n'
    )
    made, told = planned()
    assert made is None
    assert [each.summary for each in told] == ["Reference to the data source of a check"]


def test_what_was_read_for_an_instance_goes_with_it(vault: Vault) -> None:
    text = 'data "vault_look" "l" {\n  for_each = toset(%s)\n  name = each.key\n}\n'
    apply(text % '["a", "b"]' + 'output "o" { value = 1 }\n')
    apply(text % '["b"]' + 'output "o" { value = 2 }\n')
    assert list(session().state.resources) == ['data.vault_look.l["b"]']


def test_what_modules_tell_of_themselves(vault: Vault) -> None:
    meta = 'terraform {\n  provider_meta "vault" { module = "%s" }\n}\n'
    data = 'data "vault_look" "l" { name = "x" }\n'
    apply(meta % "one" + THING + data)
    assert vault.taken() == ["look x for one", "create t with None for one"]
    apply(meta % "two" + THING.replace("version = 1", "version = 2") + data)
    assert sorted(vault.taken()) == [
        "look x for two",
        "read t for two",
        "update t with None for two",
    ]
    apply(meta % "three")
    assert vault.taken() == ["read t for three", "delete t for three"]


def test_what_is_refused_is_not_reported_as_being_read(vault: Vault) -> None:
    Path("m").mkdir()
    output = 'variable "e" {\n  default = "e"\n  ephemeral = true\n}\n'
    output += 'output "o" {\n  value = var.e\n  ephemeral = true\n}\n'
    Path("m/main.tf").write_text(output)
    text = 'module "m" {\n  source = "./m"\n}\n'
    text += 'data "vault_look" "l" { name = jsonencode(module.m) }\n'
    text += 'data "vault_look" "m" { name = "n" }\n'
    Path("main.tf").write_text(REQUIRED + text)
    events = list[Event]()
    with pytest.raises(nigari.SessionError):
        session().plan(listen=events.append)
    assert started(events, "read") == ["data.vault_look.m"]

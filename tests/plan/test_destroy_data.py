"""While everything is destroyed, the data sources that providers need are read, and no others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nigari
from tests.plan.sessions import applied, apply_saved, saved, session
from tests.plan.vault import REQUIRED, Vault, install

_THING = 'resource "vault_thing" "t" {\n  provider = vault.by\n  name     = "t"\n}\n'
_UNUSED = 'data "vault_look" "unused" { name = "unused" }\n'
_BY = 'provider "vault" {\n  alias = "by"\n  token = %s\n}\n'
_D = 'data "vault_look" "d" { name = "d" }\n'

CASES = {
    "directly": _D + _BY % "data.vault_look.d.found",
    "through a local": _D + 'locals { t = "${data.vault_look.d.found}" }\n' + _BY % "local.t",
    "through a module": 'module "m" {\n  source = "./m"\n  name   = "d"\n}\n'
    + _BY % "module.m.found",
    "through an ephemeral resource": _D
    + 'ephemeral "vault_lease" "l" { name = data.vault_look.d.found }\n'
    + _BY % "ephemeral.vault_lease.l.secret",
    "repeated": 'data "vault_look" "d" {\n  for_each = toset(["d"])\n  name     = each.key\n}\n'
    + _BY % 'data.vault_look.d["d"].found',
    "of something that is destroyed as well": 'resource "terraform_data" "x" { input = "d" }\n'
    'data "vault_look" "d" { name = terraform_data.x.output }\n' + _BY % "data.vault_look.d.found",
    "from a provider that is configured from another": _D
    + 'provider "vault" {\n  alias = "first"\n  token = data.vault_look.d.found\n}\n'
    'data "vault_look" "e" {\n  provider = vault.first\n  name     = "e"\n}\n'
    + _BY
    % "data.vault_look.e.found",
}
_MODULE = 'variable "name" {}\ndata "vault_look" "d" { name = var.name }\n'
_MODULE += 'data "vault_look" "other" { name = "unused" }\n'
_MODULE += 'output "found" { value = data.vault_look.d.found }\n'


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    monkeypatch.chdir(tmp_path)
    return install(monkeypatch)


def _made(text: str, vault: Vault) -> None:
    Path("m").mkdir(exist_ok=True)
    Path("m/main.tf").write_text(REQUIRED + _MODULE)
    Path("main.tf").write_text(REQUIRED + _THING + _UNUSED + text)
    applied()
    state = Path("terraform.tfstate")
    state.write_text(state.read_text().replace('"found ', '"expired '))
    vault.taken()


def _token(case: str) -> str:
    if "ephemeral" in case:
        return "secret of found d"
    return "found e" if "another" in case else "found d"


def _left() -> list[str]:
    data = json.loads(Path("terraform.tfstate").read_text())
    return [f"{each['mode']}.{each['type']}.{each['name']}" for each in data["resources"]]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("how", ["destroy", "saved", "target", "orphan"])
def test_read(case: str, how: str, vault: Vault) -> None:
    _made(CASES[case], vault)
    if how == "destroy":
        session().destroy()
    elif how == "saved":
        saved(destroy=True)
        apply_saved()
    elif how == "target":
        session().destroy(targets=["vault_thing.t"])
    else:
        text = Path("main.tf").read_text().replace(_THING, "")
        Path("main.tf").write_text(text)
        applied()
    notes = vault.taken()
    assert f"delete t as {_token(case)}" in notes
    assert "expired" not in " ".join(notes)
    assert ("look unused" in notes) == (how == "orphan")
    if how in ("destroy", "saved"):
        assert _left() == []
    else:
        assert "data.vault_look.unused" in _left()
        assert "managed.vault_thing.t" not in _left()


def test_without_refreshing_what_was_read_before_counts(vault: Vault) -> None:
    _made(CASES["directly"], vault)
    applied(destroy=True, refresh=False)
    assert vault.taken() == ["delete t as expired d"]
    assert _left() == []


def test_what_cannot_be_read_anew_is_what_it_was(vault: Vault) -> None:
    _made(CASES["of something that is destroyed as well"], vault)
    data = json.loads(Path("terraform.tfstate").read_text())
    data["resources"] = [each for each in data["resources"] if each["type"] != "terraform_data"]
    Path("terraform.tfstate").write_text(json.dumps(data))
    session().destroy()
    assert "delete t as expired d" in vault.taken()


def test_data_that_cannot_be_read_stops_the_destroy(vault: Vault) -> None:
    _made(CASES["directly"], vault)
    main = Path("main.tf")
    main.write_text(main.read_text().replace('name = "d"', 'name = "nothing"'))
    with pytest.raises(nigari.SessionError, match="Not found"):
        session().destroy()
    assert "managed.vault_thing.t" in _left()


_PARTS = """\
data "vault_look" "alone" { name = "a" }
data "vault_look" "need" { name = "n" }
data "vault_look" "user" { name = terraform_data.x.output }
resource "terraform_data" "x" { input = data.vault_look.need.found }
resource "terraform_data" "z" {}
module "m" {
  source = "./m"
  name   = "m"
}
"""


@pytest.mark.parametrize(
    ("target", "gone"),
    [
        ("terraform_data.x", "managed.terraform_data.x"),
        ("terraform_data.z", "managed.terraform_data.z"),
        ("module.m", "data.vault_look.d data.vault_look.other"),
        ("data.vault_look.need", "data.vault_look.need managed.terraform_data.x"),
        ("data.vault_look.alone", "data.vault_look.alone"),
    ],
)
def test_data_that_is_not_named_stays(target: str, gone: str, vault: Vault) -> None:
    _made(_PARTS + _BY % '"x"', vault)
    before = set(_left())
    session().destroy(targets=[target])
    assert before - set(_left()) == set(gone.split())


@pytest.mark.parametrize("is_saved", [False, True])
def test_data_that_is_named_goes_once_its_provider_has_done_its_work(
    is_saved: bool, vault: Vault
) -> None:
    within = _D + _BY % "data.vault_look.d.found" + _THING
    Path("m").mkdir()
    Path("m/main.tf").write_text(REQUIRED + within)
    Path("main.tf").write_text(REQUIRED + _UNUSED + 'module "m" { source = "./m" }\n')
    applied()
    vault.taken()
    if is_saved:
        saved(destroy=True, targets=["module.m"])
        apply_saved()
    else:
        session().destroy(targets=["module.m"])
    assert "delete t as found d" in vault.taken()
    assert _left() == ["data.vault_look.unused"]


@pytest.mark.parametrize(
    ("target", "is_empty"),
    [("data.vault_look.alone", False), ("module.m", False), ("data.vault_look.absent", True)],
)
def test_forgetting_data_is_a_change(target: str, is_empty: bool, vault: Vault) -> None:
    _made(_PARTS + _BY % '"x"', vault)
    assert session().plan(destroy=True, targets=[target]).is_empty == is_empty


def test_modules_without_objects_are_not_expanded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m").mkdir()
    Path("m/main.tf").write_text('resource "terraform_data" "in" {}\n')
    kept = 'resource "terraform_data" "kept" {}\n'
    Path("main.tf").write_text(kept)
    applied()
    Path("main.tf").write_text(
        f'{kept}resource "terraform_data" "new" {{}}\n'
        'module "m" {\n  source   = "./m"\n  for_each = toset([terraform_data.new.id])\n}\n'
    )
    assert applied(destroy=True).counts == (0, 0, 1)
    assert not session().state.resources


def test_data_stay_that_something_depends_on_which_could_not_be_destroyed(vault: Vault) -> None:
    looks = 'variable "end" { default = 0 }\ndata "vault_look" "%s" { name = "n" }\n'
    stays = (
        'resource "terraform_data" "x" {\n  input = { look = data.vault_look.%s.found, end = var.end }\n'
        '  provisioner "local-exec" {\n    when    = destroy\n    command = "exit ${self.input.end}"\n'
        "  }\n}\n"
    )
    Path("m").mkdir()
    Path("m/main.tf").write_text(REQUIRED + (looks + stays) % ("in", "in"))
    Path("main.tf").write_text(
        REQUIRED
        + _UNUSED
        + (looks + stays).replace("default = 0", "default = 1") % ("d", "d")
        + 'module "m" {\n  source = "./m"\n  for_each = { a = 0, b = 1 }\n  end = each.value\n}\n'
    )
    applied()
    with pytest.raises(nigari.SessionError, match="exit"):
        session().destroy()
    assert list(session().state.resources) == [
        "data.vault_look.d",
        "terraform_data.x",
        'module.m["b"].data.vault_look.in',
        'module.m["b"].terraform_data.x',
    ]


def test_what_is_excluded_still_configures_the_provider_of_what_goes(vault: Vault) -> None:
    text = 'resource "terraform_data" "x" { input = "x" }\n' + _BY % "terraform_data.x.output"
    _made(text, vault)
    done = applied(destroy=True, excludes=["terraform_data.x"])
    assert done.finished("delete") == ["vault_thing.t"]
    assert "delete t as x" in vault.taken()

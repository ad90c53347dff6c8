"""Taking over what exists: import blocks, addresses by hand, and blocks that are written for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import nigari
from nigari.providers import api
from nigari.workspace.session.plan_result import made_plan
from tests.plan.museum import REQUIRED, install
from tests.plan.sessions import applied, apply_saved, failed, plan, session, words


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[api.ImportRequest]:
    monkeypatch.chdir(tmp_path)
    return install(monkeypatch)


def write(text: str) -> None:
    Path("main.tf").write_text(REQUIRED + text)


def stored() -> dict[str, dict[str, object]]:
    state = json.loads(Path("terraform.tfstate").read_text())
    found = {}
    for resource in state["resources"]:
        for instance in resource["instances"]:
            key = instance.get("index_key")
            ending = "" if key is None else f"[{json.dumps(key)}]"
            found[f"{resource['type']}.{resource['name']}{ending}"] = instance
    return found


# -- blocks ---------------------------------------------------------------------------------------

MANY = """\
resource "terraform_data" "a" {
  %s
}
import {
  for_each = %s
  to       = terraform_data.a[%s]
  id       = %s
}
"""


@pytest.mark.parametrize(
    ("repetition", "for_each", "key", "id_", "wanted"),
    [
        ('for_each = toset(["x", "y"])', 'toset(["x", "y"])', "each.key", "each.value", "xy"),
        ('for_each = toset(["x", "y"])', '{ x = "1", y = "2" }', "each.key", "each.value", "12"),
        ("count = 2", '["p", "q"]', "each.key", "each.value", "pq"),
        ("count = 2", "[1, 2]", "each.value - 1", '"i${each.value}"', "i1i2"),
    ],
)
def test_for_each(
    asked: list[api.ImportRequest],
    repetition: str,
    for_each: str,
    key: str,
    id_: str,
    wanted: str,
) -> None:
    write(MANY % (repetition, for_each, key, id_))
    applied()
    ids = [each["attributes"]["id"] for each in stored().values()]  # type: ignore[index]
    assert "".join(ids) == wanted


_A = 'resource "terraform_data" "a" {}\n'
_TO_A = "import {\n  to = terraform_data.a\n  id = %s\n}\n"
_COUNTED = """\
resource "terraform_data" "a" {
  count = 1
}
import {
  to = terraform_data.a[3]
  id = "x"
}
"""
_MISSING = """\
resource "museum_piece" "a" {
  name = "a"
}
import {
  to = museum_piece.a
  id = "nothing"
}
"""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (_TO_A % '"x"', "does not declare terraform_data.a"),
        (_COUNTED, "does not declare terraform_data.a[3]"),
        (_A + _TO_A % '"x"' + _TO_A % '"y"', "Duplicate import"),
        (
            _A + "import {\n  for_each = [1, 2]\n  to = terraform_data.a\n  id = each.key\n}",
            "Duplicate import",
        ),
        (_A + 'resource "terraform_data" "b" {}\n' + _TO_A % "terraform_data.b.id", "known only"),
        (_A + _TO_A % 'sensitive("x")', "sensitive"),
        (_TO_A % '""', "does not declare terraform_data.a"),
        (_A + _TO_A % '""' + _TO_A % '"y"', "Duplicate import"),
        (_MISSING, "Object to import not found"),
    ],
)
def test_refused(asked: list[api.ImportRequest], text: str, wanted: str) -> None:
    write(text)
    assert wanted in words(failed())


def test_what_is_imported_is_as_secret_as_its_configuration(
    asked: list[api.ImportRequest],
) -> None:
    write(
        'resource "museum_piece" "a" {\n  name = sensitive("name of x")\n'
        '  notes = "plain"\n}\nimport {\n  to = museum_piece.a\n  id = "x"\n}\n'
    )
    made = made_plan(plan()).plan
    (change,) = made.changes
    marked = {each: change.before.attribute(each).is_marked for each in ("name", "notes", "owner")}
    assert marked == {"name": True, "notes": False, "owner": True}
    stored = made.refreshed_state.instance(change.address)
    assert stored is not None
    assert stored.current is not None
    assert "name" in stored.current.sensitive_attributes


def test_an_empty_id_imports_nothing(asked: list[api.ImportRequest]) -> None:
    write(_A + _TO_A % '""')
    assert plan().summary.import_ == 0
    assert applied().finished("create") == ["terraform_data.a"]
    assert not asked


def test_what_is_in_the_state_is_not_imported_again(asked: list[api.ImportRequest]) -> None:
    write('resource "terraform_data" "a" {}\nimport {\n  to = terraform_data.a\n  id = "x"\n}')
    done = applied()
    assert done.plan.summary.import_ == 1
    assert done.finished("import") == ["terraform_data.a"]
    assert plan().is_empty


# -- identities -----------------------------------------------------------------------------------


def _by_identity(identity: str, type_: str = "museum_piece") -> str:
    return f"""\
resource "{type_}" "a" {{
  name = "x"
}}
import {{
  to       = {type_}.a
  identity = {identity}
}}
"""


def test_identity(asked: list[api.ImportRequest]) -> None:
    write(_by_identity('{ hall = "h" }'))
    made = plan()
    identity = asked[-1].identity
    assert identity is not None
    assert identity.to_python() == {"hall": "h", "shelf": None}
    shown: dict[str, Any] = made.to_json()
    assert shown["resource_changes"][0]["change"]["importing"] == {"identity": {"hall": "h"}}
    made.save("p")
    apply_saved()
    assert stored()["museum_piece.a"]["identity"] == {"hall": "h", "shelf": None}


@pytest.mark.parametrize(
    ("identity", "type_", "wanted"),
    [
        ("{}", "museum_piece", "hall"),
        ('{ hall = ["h"] }', "museum_piece", "hall"),
        ('{ hall = "h" }', "museum_plain", "id instead"),
        ("null", "museum_piece", "null"),
    ],
)
def test_unfit_identity(
    asked: list[api.ImportRequest], identity: str, type_: str, wanted: str
) -> None:
    write(_by_identity(identity, type_))
    assert wanted in words(failed())
    assert not asked


# -- blocks that are written ----------------------------------------------------------------------

WRITTEN = """\
# __generated__ by Nigari from "m"
resource "museum_piece" "a" {
  chapters = [
    {
      text = "old"
      year = 1900
    },
  ]
  name = "name of m"
  notes = jsonencode({
    a = [1, true]
  })
  owner    = null # sensitive
  password = null # write-only
  rooms = {
    "r 1" = {
      text = "old"
      year = 1900
    }
  }
  story = {
    text = "old"
    year = 1900
  }
  tags = {
    a     = "$${y}"
    "b c" = "x"
  }
  case {
    lock = true
  }
  part {
    label = "lid"
  }
}
"""


def test_written_block(asked: list[api.ImportRequest]) -> None:
    write('import {\n  to = museum_piece.a\n  id = "m"\n}\n')
    session().plan(generate_config_out="made.tf").save("p")
    text = Path("made.tf").read_text()
    assert text.endswith("\n\n" + WRITTEN), text
    with pytest.raises(nigari.SessionError, match="already exists"):
        session().plan(generate_config_out="made.tf")
    apply_saved()
    assert "museum_piece.a" in stored()


def test_blocks_elsewhere_count_for_the_plan(asked: list[api.ImportRequest]) -> None:
    write('import {\n  to = terraform_data.a\n  id = "m"\n}\n')
    Path("other").mkdir()
    made = session().plan(generate_config_out="other/made.txt")
    assert made.summary.import_ == 1
    assert 'resource "terraform_data" "a"' in Path("other/made.txt").read_text()


def test_only_what_has_no_block_is_written(asked: list[api.ImportRequest]) -> None:
    write('resource "terraform_data" "a" {}\nimport {\n  to = terraform_data.a\n  id = "m"\n}\n')
    session().plan(generate_config_out=Path("made.tf"))
    assert not Path("made.tf").exists()


@pytest.mark.parametrize("destroy", [True, False])
def test_blocks_are_written_for_usual_plans_only(
    asked: list[api.ImportRequest], destroy: bool
) -> None:
    write('import {\n  to = terraform_data.a\n  id = "m"\n}\n')
    with pytest.raises(ValueError, match="generate_config_out"):
        session().plan(
            destroy=destroy, refresh_only=not destroy, generate_config_out=Path("made.tf")
        )
    assert not Path("made.tf").exists()


# -- addresses ------------------------------------------------------------------------------------


def test_by_address(asked: list[api.ImportRequest]) -> None:
    write('variable "n" {}\nresource "terraform_data" "a" {\n  count = var.n\n}\n')
    session({"n": 2}).import_("terraform_data.a[1]", "given")
    assert list(stored()) == ["terraform_data.a[1]"]


SECRET = """\
variable "s" {
  default   = "name of m"
  sensitive = true
}
resource "museum_piece" "a" {
  for_each = toset(["k"])
  name     = %s
  tags     = { a = "x", b = %s }
  owner    = "somebody"
}
"""


@pytest.mark.parametrize(
    ("name", "tag", "secret"),
    [
        ("var.s", '"y"', {"name", "owner"}),
        ('"name of m"', "var.s", {"owner"}),
        ("nonsensitive(var.s)", 'sensitive("y")', {"owner"}),
        ('sensitive(each.key == "k" ? "name of m" : "")', '"y"', {"name", "owner"}),
    ],
)
def test_by_address_with_secrets(
    asked: list[api.ImportRequest], name: str, tag: str, secret: set[str]
) -> None:
    write(SECRET % (name, tag))
    session().import_('museum_piece.a["k"]', "m")
    paths: Any = stored()['museum_piece.a["k"]']["sensitive_attributes"]
    assert {each[0]["value"] for each in paths} == secret
    shown: dict[str, Any] = plan().to_json()
    change = shown["resource_changes"][0]["change"]
    assert {each for each, found in change["before_sensitive"].items() if found is True} == secret


@pytest.mark.parametrize(
    ("address", "id_", "wanted"),
    [
        ("terraform_data.a", "x", "already an object at terraform_data.a"),
        ("terraform_data.b", "x", "does not declare terraform_data.b"),
        ("terraform_data.a[0]", "x", "does not declare terraform_data.a[0]"),
        ("module.m.terraform_data.a", "x", "does not declare module.m.terraform_data.a"),
        ("data.terraform_data.a", "x", "Only managed resources"),
        ("terraform_data", "x", "address"),
        ("museum_piece.p", "nothing", "Object to import not found"),
    ],
)
def test_by_address_refused(
    asked: list[api.ImportRequest], address: str, id_: str, wanted: str
) -> None:
    write('resource "terraform_data" "a" {}\nresource "museum_piece" "p" {\n  name = "p"\n}\n')
    session().import_("terraform_data.a", "first")
    before = Path("terraform.tfstate").read_text()
    with pytest.raises(nigari.SessionError) as caught:
        session().import_(address, id_)
    assert wanted in words(caught.value)
    assert Path("terraform.tfstate").read_text() == before


# -- blocks in called modules ---------------------------------------------------------------------

_CALL = """\
module "m" {
  for_each = toset(["a", "b"])
  source   = "./m"
  id       = each.key
}
"""
_CALLED = """\
variable "id" {}
module "n" {
  source = "./n"
}
resource "terraform_data" "x" {
  for_each = toset(["one", "two"])
}
import {
  for_each = toset(["one", "two"])
  to       = terraform_data.x[each.key]
  id       = "${each.key}-${var.id}"
}
import {
  to = module.n.terraform_data.z
  id = "z-${var.id}"
}
"""


def write_modules(called: str = _CALLED, inner: str = "") -> None:
    Path("main.tf").write_text(_CALL)
    Path("m/n").mkdir(parents=True, exist_ok=True)
    Path("m/main.tf").write_text(called)
    Path("m/n/main.tf").write_text('resource "terraform_data" "z" {}\n' + inner)


def test_each_instance_of_a_module_imports_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_modules()
    with nigari.open(".") as opened:
        opened.apply()
        ids = {address: each.attributes["id"] for address, each in opened.state.resources.items()}
        assert not opened.plan().changes
    assert ids == {
        f'module.m["{key}"].{rest}': id_.format(key)
        for key in ("a", "b")
        for rest, id_ in (
            ('terraform_data.x["one"]', "one-{}"),
            ('terraform_data.x["two"]', "two-{}"),
            ("module.n.terraform_data.z", "z-{}"),
        )
    }


@pytest.mark.parametrize(
    ("called", "inner", "summary"),
    [
        (_CALLED, 'import {\n  to = terraform_data.z\n  id = "z"\n}\n', "Duplicate import"),
        (
            _CALLED.replace("to = module.n.terraform_data.z", "to = terraform_data.no"),
            "",
            "Import without configuration",
        ),
        (
            _CALLED.replace('"z-${var.id}"', 'terraform_data.x["one"].nope'),
            "",
            "Unsupported attribute",
        ),
    ],
)
def test_mistakes_in_called_modules(
    called: str, inner: str, summary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_modules(called, inner)
    with nigari.open(".") as opened, pytest.raises(nigari.SessionError) as caught:
        opened.plan()
    assert summary in {each.summary for each in caught.value.diagnostics}

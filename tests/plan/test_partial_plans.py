"""Plans that only refresh, or look at a part: what they read, store and leave alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Unpack

import pytest

from nigari.workspace.session.plan_result import made_plan
from tests.plan import sessions
from tests.plan.sessions import Options

_TWO = 'resource "terraform_data" "a" {}\nresource "terraform_data" "b" {\n%s}\n'
_MANY = 'resource "terraform_data" "a" {\n  %s\n}\noutput "n" {\n  value = %s\n}\n'


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def applied(text: str, **options: Unpack[Options]) -> None:
    Path("main.tf").write_text(text)
    sessions.applied(**options)


def changes_something(text: str, **options: Unpack[Options]) -> bool:
    Path("main.tf").write_text(text)
    return not sessions.plan(**options).is_empty


def stored() -> dict[str, object]:
    found: dict[str, object] = json.loads(Path("terraform.tfstate").read_text())
    return found


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ("count = 1", "count = 3", "length(terraform_data.a)"),
        ("count = 3", "count = 1", "length(terraform_data.a)"),
        ('for_each = toset(["x"])', 'for_each = toset(["y", "z"])', "keys(terraform_data.a)"),
    ],
)
def test_instances_are_those_of_the_state(before: str, after: str, value: str) -> None:
    applied(_MANY % (before, value))
    assert not changes_something(_MANY % (after, value), refresh_only=True)
    assert changes_something(_MANY % (after, value))


@pytest.mark.parametrize(
    ("more", "member", "wanted"),
    [
        ("  depends_on = [terraform_data.a]\n", "dependencies", ["terraform_data.a"]),
        ("  lifecycle {\n    create_before_destroy = true\n  }\n", "create_before_destroy", True),
    ],
)
def test_what_the_configuration_says_of_objects(more: str, member: str, wanted: object) -> None:
    applied(_TWO % "")
    assert not changes_something(_TWO % more)
    assert changes_something(_TWO % more, refresh_only=True)
    applied(_TWO % more, refresh_only=True)
    resources = stored()["resources"]
    assert isinstance(resources, list)
    assert resources[1]["instances"][0][member] == wanted
    assert not changes_something(_TWO % more, refresh_only=True)


def test_outputs_that_have_nothing_to_do_with_a_target() -> None:
    outputs = {"same": '"x"', "a": "terraform_data.a.id", "b": "terraform_data.b.id"}
    text = _TWO % "" + "".join(
        f'output "{name}" {{\n  value = {value}\n}}\n' for name, value in outputs.items()
    )
    applied(text, targets=["terraform_data.a"])
    found = stored()["outputs"]
    assert isinstance(found, dict)
    assert list(found) == ["a"]


def test_data_of_other_modules() -> None:
    Path("m").mkdir()
    Path("other.tfstate").write_text('{"version": 4, "terraform_version": "1.12.6", "serial": 1}')
    Path("m/main.tf").write_text(
        'data "terraform_remote_state" "d" {\n  backend = "local"\n  config = {\n'
        '    path = "other.tfstate"\n  }\n}\nresource "terraform_data" "a" {}\n'
    )
    text = "".join(f'module "{name}" {{\n  source = "./m"\n}}\n' for name in "ab")
    applied(text)
    before = addresses()
    applied(text, targets=["module.a"])
    assert addresses() == before
    applied(text, targets=["module.a"], destroy=True)
    assert addresses() == [each for each in before if each.startswith("module.b")]


def addresses() -> list[str]:
    resources = stored()["resources"]
    assert isinstance(resources, list)
    return [f"{each['module']} {each['mode']}" for each in resources]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (Options(targets=["terraform_data.a[0]"]), ["pass", "unknown"]),
        (Options(excludes=["terraform_data.a[0]"]), ["unknown", "pass"]),
    ],
)
def test_conditions_of_instances_that_are_left_out_are_open(
    options: Options, wanted: list[str]
) -> None:
    applied(
        'variable "v" { default = 1 }\nresource "terraform_data" "a" {\n  count = 2\n  lifecycle {\n'
        '    precondition {\n      condition     = var.v > 0\n      error_message = "no"\n    }\n'
        "  }\n}\n",
        **options,
    )
    (result,) = json.loads(Path("terraform.tfstate").read_text())["check_results"]
    assert result["status"] == "unknown"
    assert [each["status"] for each in result["objects"]] == wanted


@pytest.mark.parametrize(
    ("options", "is_changed"),
    [
        (Options(targets=["module.m"]), True),
        (Options(targets=["module.m.terraform_data.a"]), False),
        (Options(targets=["module.m.terraform_data.gone"]), False),
        (Options(excludes=["module.m.terraform_data.gone"]), False),
        (Options(excludes=["module.m.terraform_data.gone[0]"]), False),
    ],
)
def test_outputs_that_need_a_module_as_a_whole_need_what_it_no_longer_declares(
    options: Options, is_changed: bool
) -> None:
    Path("m").mkdir()
    inside = 'resource "terraform_data" "%s" {\n  count = 2\n}\n'
    Path("m/main.tf").write_text(inside % "a" + inside % "gone")
    text = 'module "m" {\n  source = "./m"\n}\noutput "o" {\n  value = "%s${length(module.m)}"\n}\n'
    applied(text % "old")
    Path("m/main.tf").write_text(inside % "a")
    Path("main.tf").write_text(text % "new")
    assert ("o" in made_plan(sessions.plan(**options)).plan.outputs) is is_changed


def test_modules_that_are_left_out_are_not_looked_at_while_applying() -> None:
    calls = (
        'module "inner" {\n  source = "../inner"\n  lifecycle {\n    enabled = var.v == 1\n  }\n}\n'
    )
    for name, text in ("outer", 'variable "v" {}\n' + calls), ("inner", ""):
        Path(name).mkdir()
        Path(name, "main.tf").write_text(text)
    applied(
        'resource "terraform_data" "a" {}\n'
        'module "outer" {\n  source = "./outer"\n  v      = sensitive(1)\n}\n',
        targets=["terraform_data.a"],
    )
    (resource,) = json.loads(Path("terraform.tfstate").read_text())["resources"]
    assert resource["name"] == "a"


_RULE = 'condition     = var.%s != "no"\n    error_message = "no"\n'
_INSIDE = (
    f'variable "v" {{\n  validation {{\n    {_RULE % "v"}  }}\n}}\n'
    f'variable "w" {{\n  validation {{\n    {_RULE % "w"}  }}\n}}\n'
    'resource "terraform_data" "in" {\n  lifecycle {\n'
    f"    precondition {{\n    {_RULE % 'w'}    }}\n  }}\n}}\n"
    f'output "o" {{\n  value = var.v\n  precondition {{\n    {_RULE % "v"}  }}\n}}\n'
    f'output "p" {{\n  value = 1\n  precondition {{\n    {_RULE % "w"}  }}\n}}\n'
    f'check "c" {{\n  assert {{\n    {_RULE % "w"}  }}\n}}\n'
)
_CALLING = """\
resource "terraform_data" "given" {}
module "m" {
  source = "./m"
  count  = %d
  v      = terraform_data.given.input
  w      = 1
}
resource "terraform_data" "whole" { input = length(module.m) }
resource "terraform_data" "one" { input = true ? 1 : module.m[0].o }
resource "terraform_data" "other" {}
"""
_OF_ONE = {"output.o", "var.v"}
_OF_ALL = {*_OF_ONE, "output.p", "var.w", "terraform_data.in"}
_ALL_CHECKS = {*_OF_ALL, "check.c"}


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (Options(targets=["terraform_data.whole"]), _OF_ALL),
        (Options(targets=["terraform_data.one"]), _OF_ONE),
        (Options(targets=["terraform_data.other"]), set()),
        (Options(targets=["terraform_data.given"]), {"var.v"}),
        (Options(excludes=["terraform_data.given"]), {"var.w", "terraform_data.in"}),
        (Options(excludes=["terraform_data.whole"]), _OF_ALL - {"output.p"}),
    ],
)
def test_conditions_of_what_selected_resources_need(
    options: Options, wanted: set[str], count: int
) -> None:
    """Those of a variable are looked at also where only its value comes from what is selected."""
    Path("m").mkdir()
    Path("m/main.tf").write_text(_INSIDE)
    Path("main.tf").write_text(_CALLING % count)
    sessions.session().init()
    found = made_plan(sessions.plan(**options)).plan.checks
    assert {e.block.removeprefix("module.m.") for e in found if e.status == "pass"} == wanted
    objects = {each.block: len(each.objects) for each in found}
    assert objects == {f"module.m.{each}": count if each in wanted else 0 for each in _ALL_CHECKS}


@pytest.mark.parametrize(("count", "status"), [(0, "pass"), (1, "unknown")])
def test_checks_of_which_only_the_data_is_looked_at(count: int, status: str) -> None:
    Path("m").mkdir()
    Path("m/main.tf").write_text(
        'check "c" {\n  data "terraform_remote_state" "s" {\n    backend = "local"\n'
        '    config  = { path = "terraform.tfstate" }\n  }\n  assert {\n'
        "    condition     = data.terraform_remote_state.s.outputs == {}\n"
        '    error_message = "no"\n  }\n}\n'
    )
    Path("main.tf").write_text(
        f'resource "terraform_data" "a" {{}}\nmodule "m" {{\n  source = "./m"\n  count  = {count}\n}}\n'
    )
    sessions.session().init()
    options = Options(excludes=["terraform_data.a"])
    (found,) = made_plan(sessions.plan(**options)).plan.checks
    assert (found.status, len(found.objects)) == (status, count)


_ENABLED = """\
variable "v" { default = true }
variable "e" {
  default   = true
  ephemeral = true
}
resource "terraform_data" "base" {}
resource "terraform_data" "other" {}
resource "terraform_data" "r" {
  lifecycle {
    enabled = %s
  }
}
module "m" {
  source = "./m"
  lifecycle {
    enabled = %s
  }
}
"""
_PROTECTED = 'resource "terraform_data" "in" {\n  lifecycle {\n    prevent_destroy = %s\n  }\n}\n'


@pytest.mark.parametrize(
    "wrong",
    ["var.e", "terraform_data.base.id", "sensitive(terraform_data.base.id) != null"],
    ids=["ephemeral", "not a bool", "sensitive"],
)
@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (Options(destroy=True), {"base", "in", "other", "r"}),
        (Options(destroy=True, refresh=False), {"base", "in", "other", "r"}),
        (Options(destroy=True, targets=["terraform_data.other"]), {"other"}),
        (Options(targets=["terraform_data.other"]), set()),
        (Options(), None),
    ],
)
def test_what_is_wrong_with_enabled_matters_where_it_is_looked_at(
    options: Options, wanted: set[str] | None, wrong: str
) -> None:
    _write_enabled("var.v", "false")
    sessions.applied()
    _write_enabled(wrong, "false")
    plan, _ = sessions.planned(**options)
    changes = () if plan is None else made_plan(plan).plan.changes
    found = {each.address.item.resource.name for each in changes if each.is_visible}
    assert (None if plan is None else found) == wanted


def test_an_object_is_protected_whatever_is_wrong_with_enabled() -> None:
    _write_enabled("var.v", "false")
    sessions.applied()
    _write_enabled("var.e", "true")
    plan, found = sessions.planned(destroy=True)
    assert plan is None
    assert [each.address for each in found] == ["module.m.terraform_data.in"]


def _write_enabled(enabled: str, is_protected: str) -> None:
    Path("m").mkdir(exist_ok=True)
    Path("m/main.tf").write_text(_PROTECTED % is_protected)
    Path("main.tf").write_text(_ENABLED % (enabled, enabled))
    sessions.session().init()

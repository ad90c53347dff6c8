"""Provider instances with keys, from the plan over the state to the destruction of what they made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nigari
from tests.plan.cloud import REQUIRED, Cloud, install
from tests.plan.iterated_providers import (
    BOXES,
    BY_REGION,
    JUST_EU,
    MEMBER,
    by_region,
    remembered,
    state,
    stored_providers,
    write,
)
from tests.plan.sessions import applied, apply_failed, apply_saved, failed, saved, session, words

SINGLE = 'resource "cloud_box" "b" {\n  provider = cloud.a\n  name = "b"\n}\n'


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    monkeypatch.chdir(tmp_path)
    return install(monkeypatch)


# -- instances --------------------------------------------------------------------------------


def test_each_key_has_a_process_of_its_own_while_it_is_used(cloud: Cloud) -> None:
    write(BY_REGION.replace('"us"]', '"us", "asia"]', 1), BOXES)
    applied()
    assert sorted(cloud.objects) == [("eu", "b"), ("us", "b")]
    # Two for planning and two for applying: nothing uses the third key.
    assert sorted(cloud.configured) == ["eu", "eu", "us", "us"]
    assert (cloud.started, cloud.running) == (4, 0)
    assert stored_providers() == {"b[eu]": by_region("eu"), "b[us]": by_region("us")}


def test_nothing_runs_that_nothing_uses(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied({"boxes": []})
    assert cloud.configured == []
    assert (cloud.started, cloud.running) == (1, 0)


def test_an_apply_starts_what_its_changes_need(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied()
    cloud.forget_instances()
    del cloud.objects["us", "b"]
    applied()
    assert sorted(cloud.configured) == ["eu", "us", "us"]
    assert cloud.running == 0


MODULES = {
    "m": 'module "n" {\n  source = "../n"\n}\n',
    "n": 'resource "cloud_box" "b" {\n  name = "b"\n}\n',
}


def test_keys_in_calls_reach_any_depth(cloud: Cloud) -> None:
    call = 'module "m" {\n  source = "./m"\n  for_each = var.boxes\n'
    write(BY_REGION, call + "  providers = { cloud = cloud.by_region[each.key] }\n}\n", **MODULES)
    applied()
    assert sorted(cloud.objects) == [("eu", "b"), ("us", "b")]
    assert stored_providers() == {
        'module.m["eu"].module.n.b': by_region("eu"),
        'module.m["us"].module.n.b': by_region("us"),
    }
    applied(JUST_EU)
    assert sorted(cloud.objects) == [("eu", "b")]
    assert applied(destroy=True).counts == (0, 0, 1)
    assert cloud.objects == {}


ALIASES = "configuration_aliases = [cloud.all] }"


def test_all_instances_are_passed_to_a_module(cloud: Cloud) -> None:
    call = 'module "m" {\n  source = "./m"\n  boxes = var.boxes\n'
    write(BY_REGION, call + "  providers = { cloud.all = cloud.by_region }\n}\n")
    inner = 'module "n" {\n  source = "../n"\n  for_each = var.boxes\n'
    inner += "  providers = { cloud = cloud.all[each.key] }\n}\n"
    inner += BOXES.replace("by_region", "all") + 'variable "boxes" { type = set(string) }\n'
    Path("n").mkdir()
    Path("n", "main.tf").write_text(REQUIRED + 'resource "cloud_box" "b" {\n  name = "n"\n}\n')
    Path("m").mkdir()
    Path("m", "main.tf").write_text(REQUIRED.replace(" }", f", {ALIASES}", 1) + inner)
    applied()
    assert stored_providers() == {
        "module.m.b[eu]": by_region("eu"),
        "module.m.b[us]": by_region("us"),
        'module.m.module.n["eu"].b': by_region("eu"),
        'module.m.module.n["us"].b': by_region("us"),
    }
    assert len(applied(JUST_EU).finished("delete")) == 2
    assert sorted(cloud.objects) == [("eu", "b"), ("eu", "n")]
    session().destroy()
    assert cloud.objects == {}


COUNTED = """\
variable "regions" {
  type    = list(string)
  default = ["eu", "us"]
}
provider "cloud" {
  alias  = "by_region"
  count  = length(var.regions)
  region = var.regions[count.index]
}
resource "cloud_box" "b" {
  count    = length(var.regions)
  provider = cloud.by_region[count.index]
  name     = "b"
}
"""


def test_count(cloud: Cloud) -> None:
    write(COUNTED)
    applied()
    address = 'provider["example.com/test/cloud"].by_region'
    assert stored_providers() == {"b[0]": f"{address}[0]", "b[1]": f"{address}[1]"}
    applied({"regions": ["eu"]})
    assert sorted(cloud.objects) == [("eu", "b")]


# -- keys that go -----------------------------------------------------------------------------


def test_a_key_goes_together_with_its_resources(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied()
    assert remembered() == [
        {
            "provider": by_region(key),
            "each": {"value": key, "type": "string"},
            "arguments": {"region": key},
        }
        for key in ("eu", "us")
    ]
    cloud.forget_instances()
    assert applied(JUST_EU).counts == (0, 0, 1)
    assert sorted(cloud.objects) == [("eu", "b")]
    assert sorted(cloud.configured) == ["eu", "us", "us"]
    assert cloud.running == 0
    assert [each["provider"] for each in remembered()] == [by_region("eu")]


def test_a_saved_plan_remembers_too(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied()
    saved(JUST_EU)
    apply_saved()
    assert sorted(cloud.objects) == [("eu", "b")]


def test_what_could_not_be_destroyed_stays_remembered(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied()
    cloud.stuck = {"b"}
    apply_failed(JUST_EU)
    assert len(remembered()) == 2
    cloud.stuck = set()
    applied(JUST_EU)
    assert sorted(cloud.objects) == [("eu", "b")]


def test_destroying_needs_no_keys(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied()
    session({"regions": [], "boxes": []}).destroy()
    assert cloud.objects == {}
    assert MEMBER not in state()


def test_the_whole_block_may_go(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied()
    write()
    applied()
    assert cloud.objects == {}


def test_a_state_without_the_note_is_told_of(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied()
    content = state()
    del content[MEMBER]
    Path("terraform.tfstate").write_text(json.dumps(content))
    said = words(failed(JUST_EU))
    assert "Error: Provider instance removed" in said
    assert (
        'cloud_box.b["us"] is managed by provider["example.com/test/cloud"].by_region["us"],'
        in said
    )
    assert "but not after one by OpenTofu" in said
    # With the key back, an apply that changes nothing writes the note again.
    assert applied().counts == (0, 0, 0)
    assert len(remembered()) == 2
    applied(JUST_EU)
    assert sorted(cloud.objects) == [("eu", "b")]


def test_only_what_is_there_is_remembered(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied()
    applied({"boxes": ["eu"]})
    assert [each["provider"] for each in remembered()] == [by_region("eu")]
    session().state_remove('cloud_box.b["eu"]')
    assert MEMBER not in state()


def test_a_default_configuration_is_remembered_for_its_arguments(cloud: Cloud) -> None:
    box = 'resource "cloud_box" "b" {\n  name = "b"\n}\n'
    write('provider "cloud" {\n  region = "eu"\n}\n', box)
    applied()
    assert [each["arguments"] for each in remembered()] == [{"region": "eu"}]
    write()
    cloud.objects["nowhere", "b"] = ""
    saved(refresh=False)
    apply_saved()
    assert list(cloud.objects) == [("nowhere", "b")]
    write(box)
    applied()
    assert MEMBER not in state()


def test_an_alias_is_remembered(cloud: Cloud) -> None:
    write('provider "cloud" {\n  alias  = "a"\n  region = "eu"\n  token = "t"\n}\n', SINGLE)
    applied()
    name = 'provider["example.com/test/cloud"].a'
    assert remembered() == [
        {"provider": name, "arguments": {"region": "eu"}, "withheld": ["token"]}
    ]


LOOKED_UP = """\
variable "boxes" {
  type    = set(string)
  default = ["eu", "us"]
}
variable "settings" {
  default = {
    eu = { region = "eu", token = "t-eu" }
    us = { region = "us", token = "t-us" }
  }
}
variable "token" {
  default   = "first"
  sensitive = true
}
locals {
  regions = var.settings
}
"""


def test_what_cannot_be_evaluated_is_taken_from_memory(cloud: Cloud) -> None:
    """The element is gone from the map that arguments are looked up in."""
    provider = """\
provider "cloud" {
  alias    = "by_region"
  for_each = local.regions
  region   = local.regions[each.key].region
  token    = var.token
  labels   = { key = each.key, region = each.value.region }
}
"""
    write(LOOKED_UP, provider, BOXES)
    applied()
    assert remembered()[1] == {
        "provider": by_region("us"),
        "each": {
            "value": {"region": "us", "token": "t-us"},
            "type": ["object", {"region": "string", "token": "string"}],
        },
        "arguments": {"labels": {"key": "us", "region": "us"}, "region": "us"},
        "withheld": ["token"],
        "sources": {"token": "var.token"},
    }
    cloud.forget_instances()
    eu = '{ eu = { region = "eu", token = "t-eu" } }'
    Path("settings.auto.tfvars").write_text(f"settings = {eu}\n")
    applied({"boxes": ["eu"], "token": "second"})
    assert sorted(cloud.objects) == [("eu", "b")]
    # The secret is the one of today.
    assert set(cloud.tokens) == {"second"}


FALLBACKS = {
    "a key": (
        """\
provider "cloud" {
  alias    = "by_region"
  for_each = local.regions
  region   = try(local.regions[each.key].region, "us")
}
""",
        BOXES,
        {},
    ),
    "an instance of a module": (
        """\
module "m" {
  source   = "./m"
  for_each = var.boxes
  region   = try(local.regions[each.key].region, "us")
}
""",
        "",
        {
            "m": 'variable "region" {}\nprovider "cloud" {\n  region = var.region\n}\n'
            'resource "cloud_box" "b" {\n  name = "b"\n}\n'
        },
    ),
}


@pytest.mark.parametrize("name", FALLBACKS)
def test_another_value_for_what_is_gone_is_not_used(cloud: Cloud, name: str) -> None:
    """The object of the same name in the other region has never been in this state."""
    provider, boxes, modules = FALLBACKS[name]
    write(LOOKED_UP, provider, boxes, **modules)
    applied()
    us = '{ us = { region = "us", token = "t" } }'
    Path("settings.auto.tfvars").write_text(f"settings = {us}\n")
    applied({"boxes": ["us"]})
    assert sorted(cloud.objects) == [("us", "b")]


@pytest.mark.parametrize(
    ("argument", "name"),
    [
        ("token    = local.regions[each.key].token", "token"),
        ("labels   = { secret = sensitive(local.regions[each.key].token) }", "labels"),
    ],
    ids=["by schema", "by mark"],
)
def test_a_secret_must_still_have_a_value(cloud: Cloud, argument: str, name: str) -> None:
    provider = f"""\
provider "cloud" {{
  alias    = "by_region"
  for_each = local.regions
  region   = each.value.region
  {argument}
}}
"""
    write(LOOKED_UP, provider, BOXES)
    applied()
    kept = {**remembered()[1]}
    del kept["each"]
    kept.pop("sources", None)
    assert kept == {
        "provider": by_region("us"),
        "arguments": {"region": "us"},
        "withheld": [name],
    }
    Path("settings.auto.tfvars").write_text('settings = { eu = { region = "eu", token = "t" } }\n')
    said = words(failed({"boxes": ["eu"]}))
    assert "Error: Provider instance without its secrets" in said
    assert f"except for {name}." in said


TOKENS = 'variable "tokens" {\n  type = map(string)\n  sensitive = true\n}\n'


@pytest.mark.parametrize(
    ("provider", "reference"),
    [
        ('alias = "a"\n  token = var.tokens.eu', "cloud.a"),
        ('alias = "a"\n  token = local.token', "cloud.a"),
        (
            'alias = "a"\n  for_each = toset(["eu"])\n  token = var.tokens[each.key]',
            'cloud.a["eu"]',
        ),
    ],
)
def test_secrets_of_what_is_gone_come_from_their_variable(
    cloud: Cloud, provider: str, reference: str
) -> None:
    rest = TOKENS + 'locals {\n  token = var.tokens["eu"]\n}\n'
    block = f'provider "cloud" {{\n  region = "eu"\n  {provider}\n}}\n'
    write(rest, block, SINGLE.replace("cloud.a", reference))
    applied({"tokens": {"eu": "first", "us": "x"}})
    assert "first" not in json.dumps(remembered())
    write(rest)
    said = words(failed({"tokens": {"us": "x"}}))
    assert "except for token. Secrets are not stored" in said
    assert f"come from ({remembered()[0]['sources']['token']}) must have a value" in said
    cloud.forget_instances()
    applied({"tokens": {"eu": "second"}})
    assert cloud.objects == {}
    assert set(cloud.tokens) == {"second"}


SECRET = 'variable "token" {\n  type = string\n  sensitive = true\n}\n'
ELEMENTS = {
    "an element": '{ eu = { region = "eu", token = var.token } }',
    "of a local value": "local.all",
    "of a part of one": "local.nested.all",
}
ARGUMENTS = {
    "an attribute": "each.value.token",
    "by key": "local.all[each.key].token",
    "of a function": "trimspace(var.token)",
    "in a condition": 'var.token != "" ? var.token : null',
    "a template": '"${var.token}"',
}


@pytest.mark.parametrize("elements", ELEMENTS)
@pytest.mark.parametrize("argument", ARGUMENTS)
@pytest.mark.parametrize("is_block", [True, False], ids=["the block", "its key"])
def test_secrets_are_found_behind_elements_and_expressions(
    cloud: Cloud, elements: str, argument: str, is_block: bool
) -> None:
    local = 'locals {\n  all = { eu = { region = "eu", token = var.token } }\n'
    local += "  nested = { all = local.all }\n}\n"
    block = f"""\
provider "cloud" {{
  alias    = "a"
  for_each = {ELEMENTS[elements]}
  region   = "eu"
  token    = {ARGUMENTS[argument]}
}}
"""
    write(SECRET, local, block, SINGLE.replace("cloud.a", 'cloud.a["eu"]'))
    applied({"token": "first"})
    assert "first" not in Path("terraform.tfstate").read_text()
    write(SECRET, local, "" if is_block else block.replace(ELEMENTS[elements], "{}", 1))
    cloud.forget_instances()
    applied({"token": "second"})
    assert cloud.objects == {}
    assert set(cloud.tokens) == {"second"}


REMOVED = {
    "the whole variable": (SECRET, "var.token", "second"),
    "a function of it": (SECRET, "trimspace(var.token)", " second "),
    "a part of it": (TOKENS, "var.tokens.eu", {"eu": "second"}),
    "a part found by key": (TOKENS, "var.tokens[each.key]", {"eu": "second"}),
}


@pytest.mark.parametrize("case", REMOVED)
@pytest.mark.parametrize("is_saved", [False, True], ids=["at once", "saved"])
def test_a_variable_may_go_with_the_block(cloud: Cloud, case: str, is_saved: bool) -> None:
    declaration, expression, value = REMOVED[case]
    block = f"""\
provider "cloud" {{
  alias    = "a"
  for_each = toset(["eu"])
  region   = each.key
  token    = {expression}
}}
"""
    name = "token" if declaration is SECRET else "tokens"
    write(declaration, block, SINGLE.replace("cloud.a", 'cloud.a["eu"]'))
    applied({name: "first" if name == "token" else {"eu": "first"}})
    write()
    said = words(failed())
    assert f"(var.{name}" in said
    assert "even if the variable is not declared any more" in said
    assert 'sets "other", but' in words(failed({name: value, "other": "x"}))
    cloud.forget_instances()
    if is_saved:
        saved({name: value})
        apply_saved()
    else:
        applied({name: value})
    assert cloud.objects == {}
    assert set(cloud.tokens) == {"second"}
    assert "undeclared" in words(failed({name: value}))


def test_a_removed_variable_is_prompted_for(cloud: Cloud) -> None:
    write(SECRET, 'provider "cloud" {\n  alias = "a"\n  token = var.token\n}\n', SINGLE)
    applied({"token": "first"})
    # The block has another secret by now, so nothing needs the old one.
    write('provider "cloud" {\n  alias = "a"\n  token = "other"\n}\n')
    asked: list[str] = []

    def answer(name: str, description: str) -> str:
        asked.append(f"{name}: {description}")
        return "second"

    nigari.open(environ={}, ask=answer).plan()
    assert not asked
    write()
    cloud.forget_instances()
    nigari.open(environ={}, ask=answer).apply()
    removed = 'The removed provider["example.com/test/cloud"].a needs it to destroy its objects.'
    assert asked == [f"var.token: {removed}"]
    assert set(cloud.tokens) == {"second"}
    assert cloud.objects == {}


OTHER_FORMS = {
    "JSON": (
        "extra.tf.json",
        '{"provider": {"cloud": {"alias": "a", "token": "${var.token}"}}}',
        "",
    ),
    "an override file": (
        "main_override.tf",
        'provider "cloud" {\n  alias = "a"\n  token = var.token\n}\n',
        'provider "cloud" {\n  alias = "a"\n}\n',
    ),
}


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_a_block_in_another_form_has_sources(cloud: Cloud, form: str) -> None:
    name, text, block = OTHER_FORMS[form]
    write(SECRET, block, SINGLE)
    Path(name).write_text(text)
    applied({"token": "first"})
    assert remembered()[0]["sources"] == {"token": "var.token"}
    Path(name).unlink()
    write(SECRET)
    cloud.forget_instances()
    applied({"token": "second"})
    assert (cloud.objects, set(cloud.tokens)) == ({}, {"second"})


def test_a_written_secret_in_json_has_no_source(cloud: Cloud) -> None:
    write(SECRET, SINGLE)
    Path("extra.tf.json").write_text(OTHER_FORMS["JSON"][1].replace("${var.token}", "hunter2"))
    applied({"token": "first"})
    assert "hunter2" not in Path("terraform.tfstate").read_text()


@pytest.mark.parametrize("text", ['"secret-${var.token}"', 'var.token == "hunter2" ? "x" : "y"'])
def test_no_source_holds_a_written_text(cloud: Cloud, text: str) -> None:
    block = f'provider "cloud" {{\n  alias = "a"\n  token = {text}\n}}\n'
    write(SECRET, block, SINGLE)
    applied({"token": "first"})
    assert "sources" not in remembered()[0]
    write(SECRET)
    assert "except for token" in words(failed({"token": "first"}))


def test_a_written_secret_is_not_kept(cloud: Cloud) -> None:
    write('provider "cloud" {\n  alias = "a"\n  token = "hunter2"\n}\n', SINGLE)
    applied()
    assert "hunter2" not in Path("terraform.tfstate").read_text()
    write()
    assert "except for token" in words(failed())


def test_a_secret_element_is_not_kept(cloud: Cloud) -> None:
    provider = """\
provider "cloud" {
  alias    = "by_region"
  for_each = { for key, each in local.regions : key => merge(each, { token = sensitive("x") }) }
  region   = each.value.region
  token    = each.value.token
}
"""
    write(LOOKED_UP, provider, BOXES)
    applied()
    assert remembered()[0]["each"] == {
        "value": {"region": "eu", "token": None},
        "type": ["object", {"region": "string", "token": "string"}],
        "withheld": [[{"type": "get_attr", "value": "token"}]],
    }
    Path("settings.auto.tfvars").write_text('settings = { eu = { region = "eu", token = "t" } }\n')
    assert "except for token." in words(failed({"boxes": ["eu"]}))


def test_ephemeral_values_are_not_kept(cloud: Cloud) -> None:
    secret = 'variable "secret" {\n  ephemeral = true\n  default = "e"\n}\n'
    provider = BY_REGION.replace("each.key", "each.key\n  labels = { a = var.secret }", 1)
    write(secret, provider, BOXES)
    applied()
    assert [(each["arguments"], each["withheld"]) for each in remembered()] == [
        ({"region": "eu"}, ["labels"]),
        ({"region": "us"}, ["labels"]),
    ]
    applied(JUST_EU)
    assert sorted(cloud.objects) == [("eu", "b")]

"""Where stored providers with keys meet everything else: moves, imports, targets, other blocks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plan.cloud import Cloud, install
from tests.plan.iterated_providers import (
    BOXES,
    BY_REGION,
    JUST_EU,
    by_region,
    remembered,
    state,
    stored_providers,
    write,
)
from tests.plan.sessions import (
    applied,
    apply_failed,
    apply_saved,
    failed,
    plan,
    saved,
    session,
    words,
)

PLAIN = 'provider["example.com/test/cloud"].by_region'


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    monkeypatch.chdir(tmp_path)
    return install(monkeypatch)


# -- other configurations ---------------------------------------------------------------------

ALIAS = 'provider "cloud" {\n  alias = "by_region"\n  region = "eu"\n}\n'
SINGLE = 'resource "cloud_box" "b" {\n  provider = cloud.by_region\n  name = "b"\n}\n'
KEYED = 'resource "cloud_box" "b" {\n  provider = cloud.by_region["eu"]\n  name = "b"\n}\n'


def forget_memories() -> None:
    """Leave out what OpenTofu leaves out when it writes a state."""
    data = state()
    del data["nigari_provider_instances"]
    Path("terraform.tfstate").write_text(json.dumps(data))


def test_from_keys_to_a_plain_alias_and_back(cloud: Cloud) -> None:
    write(BY_REGION, KEYED)
    applied()
    assert stored_providers() == {"b": by_region("eu")}
    write(ALIAS, SINGLE)
    assert applied().counts == (0, 0, 0)
    assert stored_providers() == {"b": PLAIN}
    assert [each["provider"] for each in remembered()] == [PLAIN]
    write(BY_REGION, KEYED)
    assert applied().counts == (0, 0, 0)
    assert stored_providers() == {"b": by_region("eu")}
    assert [each["provider"] for each in remembered()] == [by_region("eu")]


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ((BY_REGION, KEYED), ALIAS.replace("eu", "us"), by_region("eu")),
        ((ALIAS, SINGLE), BY_REGION.replace("each.key", '"us"'), PLAIN),
        ((ALIAS, SINGLE), 'provider "cloud" {\n  region = "us"\n}\n', PLAIN),
    ],
    ids=["a key is gone", "there are keys now", "the block is gone"],
)
def test_another_configuration_is_not_asked_for_an_orphan(
    before: tuple[str, str], after: str, name: str, cloud: Cloud
) -> None:
    write(*before)
    applied()
    cloud.objects["us", "b"] = ""
    stored = Path("terraform.tfstate").read_text()
    forget_memories()
    write(after)
    assert f"cloud_box.b is managed by {name}," in words(failed())
    Path("terraform.tfstate").write_text(stored)
    cloud.forget_instances()
    applied()
    assert cloud.objects == {("us", "b"): ""}
    assert set(cloud.configured) == {"eu"}


def test_the_block_of_a_module_is_not_replaced_by_the_callers(cloud: Cloud) -> None:
    inner = 'provider "cloud" {\n  region = "eu"\n}\nresource "cloud_box" "b" {\n  name = "b"\n}\n'
    write('module "m" {\n  source = "./m"\n}\n', m=inner)
    applied()
    write('provider "cloud" {\n  region = "us"\n}\n')
    saved(refresh=False)
    apply_saved()
    assert cloud.objects == {}
    write('module "m" {\n  source = "./m"\n}\n', m=inner)
    applied()
    forget_memories()
    write('provider "cloud" {\n  region = "us"\n}\n')
    assert "module.m.provider" in words(failed())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((ALIAS, SINGLE), (BY_REGION, KEYED)),
        (
            (ALIAS, SINGLE),
            ('provider "cloud" {\n  region = "eu"\n}\n', SINGLE.replace(".by_region", "")),
        ),
        ((BY_REGION, KEYED), (BY_REGION.replace("eu", "other"), KEYED.replace('"eu"', '"us"'))),
    ],
    ids=["a key is needed now", "the block is gone", "the key is gone"],
)
def test_a_destroy_takes_the_provider_that_there_is(
    before: tuple[str, str], after: tuple[str, str], cloud: Cloud
) -> None:
    write(*before)
    applied()
    forget_memories()
    write(*after)
    applied(destroy=True)
    assert state()["resources"] == []


def test_an_orphan_takes_the_provider_that_its_resource_has_now(cloud: Cloud) -> None:
    many = SINGLE.replace('"b"\n}', '"b${count.index}"\n  count = %d\n}')
    write(ALIAS, many % 2)
    applied()
    write('provider "cloud" {\n  region = "eu"\n}\n', many.replace(".by_region", "") % 1)
    applied()
    assert sorted(cloud.objects) == [("eu", "b0")]


def test_a_key_may_change(cloud: Cloud) -> None:
    """The instance that the configuration names now is the one that is asked."""
    write(BY_REGION, KEYED)
    applied()
    write(BY_REGION, KEYED.replace('"eu"', '"us"'))
    applied()
    assert stored_providers() == {"b": by_region("us")}
    assert sorted(cloud.objects) == [("eu", "b"), ("us", "b")]


# -- forgetting -------------------------------------------------------------------------------


def test_forgetting_needs_no_provider(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied()
    content = state()
    del content["nigari_provider_instances"]
    Path("terraform.tfstate").write_text(json.dumps(content))
    write("removed {\n  from = cloud_box.b\n  lifecycle {\n    destroy = false\n  }\n}\n")
    cloud.forget_instances()
    applied()
    assert cloud.configured == []
    assert state()["resources"] == []
    assert len(cloud.objects) == 2


def test_taking_out_of_the_state_needs_no_provider(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied()
    cloud.forget_instances()
    session().state_remove("cloud_box.b")
    assert cloud.started == 0
    assert "nigari_provider_instances" not in state()


# -- parts ------------------------------------------------------------------------------------


def test_only_targeted_instances_run(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied(targets=['cloud_box.b["eu"]'])
    assert [each["provider"] for each in remembered()] == [by_region("eu")]
    assert set(cloud.configured) >= {"eu"}
    applied()
    assert len(remembered()) == 2


def test_a_target_leaves_what_is_remembered_of_others(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied()
    applied(JUST_EU, targets=['cloud_box.b["us"]'])
    assert sorted(cloud.objects) == [("eu", "b")]
    assert [each["provider"] for each in remembered()] == [by_region("eu")]


def test_what_is_left_out_stays_remembered(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied()
    applied(JUST_EU, excludes=['cloud_box.b["us"]'])
    assert len(remembered()) == len(cloud.objects) == 2
    applied(JUST_EU)
    assert sorted(cloud.objects) == [("eu", "b")]


# -- moving -----------------------------------------------------------------------------------


def test_moved(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied()
    renamed = BOXES.replace('"cloud_box" "b"', '"cloud_box" "c"')
    write(BY_REGION, renamed, "moved {\n  from = cloud_box.b\n  to = cloud_box.c\n}\n")
    assert applied().counts == (0, 0, 0)
    assert stored_providers() == {"c[eu]": by_region("eu"), "c[us]": by_region("us")}


def test_moved_and_no_longer_wanted(cloud: Cloud) -> None:
    """The key and the provider go along with the object."""
    write(BY_REGION, BOXES)
    applied()
    renamed = BOXES.replace('"cloud_box" "b"', '"cloud_box" "c"')
    write(BY_REGION, renamed, "moved {\n  from = cloud_box.b\n  to = cloud_box.c\n}\n")
    applied(JUST_EU)
    assert stored_providers() == {"c[eu]": by_region("eu")}
    assert sorted(cloud.objects) == [("eu", "b")]


def test_state_mv(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    applied()
    session().state_move('cloud_box.b["us"]', "cloud_box.other")
    assert stored_providers() == {"b[eu]": by_region("eu"), "other": by_region("us")}
    applied(JUST_EU)
    assert sorted(cloud.objects) == [("eu", "b")]


SITES = """\
variable "sites" {
  type    = map(string)
  default = { one = "eu" }
}
module "site" {
  source   = "./site"
  for_each = var.sites
  region   = each.value
}
"""
SITE = """\
variable "region" {}
provider "cloud" {
  region = var.region
}
resource "cloud_box" "b" {
  name = "b"
}
"""
MOVED = 'moved {\n  from = module.site["one"]\n  to = module.site["two"]\n}\n'


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ('module.site["one"]', 'module.site["two"]'),
        ('module.site["one"].cloud_box.b', 'module.site["two"].cloud_box.b'),
    ],
)
def test_objects_of_a_module_instance_that_is_moved_keep_their_provider(
    cloud: Cloud, source: str, target: str
) -> None:
    write(SITES, site=SITE)
    applied()
    session().state_move(source, target)
    assert [each["module"] for each in remembered()] == ['module.site["one"]']
    applied({"sites": {}})
    assert cloud.objects == {}
    assert cloud.configured[-1] == "eu"


def test_objects_of_a_moved_module_instance_keep_their_provider(cloud: Cloud) -> None:
    write(SITES, site=SITE)
    applied()
    write(SITES, MOVED, site=SITE)
    applied({"sites": {}})
    assert cloud.objects == {}
    assert cloud.configured[-1] == "eu"


# -- importing --------------------------------------------------------------------------------


def test_an_import_goes_to_the_instance_of_the_resource(cloud: Cloud) -> None:
    cloud.objects = {("eu", "b"): "", ("us", "b"): "other"}
    import_ = 'import {\n  for_each = var.boxes\n  to = cloud_box.b[each.key]\n  id = "b"\n}\n'
    write(BY_REGION, BOXES, import_)
    done = applied()
    assert (done.plan.summary.import_, *done.counts) == (2, 0, 1, 0)
    assert stored_providers() == {"b[eu]": by_region("eu"), "b[us]": by_region("us")}
    assert len(remembered()) == 2


def test_an_import_by_address(cloud: Cloud) -> None:
    cloud.objects["us", "b"] = ""
    write(BY_REGION, BOXES)
    session().import_('cloud_box.b["us"]', "b")
    assert stored_providers() == {"b[us]": by_region("us")}
    assert "us" in cloud.configured
    assert applied().counts == (1, 0, 0)


# -- deposed objects --------------------------------------------------------------------------


def test_deposed_objects_have_the_provider_of_their_instance(cloud: Cloud) -> None:
    first = BOXES.replace(
        '= "b"\n', '= "b"\n  lifecycle {\n    create_before_destroy = true\n  }\n'
    )
    write(BY_REGION, first)
    applied()
    write(BY_REGION, first.replace('= "b"\n', '= "c"\n  content = "broken"\n'))
    apply_failed()
    content = state()
    resources = content["resources"]
    assert isinstance(resources, list)
    instance = resources[0]["instances"][1]
    resources[0]["instances"].append({**instance, "deposed": "12345678"})
    cloud.objects["us", "d"] = ""
    resources[0]["instances"][2]["attributes"] = {"name": "d", "content": "", "region": "us"}
    Path("terraform.tfstate").write_text(json.dumps(content))
    write(BY_REGION, first)
    applied(JUST_EU)
    assert sorted(cloud.objects) == [("eu", "b")]


# -- modules with providers of their own ------------------------------------------------------

OWN = """\
variable "region" { type = string }
provider "cloud" {
  region = var.region
}
provider "cloud" {
  alias    = "twin"
  for_each = toset(["x", "y"])
  region   = "${var.region}-${each.key}"
}
resource "cloud_box" "own" {
  name = "b"
}
resource "cloud_box" "twin" {
  for_each = toset(["x", "y"])
  provider = cloud.twin[each.key]
  name     = "b"
}
"""


@pytest.mark.parametrize(
    "repeated",
    [
        "for_each = var.keys\n  region = each.key",
        "count = length(var.keys)\n  region = tolist(var.keys)[count.index]",
    ],
    ids=["for_each", "count"],
)
def test_modules_with_providers_of_their_own(cloud: Cloud, repeated: str) -> None:
    call = f'module "m" {{\n  source = "./m"\n  {repeated}\n}}\n'
    write('variable "keys" {\n  type = set(string)\n  default = ["a", "b"]\n}\n', call, m=OWN)
    applied()
    regions = ["a", "a-x", "a-y", "b", "b-x", "b-y"]
    assert sorted(cloud.objects) == [(region, "b") for region in regions]
    assert set(stored_providers().values()) == {
        'module.m.provider["example.com/test/cloud"]',
        'module.m.provider["example.com/test/cloud"].twin["x"]',
        'module.m.provider["example.com/test/cloud"].twin["y"]',
    }
    assert len(remembered()) == 6
    cloud.forget_instances()
    applied({"keys": ["a"]})
    assert sorted(cloud.objects) == [(region, "b") for region in regions[:3]]
    assert cloud.running == 0
    saved(destroy=True)
    apply_saved()
    assert cloud.objects == {}


SECRET = """\
variable "region" { type = string }
variable "token" { type = string }
locals {
  region = upper(var.region)
}
provider "cloud" {
  region = lower(local.region)
  token  = "${var.token}${terraform_data.x.output}"
  labels = { inner = module.inner.name }
}
resource "terraform_data" "x" {
  input = "!"
}
resource "cloud_box" "own" {
  name = "b"
}
module "inner" {
  source = "../n"
}
"""


@pytest.mark.parametrize("looked_up", ["each.value", "var.keys[each.key]"])
def test_secrets_of_a_module_instance_that_goes(cloud: Cloud, looked_up: str) -> None:
    """What does not depend on the element can still be evaluated in the module."""
    call = f"""\
variable "keys" {{
  type    = map(string)
  default = {{ a = "x", b = "y" }}
}}
variable "token" {{ default = "first" }}
module "m" {{
  source   = "./m"
  for_each = var.keys
  region   = {looked_up}
  token    = "${{var.token}}-${{each.key}}"
}}
"""
    write(call, m=SECRET, n='output "name" { value = "in" }\n')
    applied()
    assert remembered()[0]["arguments"] == {"labels": {"inner": "in"}, "region": "x"}
    assert [each["withheld"] for each in remembered()] == [["token"], ["token"]]
    cloud.forget_instances()
    Path("keys.auto.tfvars").write_text('keys = { a = "x" }\n')
    applied({"token": "second"})
    assert sorted(cloud.objects) == [("x", "b")]
    assert set(cloud.tokens) == {"second-a!", "second-b!"}
    write()
    assert "except for token." in words(failed())


def test_a_module_goes_with_its_provider_and_its_call(cloud: Cloud) -> None:
    call = 'module "m" {\n  source = "./m"\n  for_each = toset(["a"])\n  region = each.key\n}\n'
    write(call, m=OWN)
    applied()
    write()
    applied()
    assert cloud.objects == {}


@pytest.mark.parametrize(
    "argument", ["depends_on = [terraform_data.x]", "lifecycle {\n enabled = true\n }"]
)
def test_other_calls_may_have_providers_too(cloud: Cloud, argument: str) -> None:
    call = f'module "m" {{\n  source = "./m"\n  region = "a"\n  {argument}\n}}\n'
    write('resource "terraform_data" "x" {}\n', call, m=OWN)
    applied()
    assert len(cloud.objects) == 3
    session().destroy()
    assert cloud.objects == {}


def test_a_module_that_is_no_longer_enabled(cloud: Cloud) -> None:
    call = 'module "m" {\n  source = "./m"\n  region = var.region\n'
    call += "  lifecycle {\n    enabled = var.on\n  }\n}\n"
    write('variable "on" { default = true }\nvariable "region" { default = "a" }\n', call, m=OWN)
    applied()
    assert len(cloud.objects) == 3
    assert len(remembered()) == 3
    applied({"on": False})
    assert cloud.objects == {}


# -- instances that only planning can tell ----------------------------------------------------

LATER = """\
variable "regions" {
  default = ["eu", "us"]
}
resource "terraform_data" "regions" {
  input = var.regions
}
provider "cloud" {
  alias    = "by_region"
  for_each = toset(terraform_data.regions.output)
  region   = each.key
}
"""


def test_results_may_decide_which_instances_there_are(cloud: Cloud) -> None:
    write(LATER)
    applied()
    write(LATER, KEYED)
    applied()
    assert sorted(cloud.objects) == [("eu", "b")]
    assert stored_providers()["b"] == by_region("eu")
    assert plan().is_empty
    session().destroy()
    assert cloud.objects == {}


def test_instances_that_are_not_known_yet(cloud: Cloud) -> None:
    write(LATER, KEYED)
    assert not session().validate()
    said = words(failed())
    assert "Error: Unknown for_each argument" in said
    assert "The for_each of provider.cloud.by_region is known only after something else" in said
    assert "terraform_data.regions is known after apply" in said
    assert "-target" in said
    applied(targets=["terraform_data.regions"])
    applied()
    assert sorted(cloud.objects) == [("eu", "b")]


def test_what_goes_need_not_wait_until_instances_are_known(cloud: Cloud) -> None:
    write(LATER)
    applied()
    write(LATER, KEYED)
    applied()
    write(LATER)
    Path("regions.auto.tfvars").write_text('regions = ["asia"]\n')
    applied()
    assert cloud.objects == {}


def test_data_may_decide_which_instances_there_are(cloud: Cloud) -> None:
    cloud.objects["home", "eu"] = ""
    write(
        'provider "cloud" {\n  region = "home"\n}\ndata "cloud_region" "home" {}\n',
        'provider "cloud" {\n  alias = "by_region"\n'
        "  for_each = toset(data.cloud_region.home.names)\n  region = each.key\n}\n",
        KEYED,
    )
    applied()
    assert ("eu", "b") in cloud.objects


DEPENDING = """\
resource "terraform_data" "region" {
  for_each = var.boxes
  input    = each.key
}
provider "cloud" {
  alias    = "by_region"
  for_each = var.boxes
  region   = terraform_data.region[each.key].output
}
variable "boxes" {
  type    = set(string)
  default = ["eu", "us"]
}
"""


def test_arguments_may_come_from_resources_that_go_too(cloud: Cloud) -> None:
    write(DEPENDING, BOXES)
    applied()
    assert sorted(cloud.objects) == [("eu", "b"), ("us", "b")]
    assert [each["arguments"] for each in remembered()] == [{"region": "eu"}, {"region": "us"}]
    assert applied({"boxes": ["eu"]}).counts[2] == 2
    assert sorted(cloud.objects) == [("eu", "b")]
    session().destroy()
    assert cloud.objects == {}


# -- keys -------------------------------------------------------------------------------------

WRONG_KEYS = [
    ('"asia"', "No such provider instance"),
    ("null", "Invalid provider instance key"),
    ('sensitive("eu")', "Invalid provider instance key"),
    ("terraform_data.x.id", "Invalid provider instance key"),
    ('["eu"]', "Invalid provider instance key"),
]


@pytest.mark.parametrize(("key", "summary"), WRONG_KEYS)
def test_wrong_keys(cloud: Cloud, key: str, summary: str) -> None:
    data = 'resource "terraform_data" "x" {}\n'
    write(BY_REGION, data, KEYED.replace('["eu"]', f"[{key}]"))
    said = words(failed())
    assert said.count("Error: ") == 1
    assert f"Error: {summary}" in said


def test_a_wrong_key_is_told_with_those_that_there_are(cloud: Cloud) -> None:
    write(BY_REGION, KEYED.replace('["eu"]', '["asia"]'))
    assert 'has no instance ["asia"]: its for_each gives ["eu"] and ["us"].' in words(failed())
    said = words(failed({"regions": []}))
    assert "its for_each gives no instances at all." in said


def test_keys_convert_to_strings(cloud: Cloud) -> None:
    provider = BY_REGION.replace('default = ["eu", "us"]', 'default = ["1", "true"]', 1)
    write(
        provider,
        'resource "cloud_box" "b" {\n  provider = cloud.by_region[1]\n  name = "b"\n}\n',
        'resource "cloud_box" "c" {\n  provider = cloud.by_region[true]\n  name = "c"\n}\n',
    )
    applied()
    assert stored_providers() == {"b": by_region("1"), "c": by_region("true")}


def test_a_removed_key_cannot_be_used(cloud: Cloud) -> None:
    """What is remembered serves what only the state has, and nothing else."""
    write(BY_REGION, BOXES)
    applied()
    assert "Error: No such provider instance" in words(failed({"regions": ["eu"]}))


def test_validate_finds_a_literal_key_that_no_instance_has(cloud: Cloud) -> None:
    write(BY_REGION, KEYED.replace('["eu"]', '["asia"]'))
    (found,) = session().validate()
    assert 'has no instance ["asia"]: its for_each gives ["eu"] and ["us"].' in found.detail
    assert found.address == "cloud_box.b"

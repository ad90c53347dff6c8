"""Providers that instances of a module call get: each its own, as calls of their own would."""

from __future__ import annotations

from pathlib import Path

import pytest

import nigari
from tests.plan.cloud import REQUIRED, Cloud, install

BY_REGION = (
    REQUIRED
    + """\
provider "cloud" {
  alias    = "by"
  for_each = toset(["eu", "us"])
  region   = each.key
}
provider "cloud" {
  region = "home"
}
"""
)
PLAIN = REQUIRED + 'resource "cloud_box" "b" {\n  name = "plain"\n}\n'
ALIASED = (
    REQUIRED.replace('" }', '", configuration_aliases = [cloud.other] }')
    + 'resource "cloud_box" "o" {\n  provider = cloud.other\n  name     = "aliased"\n}\n'
)


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    monkeypatch.chdir(tmp_path)
    return install(monkeypatch)


def write(**files: str) -> None:
    for name, text in files.items():
        path = Path("main.tf") if name == "main" else Path(name, "main.tf")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    nigari.open().init()


def test_keys_of_what_is_passed(cloud: Cloud) -> None:
    call = """\
module "m" {
  for_each  = { a = "eu", b = "us" }
  source    = each.key == "a" ? "./one" : "./two"
  providers = { cloud = cloud.by[each.value] }
}
"""
    write(main=BY_REGION + call, one=PLAIN, two=PLAIN.replace("plain", "other"))
    nigari.open().apply()
    assert set(cloud.objects) == {("eu", "plain"), ("us", "other")}
    assert nigari.open().plan().is_empty
    Path("main.tf").write_text(BY_REGION + call.replace('"a" ?', '"b" ?'))
    nigari.open().apply()
    assert set(cloud.objects) == {("eu", "other"), ("us", "plain")}
    nigari.open().destroy()
    assert not cloud.objects


def test_aliases_that_only_one_source_has(cloud: Cloud) -> None:
    call = """\
module "m" {
  for_each  = { a = "./one", b = "./two" }
  source    = each.value
  providers = { cloud = cloud, cloud.other = cloud.by["us"] }
}
"""
    write(main=BY_REGION + call, one=PLAIN, two=ALIASED)
    nigari.open().apply()
    assert set(cloud.objects) == {("home", "plain"), ("us", "aliased")}
    nigari.open().destroy()
    assert not cloud.objects


def test_an_alias_that_no_source_has(cloud: Cloud) -> None:
    call = """\
module "m" {
  for_each  = { a = "./one", b = "./two" }
  source    = each.value
  providers = { cloud = cloud, cloud.other = cloud.by["us"] }
}
"""
    write(main=BY_REGION + call.replace(', cloud.other = cloud.by["us"]', ""), one=PLAIN, two=PLAIN)
    Path("main.tf").write_text(BY_REGION + call)
    (told,) = nigari.open().validate()
    assert "does not declare cloud.other" in told.detail


def test_configurations_of_each_instance(cloud: Cloud) -> None:
    own = REQUIRED + 'variable "region" {}\nprovider "cloud" {\n  region = var.region\n}\n'
    box = 'resource "cloud_box" "b" {\n  name = "%s"\n}\n'
    call = """\
module "m" {
  for_each = { eu = "./one", us = "./two" }
  source   = each.value
  region   = each.key
}
"""
    write(main=REQUIRED + call, one=own + box % "one", two=own + box % "two")
    nigari.open().apply()
    assert set(cloud.objects) == {("eu", "one"), ("us", "two")}
    Path("main.tf").write_text(REQUIRED + call.replace("eu = ", "gone = ").replace("us", "eu"))
    nigari.open().apply()
    assert set(cloud.objects) == {("gone", "one"), ("eu", "two")}
    nigari.open().destroy()
    assert not cloud.objects

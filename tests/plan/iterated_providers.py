"""Configurations and states of providers that are repeated by region."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.plan.cloud import REQUIRED

BY_REGION = """\
variable "regions" {
  type    = set(string)
  default = ["eu", "us"]
}
variable "boxes" {
  type    = set(string)
  default = ["eu", "us"]
}
provider "cloud" {
  alias    = "by_region"
  for_each = var.regions
  region   = each.key
}
"""


BOXES = """\
resource "cloud_box" "b" {
  for_each = var.boxes
  provider = cloud.by_region[each.key]
  name     = "b"
}
"""


MEMBER = "nigari_provider_instances"


JUST_EU = {"regions": ["eu"], "boxes": ["eu"]}


def write(*texts: str, **modules: str) -> None:
    Path("main.tf").write_text(REQUIRED + "".join(texts))
    for name, text in modules.items():
        Path(name).mkdir(exist_ok=True)
        Path(name, "main.tf").write_text(REQUIRED + text)


def state() -> dict[str, object]:
    found = json.loads(Path("terraform.tfstate").read_text())
    assert isinstance(found, dict)
    return found


def stored_providers() -> dict[str, str]:
    """For each resource instance, the provider that the state names."""
    found = {}
    resources = state()["resources"]
    assert isinstance(resources, list)
    for each in resources:
        for instance in each["instances"]:
            assert ("provider" in each) is ("provider" not in instance)
            name = f"{each['module']}." if "module" in each else ""
            key = instance.get("index_key")
            found[f"{name}{each['name']}" + ("" if key is None else f"[{key}]")] = (
                each.get("provider") or instance["provider"]
            )
    return found


def by_region(key: str) -> str:
    return f'provider["example.com/test/cloud"].by_region["{key}"]'


def remembered() -> list[dict[str, Any]]:  # JSON data
    found = state().get(MEMBER, [])
    assert isinstance(found, list)
    return found

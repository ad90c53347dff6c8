"""Imports through provider instances with keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plan.cloud import REQUIRED, Cloud, install
from tests.plan.sessions import applied, session

BY_REGION = """\
provider "cloud" {
  alias    = "by_region"
  for_each = toset(["eu", "us"])
  region   = each.key
}
"""
BOXES = """\
resource "cloud_box" "b" {
  for_each = toset(["eu", "us"])
  provider = cloud.by_region[each.key]
  name     = "b"
  content  = each.key
}
"""


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    monkeypatch.chdir(tmp_path)
    cloud = install(monkeypatch)
    cloud.objects = {("eu", "b"): "eu", ("us", "b"): "us"}
    return cloud


def write(*texts: str) -> None:
    Path("main.tf").write_text(REQUIRED + "".join(texts))


def regions() -> list[tuple[object, object]]:
    state = json.loads(Path("terraform.tfstate").read_text())
    return [
        (instance["attributes"]["region"], instance.get("provider", "").rpartition(".")[2])
        for instance in state["resources"][0]["instances"]
    ]


def test_by_address(cloud: Cloud) -> None:
    write(BY_REGION, BOXES)
    session().import_('cloud_box.b["us"]', "b")
    assert regions() == [("us", 'by_region["us"]')]
    assert cloud.configured == ["us"]


def test_block(cloud: Cloud) -> None:
    block = 'import {\n  for_each = ["eu", "us"]\n  to = cloud_box.b[each.value]\n  id = "b"\n}\n'
    write(BY_REGION, BOXES, block)
    done = applied()
    assert (done.plan.summary.import_, *done.counts) == (2, 0, 0, 0)
    assert regions() == [("eu", 'by_region["eu"]'), ("us", 'by_region["us"]')]


def test_written_block(cloud: Cloud) -> None:
    block = 'import {\n  provider = cloud.by_region["eu"]\n  to = cloud_box.n\n  id = "b"\n}\n'
    write(BY_REGION, block)
    made = session().plan(generate_config_out="made.tf")
    assert str(made.summary) == "1 to import, 0 to add, 0 to change, 0 to destroy"
    assert 'provider = cloud.by_region["eu"]' in Path("made.tf").read_text()

"""States whose instances have providers of their own, handed between `tofu` and Nigari."""

import asyncio
import json
from pathlib import Path

import pytest

from nigari.addrs.absolute import resource_of
from nigari.diagnostics import Diagnostics
from nigari.state.draft import StateDraft
from nigari.state.files import format_state
from tests.real import PEERS, program
from tests.state.tofu import TofuDirectory

pytestmark = pytest.mark.real

CONFIGURATION = """
terraform {
  required_providers {
    simple = { source = "example.com/test/simple" }
  }
}
variable "regions" { default = ["eu", "us"] }
provider "simple" {
  alias    = "by_region"
  for_each = toset(var.regions)
}
provider "simple" { alias = "plain" }
resource "simple_resource" "keyed" {
  for_each = toset(["eu", "us"])
  provider = simple.by_region[each.key]
  value    = each.key
}
resource "simple_resource" "plain" {
  provider = simple.plain
  value    = "x"
}
module "m" {
  source    = "./m"
  for_each  = toset(["eu", "us"])
  providers = { simple = simple.by_region[each.key] }
}
"""
MODULE = """
terraform {
  required_providers {
    simple = { source = "example.com/test/simple" }
  }
}
resource "simple_resource" "inner" { value = "y" }
"""


@pytest.fixture
def directory(tmp_path: Path) -> TofuDirectory:
    program("terraform-provider-simple")
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "main.tf").write_text(MODULE)
    directory = TofuDirectory(tmp_path, CONFIGURATION)
    (tmp_path / "cli.tofurc").write_text(
        "provider_installation {\n"
        f'  dev_overrides {{ "example.com/test/simple" = "{PEERS / "bin"}" }}\n'
        "  direct {}\n}\n"
    )
    directory.run("get")
    directory.run("apply", "-auto-approve")
    return directory


def test_read_rewritten_and_accepted(directory: TofuDirectory) -> None:
    snapshots = directory.read()
    file = snapshots.file
    assert file is not None
    providers = {
        address.text: snapshots.state.resources[resource_of(address)]
        .manager_of(address.item.key)
        .text
        for address, _ in snapshots.state.instances()
    }
    keyed = 'provider["example.com/test/simple"].by_region'
    assert providers == {
        'simple_resource.keyed["eu"]': f'{keyed}["eu"]',
        'simple_resource.keyed["us"]': f'{keyed}["us"]',
        "simple_resource.plain": 'provider["example.com/test/simple"].plain',
        'module.m["eu"].simple_resource.inner': f'{keyed}["eu"]',
        'module.m["us"].simple_resource.inner': f'{keyed}["us"]',
    }
    before = directory.state.read_bytes()
    assert format_state(file, is_for_people=True) == before
    directory.state.unlink()
    assert asyncio.run(directory.snapshots().put(file, force=False, diags=Diagnostics()))
    assert directory.state.read_bytes() == before
    code, output = directory.try_run("plan", "-detailed-exitcode", "-no-color")
    assert code == 0, output


def test_forgetting_keys(directory: TofuDirectory) -> None:
    """What we write after all keyed instances are gone is what `tofu` writes."""
    snapshots = directory.read()
    draft = StateDraft(snapshots.state)
    for address, _ in snapshots.state.instances():
        if "keyed" in address.text:
            draft.remove_instance(address)
    assert asyncio.run(snapshots.write(draft.finish(), Diagnostics()))
    listed = directory.run("state", "list").split()
    assert "simple_resource.plain" in listed
    assert not any("keyed" in each for each in listed)
    ours = json.loads(directory.state.read_text())["resources"]
    theirs = json.loads(directory.run("state", "pull"))["resources"]
    assert ours == theirs

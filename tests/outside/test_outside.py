"""The harness itself: sources that lead to trees, and schemas that follow from configurations."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from nigari import cty
from nigari.schema.block import Nesting
from nigari.schema.coerce import coerce
from tests.outside import checkouts
from tests.outside.beside import Said
from tests.outside.inference import Observations
from tests.outside.inputs import addresses, write_values
from tests.outside.reasons import Places, reason
from tests.outside.stub import completed

_RANDOM = "registry.opentofu.org/hashicorp/cloud"


def _git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True)


def _repository(folder: Path, files: dict[str, str], tag: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    if not (folder / ".git").exists():
        _git(folder, "init", "-q")
    _git(folder, "add", ".")
    _git(folder, "commit", "-qm", tag)
    _git(folder, "tag", tag)


def test_sources_lead_to_trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = tmp_path / "owner+terraform-cloud-net"
    _repository(called, {"main.tf": "# one\n", "modules/x/main.tf": ""}, "v1.0.0")
    _repository(called, {"main.tf": "# two\n"}, "v2.0.0")
    calls = (
        'module "a" {\n  source  = "owner/net/cloud"\n  version = "~> 1.0"\n}\n'
        'module "b" {\n  source = "git::https://github.com/owner/terraform-cloud-net.git//modules/x"\n}\n'
        'module "c" {\n  source = "other/net/cloud"\n}\n'
    )
    _repository(tmp_path / "owner+root", {"main.tf": calls, ".terraform.lock.hcl": ""}, "v1.0.0")
    listed = tmp_path / "names.txt"
    listed.write_text("owner/root  # why\nowner/terraform-cloud-net\nowner/missing\n")
    monkeypatch.setattr(checkouts, "NAMES", listed)
    monkeypatch.setenv("NIGARI_OUTSIDE", str(tmp_path))
    tree = checkouts.Trees(tmp_path / "trees").unpack("owner/root")
    lines = (tree / "main.tf").read_text().splitlines()
    assert '"../terraform-cloud-net@v1.0.0"' in lines[1]
    assert not lines[2].strip()
    assert '"../terraform-cloud-net/modules/x"' in lines[5]
    assert '"other/net/cloud"' in lines[8]
    assert (tree / "../terraform-cloud-net@v1.0.0/main.tf").read_text() == "# one\n"
    assert not (tree / ".terraform.lock.hcl").exists()


_CONFIGURATION = """
variable "size" {
  type = number
}
variable "tags" {
  type    = map(string)
  default = {}
}
terraform {
  provider_meta "cloud" {
    module = "x"
  }
}
locals {
  first = one(cloud_server.a[*])
}
provider "cloud" {
  region = "eu"
}
data "cloud_zones" "z" {
  filter = true
}
resource "cloud_server" "a" {
  count = length(data.cloud_zones.z.names)
  size  = var.size
  tags  = var.tags
  image = null
  disk {
    gb = 1
  }
  disk {
    gb = 2
  }
  dynamic "rule" {
    for_each = [1]
    content {
      port = rule.value
    }
  }
  timeouts {
    create = "1m"
  }
  scaling {
    size = 1
  }
  lifecycle {
    ignore_changes = [scaling[0].size]
  }
}
output "o" {
  value = concat(cloud_server.a[*].name, [one(cloud_server.a[*].name)])
}
output "p" {
  value = [local.first.address, cloud_server.a[0].endpoint[0].host, cloud_server.a[0].disk[0].id]
}
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "main.tf").write_text(_CONFIGURATION)
    return tmp_path


def test_schemas_follow_from_configurations(directory: Path) -> None:
    observed = Observations()
    observed.add_directories([str(directory)])
    schema = observed.schema(_RANDOM)
    server = schema.resources["cloud_server"].block
    types = {name: str(each.type) for name, each in server.attributes.items()}
    assert types == {
        "id": "string",
        "size": "number",
        "tags": "map(string)",
        "image": "any",
        "address": "string",
        "name": "string",
        "endpoint": str(cty.ListType(cty.ObjectType({"host": cty.STRING}))),
    }
    assert server.attributes["endpoint"].computed
    assert not server.attributes["endpoint"].optional
    assert server.attributes["size"].optional
    assert server.blocks["disk"].nesting is Nesting.LIST
    assert set(server.blocks["disk"].block.attributes) == {"gb", "id"}
    assert server.blocks["timeouts"].nesting is Nesting.SINGLE
    assert server.blocks["scaling"].nesting is Nesting.LIST
    assert set(server.blocks) == {"disk", "rule", "timeouts", "scaling"}
    zones = schema.data_sources["cloud_zones"].block
    assert isinstance(zones.attributes["names"].type, cty.ListType | cty.SetType)
    assert set(schema.provider.block.attributes) == {"region"}
    assert schema.provider_meta is not None
    assert set(schema.provider_meta.block.attributes) == {"module"}


def test_results_are_unknown_and_then_always_the_same(directory: Path) -> None:
    observed = Observations()
    observed.add_directories([str(directory)])
    block = observed.schema(_RANDOM).resources["cloud_server"].block
    empty = coerce(block, cty.object_value({}))
    planned = completed(block, empty, is_known=False)
    assert not planned.attribute("id").is_known
    assert planned.attribute("size").is_null
    applied = completed(block, planned, is_known=True)
    assert applied.attribute("id").to_python() == "stub-id"
    assert applied == completed(block, planned, is_known=True)


def test_what_a_directory_is_asked_with(directory: Path) -> None:
    target = directory / "values.json"
    assert write_values(directory, target) == [f"-var-file={target}"]
    assert target.read_text() == '{"size": 2}'
    assert addresses(directory) == ["output.o", "local.first", "cloud_server.a.size"]


@pytest.mark.parametrize(
    ("theirs", "ours", "wanted"),
    [
        ([("main.tf", 1), ("main.tf", 1)], [("main.tf", 1)], "told once"),
        ([("", 0)], [("main.tf", 9)], "a place where OpenTofu gives none"),
        ([("main.tf", 4)], [("main.tf", 6)], "told at the argument"),
        ([("main.tf", 4)], [("main.tf", 4), ("x.tf", 1)], "more mistakes in one run"),
        ([("main.tf", 4), ("x.tf", 1)], [("main.tf", 4)], ""),
        ([("main.tf", 4)], [("main.tf", 40)], ""),
    ],
)
def test_reasons(theirs: list[tuple[str, int]], ours: list[tuple[str, int]], wanted: str) -> None:
    said = [Said(1, Places(("error", *place) for place in each)) for each in (theirs, ours)]
    assert reason(*said) == wanted


def test_another_mistake_in_what_is_declared_twice() -> None:
    twice = ["error: b.tf:1: Duplicate module"]
    theirs, ours = (
        Said(1, Places([("error", "b.tf", 1), ("error", name, 2)]), twice)
        for name in ("b.tf", "a.tf")
    )
    assert reason(theirs, ours) == "a name that is declared twice"


def test_what_is_built_in_needs_no_stub(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'terraform {\n  required_providers {\n    terraform = {\n      source = "terraform.io/builtin/'
        'terraform"\n    }\n  }\n}\nresource "terraform_data" "a" {}\nresource "cloud_x" "a" {}\n'
    )
    observed = Observations()
    observed.add_directories([str(tmp_path)])
    assert list(observed.served) == [_RANDOM]


def test_actions_do_not_prevent_the_other_schemas(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'action "cloud_act" "a" {\n  config {\n    x = 1\n  }\n}\nresource "cloud_x" "a" {}\n'
    )
    observed = Observations()
    observed.add_directories([str(tmp_path)])
    assert list(observed.schema(_RANDOM).resources) == ["cloud_x"]

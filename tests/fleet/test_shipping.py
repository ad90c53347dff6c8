"""What is sent to other machines for a unit."""

from __future__ import annotations

from pathlib import Path

from nigari.fleet.work.shipping import Packer, unpack
from tests.fleet.trees import surveyed

_APP = """
variable "name" {}
module "m" { source = "../modules/m" }
locals { text = file("../texts/app-${var.name}.txt") }
"""
_FILES = {
    "app/main.tf": _APP,
    "app/script.sh": "true",
    "app/.terraform.lock.hcl": "",
    "app/.env": "SECRET",
    "app/.terraform/terraform.tfstate": "{}",
    "app/terraform.tfstate": "{}",
    "app/terraform.tfstate.backup": "{}",
    "app/errored.app-d3c2.tfstate": "{}",
    "app/inner/main.tf": "",
    "modules/m/main.tf": "",
    "texts/app-one.txt": "1",
    "texts/app-two.txt": "2",
    "texts/other.txt": "",
}


def test_what_a_unit_reads_travels_and_nothing_else(tmp_path: Path) -> None:
    found = surveyed(tmp_path / "fleet", _FILES)
    packer = Packer(found.root, [each.path for each in found.units.values()])
    shipment = packer.pack(found.units["app"], {}, {})
    there = unpack(shipment, str(tmp_path / "there"))
    root = Path(there.path).parent
    names = sorted(str(each.relative_to(root)) for each in root.rglob("*") if each.is_file())
    # A file whose name is known only in part may be any of those that begin so.
    assert names == [
        "app/.terraform.lock.hcl",
        "app/main.tf",
        "app/script.sh",
        "modules/m/main.tf",
        "texts/app-one.txt",
        "texts/app-two.txt",
    ]
    assert packer.pack(found.units["app"], {}, {}).digest == shipment.digest

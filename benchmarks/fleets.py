"""Generated fleets: units in layers, each of which reads states of the layer before it."""

from pathlib import Path
from typing import Final

LAYERS: Final = 6
RESOURCES: Final = 10


def fleet(root: Path, units: int, layers: int = LAYERS, resources: int = RESOURCES) -> Path:
    """Write so many units below a directory; each but those of the first layer reads two states."""
    width = -(-units // layers)
    for number in range(units):
        layer = number // width
        directory = root / f"layer{layer}" / f"unit{number}"
        directory.mkdir(parents=True, exist_ok=True)
        first = (layer - 1) * width
        needed = [first + (number * 7 + each * 3) % width for each in range(2)] if layer else []
        (directory / "main.tf").write_text(_unit(layer, number, needed, resources))
    return root


def _unit(layer: int, number: int, needed: list[int], resources: int) -> str:
    parts = [
        f"""data "terraform_remote_state" "needed{index}" {{
  backend = "local"
  config  = {{ path = "../../layer{layer - 1}/unit{each}/terraform.tfstate" }}
}}
"""
        for index, each in enumerate(needed)
    ]
    parts.append(
        f'variable "size" {{\n  default = 3\n}}\nlocals {{\n  name = "unit-{number}"\n}}\n'
    )
    for each in range(resources):
        given = "local.name"
        if needed:
            given = f"data.terraform_remote_state.needed{each % len(needed)}.outputs.id"
        parts.append(f'resource "terraform_data" "r{each}" {{\n  input = {given}\n}}\n')
    parts.append('output "id" {\n  value = terraform_data.r0.output\n}\n')
    parts.append('output "name" {\n  value = "${local.name}-${var.size}"\n}\n')
    return "".join(parts)

"""Generated fleets: units in layers, each of which reads states of the layer before it."""

import stat
import sys
from pathlib import Path
from typing import Final

LAYERS: Final = 6
RESOURCES: Final = 10
_EVERY: Final = 5
"""Of so many units, one has objects of a provider that is written in Python."""

_PROVIDER: Final = f"""#!{sys.executable}
import sys
sys.path[:0] = {sys.path!r}
from dataclasses import dataclass
from nigari.providers.python import Computed, Provider

provider = Provider("bench")


@provider.resource("thing")
@dataclass
class Thing:
    name: str
    made: Computed[str] = ""

    def create(self, settings: object) -> None:
        self.made = self.name

    def read(self, settings: object) -> bool:
        return True

    def update(self, settings: object, prior: object) -> None:
        self.made = self.name

    def delete(self, settings: object) -> None:
        pass


if __name__ == "__main__":
    provider.serve()
"""
_REQUIRED: Final = """terraform {
  required_providers {
    bench = {
      source = "example.com/demo/bench"
    }
  }
}
"""


def settings(root: Path) -> Path:
    """Write the provider, and a CLI configuration that finds it."""
    program = root / "plugins" / "terraform-provider-bench"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(_PROVIDER)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    path = root / "cli.tofurc"
    path.write_text(
        "provider_installation {\n  dev_overrides {\n"
        f'    "example.com/demo/bench" = "{program.parent}"\n  }}\n}}\n'
    )
    return path


def fleet(
    root: Path,
    units: int,
    layers: int = LAYERS,
    resources: int = RESOURCES,
    database: str = "",
) -> Path:
    """Write so many units below a directory; each but those of the first layer reads two states.

    States are in local files, those of every second unit in a `database` of PostgreSQL, if there is
    one.
    """
    width = -(-units // layers)
    for number in range(units):
        layer = number // width
        directory = root / f"layer{layer}" / f"unit{number}"
        directory.mkdir(parents=True, exist_ok=True)
        first = (layer - 1) * width
        needed = [first + (number * 7 + each * 3) % width for each in range(2)] if layer else []
        text = _unit(layer, number, needed, resources, database)
        (directory / "main.tf").write_text(text)
    return root


def _is_elsewhere(number: int, database: str) -> bool:
    return bool(database) and number % 2 == 1


def _backend(number: int, database: str) -> str:
    if not _is_elsewhere(number, database):
        return ""
    return f'''terraform {{
  backend "pg" {{
    conn_str    = "{database}"
    schema_name = "unit{number}"
  }}
}}
'''


def _reading(index: int, layer: int, number: int, database: str) -> str:
    backend, arguments = "local", f'path = "../../layer{layer}/unit{number}/terraform.tfstate"'
    if _is_elsewhere(number, database):
        backend = "pg"
        arguments = f'conn_str = "{database}", schema_name = "unit{number}"'
    return f"""data "terraform_remote_state" "needed{index}" {{
  backend = "{backend}"
  config  = {{ {arguments} }}
}}
"""


def _unit(layer: int, number: int, needed: list[int], resources: int, database: str) -> str:
    has_own = number % _EVERY == 0
    parts = [_REQUIRED] if has_own else []
    parts.append(_backend(number, database))
    parts += [_reading(i, layer - 1, each, database) for i, each in enumerate(needed)]
    parts.append(
        f'variable "size" {{\n  default = 3\n}}\nlocals {{\n  name = "unit-{number}"\n}}\n'
    )
    for each in range(resources):
        given = "local.name"
        if needed:
            given = f"data.terraform_remote_state.needed{each % len(needed)}.outputs.id"
        kind, argument = ("bench_thing", "name") if has_own else ("terraform_data", "input")
        parts.append(f'resource "{kind}" "r{each}" {{\n  {argument} = {given}\n}}\n')
    result = "bench_thing.r0.made" if has_own else "terraform_data.r0.output"
    parts.append(f'output "id" {{\n  value = {result}\n}}\n')
    parts.append('output "name" {\n  value = "${local.name}-${var.size}"\n}\n')
    return "".join(parts)

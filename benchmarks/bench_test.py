"""`nigari test` beside `tofu test`, as whole commands in the same directories, with mocks.

Without the real programs (`make peers`) there are no cases.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.harness import Case, Work
from scripts.peers import cache

_PEERS: Final = cache()
_OWN: Final = (sys.executable, "-m", "nigari")
_PROVIDERS: Final = ("random", "local")
_FILES: Final = 40
_RUNS: Final = 5

_MODULE: Final = """
variable "name" {
  type = string
}
resource "random_pet" "a" {
  prefix = var.name
}
resource "local_file" "f" {
  count    = 3
  filename = "${random_pet.a.id}-${count.index}"
  content  = "x"
}
output "id" {
  value = random_pet.a.id
}
"""
_MOCKS: Final = """
mock_provider "random" {
  mock_resource "random_pet" {
    defaults = { id = "pet" }
  }
}
mock_provider "local" {}
"""


def cases() -> list[Case]:
    """All comparisons."""
    tofu = _PEERS / "bin" / "tofu"
    plugins = [_PEERS / "bin" / f"terraform-provider-{name}" for name in _PROVIDERS]
    if not all(each.is_file() for each in (tofu, *plugins)):
        return []
    root = Path(tempfile.mkdtemp(prefix="nigari-bench-"))
    settings = root / "cli.tofurc"
    overrides = "".join(f'    "hashicorp/{name}" = "{tofu.parent}"\n' for name in _PROVIDERS)
    settings.write_text(f"provider_installation {{\n  dev_overrides {{\n{overrides}  }}\n}}\n")
    environment = {**os.environ, "TF_CLI_CONFIG_FILE": str(settings)}
    work = root / "module"
    _write(work)

    def run(*command: str) -> Work:
        def run() -> None:
            subprocess.run(
                command,
                cwd=work,
                env=environment,
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

        return run

    one = "-filter=tests/f00.tftest.hcl"
    whole = f"test {_FILES} files of {_RUNS} runs"
    return [
        Case(whole, run(*_OWN, "test"), "tofu", run(str(tofu), "test"), 5.0, 5.0),
        Case("test 1 file", run(*_OWN, "test", one), "tofu", run(str(tofu), "test", one), 1.5, 1.5),
    ]


def _write(work: Path) -> None:
    """Write the module and its tests."""
    (work / "tests").mkdir(parents=True)
    (work / "main.tf").write_text(_MODULE)
    runs = [
        f'run "r{at}" {{\n  variables {{\n    name = "n{at}"\n  }}\n  assert {{\n'
        '    condition     = output.id == "pet"\n    error_message = "id"\n  }\n}\n'
        for at in range(_RUNS)
    ]
    for index in range(_FILES):
        name = f"f{index:02}.tftest.hcl"
        (work / "tests" / name).write_text(_MOCKS + "".join(runs))

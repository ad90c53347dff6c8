"""Processor time of whole commands beside `tofu`: ten resources without plugins, and the commands
about states and workspaces in a directory as people have them.

Processor time is compared, as these commands hardly wait. Without the real program (`make peers`)
there are no cases.
"""

import atexit
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.configurations import resource_chains
from benchmarks.harness import Case
from scripts.peers import cache

OWN: Final = (sys.executable, "-m", "nigari")
_TEN: Final = ("plan", "apply -auto-approve", "validate", "console", "graph", "providers")
_SMALL: Final = (
    "output -raw plain",
    "state list",
    "state show terraform_data.a[0]",
    "workspace list",
    "taint terraform_data.a[0]",
)
_AT_MOST: Final = 0.77
"""Ten resources take at most 1.3 times as long as with the real program."""
_ORDINARY: Final = """\
terraform {
  required_version = ">= 1.6"
}
variable "n" { default = 2 }
resource "terraform_data" "a" {
  count = var.n
  input = "x${count.index}"
}
output "plain" { value = "p" }
"""


def cases() -> list[Case]:
    """All comparisons."""
    tofu = cache() / "bin" / "tofu"
    if not tofu.is_file():
        return []
    base = Path(tempfile.mkdtemp(prefix="nigari-bench-"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    ten, ordinary = resource_chains(base / "ten", 10), base / "ordinary"
    ordinary.mkdir()
    (ordinary / "main.tf").write_text(_ORDINARY, encoding="utf-8")
    for arguments in ("init", "apply -auto-approve"):
        processor_time((str(tofu), *arguments.split()), ordinary)
    state = (ordinary / "terraform.tfstate").read_bytes()

    def restore() -> None:
        (ordinary / "terraform.tfstate").write_bytes(state)

    def forget() -> None:
        for left in ten.glob("*.tfstate*"):
            left.unlink()

    return [
        *(_case(f"{each}, ten resources", each, ten, tofu, forget, _AT_MOST) for each in _TEN),
        *(_case(each, each, ordinary, tofu, restore, 1.0) for each in _SMALL),
    ]


def _case(
    name: str, arguments: str, where: Path, tofu: Path, prepare: Callable[[], None], wanted: float
) -> Case:
    ours, theirs = (*OWN, *arguments.split()), (str(tofu), *arguments.split())
    return Case(
        f"{name}, processor",
        lambda: 1000 * processor_time(ours, where),
        "tofu",
        lambda: 1000 * processor_time(theirs, where),
        wanted,
        wanted,
        prepare=prepare,
        gauge="ms",
    )


def processor_time(command: tuple[str, ...], where: Path) -> float:
    """Run a command, and give the seconds that processors were busy with it."""
    # The real program complains where this names no file.
    settings = Path(tempfile.gettempdir()) / "nigari-bench-tofurc"
    settings.touch()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command,
        cwd=where,
        env={**os.environ, "TF_CLI_CONFIG_FILE": str(settings)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

"""`init` of many module calls, each in a directory without anything installed.

Without the real programs (`make peers`) there are no cases.
"""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.harness import Case
from scripts.peers import cache

_PEERS: Final = cache()
_GIT_CALLS: Final = 1000
_LOCAL_CALLS: Final = 2000
_MODULE: Final = """
variable "x" {
  type = string
}
resource "terraform_data" "a" {
  input = var.x
}
resource "terraform_data" "b" {
  input = terraform_data.a.output
}
output "id" {
  value = terraform_data.b.id
}
"""


def cases() -> list[Case]:
    """All comparisons."""
    tofu = _PEERS / "bin" / "tofu"
    if not tofu.is_file() or shutil.which("git") is None:
        return []
    base = Path(tempfile.mkdtemp(prefix="nigari-bench-"))
    # What the peer installs is more than a gigabyte.
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    (base / "tofurc").write_text("")
    git, local = _git_calls(base), _local_calls(base)
    return [
        _case(f"init of {_GIT_CALLS} calls of one git module", git, tofu, 5),
        _case(f"init of {_LOCAL_CALLS} local modules", local, tofu, 1.5),
    ]


def disk_use(directory: Path) -> int:
    """What a directory takes on disk, in bytes."""
    total = 0
    for folder, _, names in os.walk(directory):
        total += sum(os.lstat(os.path.join(folder, name)).st_blocks * 512 for name in names)
    return total


def _case(name: str, directory: Path, tofu: Path, wanted: float) -> Case:
    mine = _init(directory, [sys.executable, "-m", "nigari", "init"])
    theirs = _init(directory, [str(tofu), "init"])

    def clear() -> None:
        shutil.rmtree(directory / ".terraform", ignore_errors=True)

    theirs()
    most = disk_use(directory / ".terraform")
    clear()
    mine()
    least = disk_use(directory / ".terraform")
    print(f"{name}: {least / 1e6:.1f} MB on disk, tofu {most / 1e6:.1f} MB")
    return Case(name, mine, "tofu", theirs, wanted, wanted, prepare=clear)


def _init(directory: Path, command: list[str]) -> Callable[[], None]:
    environ = {**os.environ, "TF_CLI_CONFIG_FILE": str(directory.parent / "tofurc")}

    def run() -> None:
        subprocess.run(command, cwd=directory, env=environ, capture_output=True, check=True)

    return run


def _git_calls(base: Path) -> Path:
    """A repository with one module and some ballast, and a configuration that calls it."""
    repository = base / "repository"
    repository.mkdir()
    (repository / "main.tf").write_text(_MODULE)
    (repository / "ballast").write_bytes(os.urandom(2_600_000))
    author = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for arguments in (("init", "-q"), ("add", "."), (*author, "commit", "-q", "-m", "all")):
        subprocess.run(["git", *arguments], cwd=repository, check=True)
    source = f"git::file://{repository}"
    return _configuration(base / "git", [source] * _GIT_CALLS)


def _local_calls(base: Path) -> Path:
    directory = base / "local"
    for index in range(_LOCAL_CALLS):
        module = directory / "modules" / f"m{index}"
        module.mkdir(parents=True)
        (module / "main.tf").write_text(_MODULE)
    return _configuration(directory, [f"./modules/m{index}" for index in range(_LOCAL_CALLS)])


def _configuration(directory: Path, sources: list[str]) -> Path:
    directory.mkdir(exist_ok=True)
    calls = [
        f'module "m{index}" {{\n  source = "{source}"\n  x      = "{index}"\n}}\n'
        for index, source in enumerate(sources)
    ]
    (directory / "main.tf").write_text("".join(calls))
    return directory

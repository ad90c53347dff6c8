"""`nigari validate` beside `tofu validate`, as whole commands in the same directories.

Without the real program (`make peers`) there are no cases.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.configurations import module_calls, resource_chains
from benchmarks.harness import Case, Work
from scripts.peers import cache

_PEERS: Final = cache()

_SIZES: Final[tuple[tuple[str, Callable[[Path, int], Path], int, float], ...]] = (
    ("10 resources", resource_chains, 10, 0.4),
    ("100 module calls", module_calls, 100, 0.0),
    ("400 module calls", module_calls, 400, 1.0),
    ("1,000 module calls", module_calls, 1000, 0.0),
    ("2,000 module calls", module_calls, 2000, 2.0),
    ("1,000 resources", resource_chains, 1000, 0.0),
    ("4,000 resources", resource_chains, 4000, 1.0),
)


def cases() -> list[Case]:
    """All comparisons."""
    tofu = _PEERS / "bin" / "tofu"
    if not tofu.is_file():
        return []
    root = Path(tempfile.mkdtemp(prefix="nigari-bench-"))
    (root / "cli.rc").touch()
    environment = {**os.environ, "TF_CLI_CONFIG_FILE": str(root / "cli.rc")}
    found = []
    for name, make, size, wanted in _SIZES:
        directory = make(root / name.replace(" ", "-").replace(",", ""), size)
        _command(environment, directory, str(tofu), "init")()
        found.append(
            Case(
                f"validate {name}",
                _command(environment, directory, sys.executable, "-m", "nigari", "validate"),
                "tofu",
                _command(environment, directory, str(tofu), "validate"),
                wanted,
                wanted,
            )
        )
    return found


def _command(environment: dict[str, str], directory: Path, *command: str) -> Work:
    def run() -> None:
        subprocess.run(
            command, cwd=directory, env=environment, check=True, stdout=subprocess.DEVNULL
        )

    return run

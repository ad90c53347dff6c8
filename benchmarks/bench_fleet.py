"""`nigari fleet` beside `tofu` in each directory, two at a time and in the right order.

Without the real program (`make peers`) only the growth is measured. The units are applied first:
`tofu plan` cannot plan what reads a state that is not there. Where PostgreSQL is on the machine, every
second state is there.
"""

import atexit
import glob
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.fleets import fleet, settings
from benchmarks.harness import Case
from scripts.peers import cache
from tests.backends.world import postgres

_OWN: Final = (sys.executable, "-m", "nigari", "fleet")
_MANY: Final = 1000
_GROWTH: Final = 2.2
"""How much more twice as many units may cost."""
_FASTER: Final = 5.0
_FILTERS: Final = 290


def cases() -> list[Case]:
    """All comparisons."""
    # Both programs look there for the provider that is written in Python.
    root = Path(tempfile.mkdtemp(prefix="nigari-bench-fleet-"))
    os.environ["TF_CLI_CONFIG_FILE"] = str(settings(root))
    many, half = fleet(root / "many", _MANY), fleet(root / "half", _MANY // 2)
    units = sorted(each.parent.relative_to(many) for each in many.glob("*/*/main.tf"))
    _commit(many)
    filters = [f"-only={each}" for each in units[:: _MANY // _FILTERS]][:_FILTERS]
    found = [
        Case(f"fleet list, {_MANY:,} units", partial(_run, many, "list", "-names")),
        Case(f"fleet graph, {_MANY:,} units", partial(_run, many, "graph", "-format=json")),
        Case(
            f"fleet list -changed-since, {_FILTERS} filters",
            partial(_run, many, "list", "-names", "-changed-since=HEAD", *filters),
            "one filter",
            partial(_run, many, "list", "-names", "-changed-since=HEAD", "-only=layer0"),
            0.8,
            0.8,
        ),
        Case(
            f"fleet plan, {_MANY:,} units, growth",
            partial(_run, many, "plan", "-jobs=2"),
            "half of them",
            partial(_run, half, "plan", "-jobs=2"),
            1 / _GROWTH,
            1 / _GROWTH,
        ),
    ]
    tofu = cache() / "bin" / "tofu"
    if tofu.is_file():
        compared = fleet(root / "compared", _MANY, database=_database())
        _run(compared, "init", "-jobs=2")
        _run(compared, "apply", "-auto-approve", "-jobs=2")
        found.append(
            Case(
                f"fleet plan, {_MANY:,} units",
                partial(_run, compared, "plan", "-jobs=2"),
                "tofu, xargs -P 2",
                partial(_each, compared, str(tofu)),
                _FASTER,
                _FASTER,
            )
        )
    return found


def _database() -> str:
    """The address of a database that lives as long as this program; empty where there is none."""
    if not glob.glob("/usr/lib/postgresql/*/bin/postgres") and shutil.which("postgres") is None:
        return ""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(postgres.running()).conn_str


def _commit(root: Path) -> None:
    """Have git know all files, and one change since."""
    git = ("git", "-c", "user.name=bench", "-c", "user.email=bench@example.com")
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "all")):
        subprocess.run((*git, *arguments), cwd=root, check=True, capture_output=True)
    with open(root / "layer0" / "unit0" / "main.tf", "a") as file:
        file.write("# changed\n")


def _run(root: Path, *arguments: str) -> None:
    subprocess.run((*_OWN, *arguments), cwd=root, check=True, capture_output=True)


def _each(root: Path, tofu: str) -> None:
    """Plan in each directory, layer by layer."""
    directories = "\n".join(str(each.parent) for each in sorted(root.glob("layer*/*/main.tf")))
    subprocess.run(
        ("xargs", "-P", "2", "-I{}", tofu, "-chdir={}", "plan", "-input=false"),
        input=directories.encode(),
        check=True,
        capture_output=True,
    )

"""`nigari fleet` beside `tofu` in each directory, two at a time and in the right order.

Without the real program (`make peers`) only the growth is measured. The units are applied first:
`tofu plan` cannot plan what reads a state that is not there.
"""

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.fleets import fleet, settings
from benchmarks.harness import Case
from scripts.peers import cache

_OWN: Final = (sys.executable, "-m", "nigari", "fleet")
_COMPARED: Final = 480
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
    filters = [f"-only={each}" for each in units[:: _MANY // _FILTERS]][:_FILTERS]
    found = [
        Case(f"fleet list, {_MANY:,} units", partial(_run, many, "list", "-names")),
        Case(f"fleet graph, {_MANY:,} units", partial(_run, many, "graph", "-format=json")),
        Case(
            f"fleet list, {_FILTERS} filters",
            partial(_run, many, "list", "-names", *filters),
            "one filter",
            partial(_run, many, "list", "-names", "-only=layer0"),
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
        compared = fleet(root / "compared", _COMPARED)
        _run(compared, "apply", "-auto-approve", "-jobs=2")
        found.append(
            Case(
                f"fleet plan, {_COMPARED} units",
                partial(_run, compared, "plan", "-jobs=2"),
                "tofu, xargs -P 2",
                partial(_each, compared, str(tofu)),
                _FASTER,
                _FASTER,
            )
        )
    return found


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

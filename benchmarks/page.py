"""The page about speed: what was measured, on which machine, and where the real program is faster."""

import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from benchmarks.growth import Growth, growths, picture
from benchmarks.harness import Result
from nigari.version import VERSION
from scripts.peers import cache

_PICTURES: Final = "pictures/growth"
_BEGINNING: Final = """\
# Performance

`make bench` runs Nigari beside OpenTofu and beside libraries for Python, and writes this page. Both
sides take turns on the same machine, and the best time of each counts. A ratio above 1 means that
Nigari is faster, or needs less memory.

"""
_CASES: Final = """\
| case | Nigari | other program | its result | ratio |
| --- | --- | --- | --- | --- |
"""


def write_page(results: list[Result], path: Path, amount: Callable[[Result, float], str]) -> None:
    """Write the page, and the pictures beside it."""
    curves = growths()
    pictures = path.parent / _PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    for each in curves:
        (pictures / f"{each.name}.svg").write_text(picture(each), encoding="utf-8")
    compared = [each for each in results if each.ratio is not None]
    slower = [each for each in compared if each.case.peer_name == "tofu" and _ratio(each) < 1]
    parts = [_BEGINNING, _surroundings(), "\n## Where OpenTofu is faster\n\n"]
    parts.append(_table(slower, amount) if slower else "In none of these cases.\n")
    parts += ["\n## All cases\n\n", _table(compared, amount)]
    parts += ["\n## Growth\n\n", "Processor time of a plan, by the size of the configuration.\n"]
    parts.extend(map(_section, curves))
    path.write_text("".join(parts), encoding="utf-8")


def _ratio(result: Result) -> float:
    return result.ratio or 0.0


def _surroundings() -> str:
    """The machine, the versions and the date, as a table."""
    rows = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{_processor()}, {os.cpu_count()} processors",
        "system": f"{platform.system()} {platform.release()}",
        "Nigari": f"{VERSION}, Python {platform.python_version()}",
        "OpenTofu": _tofu_version(),
    }
    lines = [f"| {name} | {text} |\n" for name, text in rows.items()]
    return "".join(["| measured | |\n| --- | --- |\n", *lines])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _tofu_version() -> str:
    tofu = cache() / "bin" / "tofu"
    if not tofu.is_file():
        return "not built: run `make peers`"
    told = subprocess.run([str(tofu), "version"], capture_output=True, text=True, check=True).stdout
    # It may complain about its settings first.
    return told.partition("OpenTofu v")[2].split()[0]


def _table(results: Iterable[Result], amount: Callable[[Result, float], str]) -> str:
    rows = [
        f"| {each.case.name} | {amount(each, each.ours)} | {each.case.peer_name} "
        f"| {amount(each, each.peer or 0.0)} | {_ratio(each):.2f} |\n"
        for each in results
    ]
    return "".join([_CASES, *rows])


def _section(growth: Growth) -> str:
    """A workload: its picture, and the numbers in it."""
    sizes = sorted({size for of in growth.seconds.values() for size in of})
    rows = [
        f"| {name} | " + " | ".join(f"{of[n]:.2f} s" if n in of else "-" for n in sizes) + " |\n"
        for name, of in growth.seconds.items()
    ]
    title = f"{growth.about[0].upper()}{growth.about[1:]}"
    return "".join(
        [
            f"\n### {title}\n\n![Processor time of plans with {growth.about}]",
            f"({_PICTURES}/{growth.name}.svg)\n\n",
            "| | " + " | ".join(f"{n:,}" for n in sizes) + " |\n",
            "| --- |" + " --- |" * len(sizes) + "\n",
            *rows,
        ]
    )

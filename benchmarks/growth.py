"""How the processor time of plans grows with the size of configurations, beside `tofu`, as pictures."""

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.bench_commands import OWN, processor_time
from benchmarks.configurations import (
    instances,
    module_calls,
    module_references,
    resource_chains,
    whole_references,
)
from scripts.peers import cache

_SIZES: Final = (125, 250, 500, 1000, 2000)
_ROUNDS: Final = 3
_TOO_LONG: Final = 4.0
"""Seconds after which a program is not given anything larger."""
_WORKLOADS: Final[Mapping[str, tuple[str, Callable[[Path, int], Path]]]] = {
    "resources": ("resource blocks that refer to each other", resource_chains),
    "instances": ("instances of one resource", instances),
    "modules": ("calls of a module with two resources", module_calls),
    "references": ("instances that each refer to all of another resource", whole_references),
    "outputs": ("instances that each refer to all of a module call", module_references),
}
_WIDTH, _HEIGHT, _LEFT, _TOP = 480, 260, 56, 16
_COLOURS: Final = {"Nigari": "#0969da", "OpenTofu": "#bc4c00"}


@dataclass(frozen=True, slots=True)
class Growth:
    """The times of one workload: seconds by program and size."""

    name: str
    about: str
    seconds: Mapping[str, Mapping[int, float]]


def growths() -> list[Growth]:
    """Measure all workloads; none without the real program."""
    tofu = cache() / "bin" / "tofu"
    if not tofu.is_file():
        return []
    programs = {"Nigari": OWN, "OpenTofu": (str(tofu),)}
    with tempfile.TemporaryDirectory(prefix="nigari-bench-") as base:
        return [
            Growth(name, about, _measured(make, Path(base) / name, programs))
            for name, (about, make) in _WORKLOADS.items()
        ]


def _measured(
    make: Callable[[Path, int], Path], base: Path, programs: Mapping[str, tuple[str, ...]]
) -> Mapping[str, Mapping[int, float]]:
    found: dict[str, dict[int, float]] = {name: {} for name in programs}
    for size in _SIZES:
        directory = make(base / str(size), size)
        processor_time((*programs["OpenTofu"], "get"), directory)
        for _ in range(_ROUNDS):
            for name, program in programs.items():
                if max(found[name].values(), default=0.0) < _TOO_LONG:
                    taken = processor_time((*program, "plan"), directory)
                    found[name][size] = min(taken, found[name].get(size, math.inf))
    return found


def picture(growth: Growth) -> str:
    """Draw the times of a workload, both axes with logarithms: what grows linearly has one slope."""
    times = [each for of in growth.seconds.values() for each in of.values()]
    low, high = (math.floor(math.log10(min(times))), math.ceil(math.log10(max(times))))
    first, last = math.log10(_SIZES[0]), math.log10(_SIZES[-1])

    def at(size: int, seconds: float) -> tuple[float, float]:
        x = _LEFT + (_WIDTH - _LEFT - 90) * (math.log10(size) - first) / (last - first)
        share = (math.log10(seconds) - low) / (high - low)
        return round(x, 1), round(_TOP + (_HEIGHT - _TOP - 40) * (1 - share), 1)

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
            'font-family="system-ui, sans-serif" font-size="12" fill="#57606a">'
        ),
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="8" fill="#ffffff"/>',
    ]
    for power in range(low, high + 1):
        x, y = at(_SIZES[0], 10.0**power)
        end = at(_SIZES[-1], 1.0)[0]
        parts.append(f'<path d="M{x} {y}H{end}" stroke="#d0d7de"/>')
        parts.append(f'<text x="{x - 6}" y="{y + 4}" text-anchor="end">{10.0**power:g} s</text>')
    for size in _SIZES:
        x = at(size, 1.0)[0]
        parts.append(f'<text x="{x}" y="{_HEIGHT - 12}" text-anchor="middle">{size:,}</text>')
    for name, of in growth.seconds.items():
        parts.extend(_curve(name, [at(*each) for each in of.items()]))
    return "\n".join([*parts, "</svg>", ""])


def _curve(name: str, points: Sequence[tuple[float, float]]) -> list[str]:
    colour, way = _COLOURS[name], " ".join(f"{x},{y}" for x, y in points)
    x, y = points[-1]
    return [
        f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>',
        f'<text x="{x + 6}" y="{y + 4}" fill="{colour}">{name}</text>',
    ]

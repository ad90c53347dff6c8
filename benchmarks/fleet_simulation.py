"""A simulation of a large fleet on a cluster: what the scheduler, the store of packages and the
backends see.

    python -m benchmarks.fleet_simulation

Units are in layers, each needs two of the layer before it, and begins when a thread is free and all
that it needs is done. Nothing here is measured but what `docs/concepts/fleets.md` says was measured; the rest are
assumptions, named below.
"""

import heapq
import random
from collections import Counter
from dataclasses import dataclass
from typing import Final

_HANDING_OVER: Final = 0.004
"""Seconds of the program for each unit: packing what it reads, and handing it to Dask (measured: 3.9 ms).
Units are handed over one after the other, in an order in which they can be planned.
"""
_TASKS: Final = 3
"""Tasks of Dask for each unit: its package, its plan, and the outputs that it passes on."""


@dataclass(frozen=True)
class World:
    """What is assumed."""

    units: int = 50_000
    layers: int = 6
    machines: int = 100
    threads: int = 4
    """Per machine."""
    seconds: float = 6.0
    """A plan of one unit, nearly all of it waiting for the provider; between half and double."""
    modules: int = 200
    """Directories of modules that units share, each called by many."""
    unit_bytes: int = 8_000
    module_bytes: int = 40_000
    modules_per_unit: int = 4
    requests: int = 4
    """To the backend for each plan: lock, read, read another state, unlock."""


@dataclass(frozen=True)
class Seen:
    """What comes of it."""

    hours: float
    busy: float
    """The part of all threads' time in which they work."""
    tasks_per_second: float
    sent_by_program: int
    """Bytes: each package once."""
    moved_between_workers: int
    """Bytes: each package once to each machine that needs it."""
    backend_requests_per_second: float
    peak_requests: int
    """The most in one second."""


def simulate(world: World, seed: int = 1) -> Seen:
    """Play it through."""
    chance = random.Random(seed)
    width = world.units // world.layers
    waiting, users = _graph(world, width, chance)
    ready = [unit for unit in range(world.units) if not waiting[unit]]
    free = world.machines * world.threads
    running: list[tuple[float, int]] = []
    now = worked = 0.0
    on_machine: set[tuple[int, int]] = set()
    requests: Counter[int] = Counter()
    while ready or running:
        while ready and free:
            unit = heapq.heappop(ready)
            begun_at = max(now, unit * _HANDING_OVER)
            seconds = world.seconds * chance.uniform(0.5, 2.0)
            heapq.heappush(running, (begun_at + seconds, unit))
            worked += seconds
            free -= 1
            machine = chance.randrange(world.machines)
            for _ in range(world.modules_per_unit):
                on_machine.add((machine, chance.randrange(world.modules)))
            requests[int(begun_at)] += world.requests - 1
            requests[int(begun_at + seconds)] += 1
        now, unit = heapq.heappop(running)
        free += 1
        for user in users[unit]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, user)
    threads = world.machines * world.threads
    sent = world.units * world.unit_bytes + world.modules * world.module_bytes
    moved = world.units * world.unit_bytes + len(on_machine) * world.module_bytes
    return Seen(
        now / 3600,
        worked / (now * threads),
        world.units * _TASKS / now,
        sent,
        moved,
        world.units * world.requests / now,
        max(requests.values()),
    )


def _graph(world: World, width: int, chance: random.Random) -> tuple[list[int], list[list[int]]]:
    waiting = [0] * world.units
    users: list[list[int]] = [[] for _ in range(world.units)]
    for unit in range(width, world.units):
        first = (unit // width - 1) * width
        for needed in {first + chance.randrange(width) for _ in range(2)}:
            users[needed].append(unit)
            waiting[unit] += 1
    return waiting, users


def main() -> None:
    """Print what some worlds see."""
    for world in (World(machines=1), World(machines=10), World(), World(machines=400)):
        seen = simulate(world)
        print(
            f"{world.machines:>4} machines: {seen.hours * 60:7.1f} min, threads busy {seen.busy:.0%}, "
            f"{seen.tasks_per_second:6.1f} tasks/s, sent {seen.sent_by_program / 1e6:.0f} MB, "
            f"moved {seen.moved_between_workers / 1e6:.0f} MB, "
            f"{seen.backend_requests_per_second:.0f} requests/s (peak {seen.peak_requests})"
        )


if __name__ == "__main__":
    main()

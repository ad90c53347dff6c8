"""Coroutines run without an event loop until one waits, and then go on as if there had been one."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Coroutine

import pytest

from nigari.event_loop import event_loop, is_running, side_by_side
from nigari.running.driver import WorkerPool
from nigari.workspace.context.asyncio_bridge import run_to_end, run_until_it_waits

Run = Callable[[Coroutine[object, object, object]], object]
RUNS = pytest.mark.parametrize("run", [run_until_it_waits, run_to_end])


async def quick(name: str) -> str:
    return name


async def waiting(name: str) -> str:
    await event_loop()
    assert is_running()
    await asyncio.sleep(0.01)
    return name


@RUNS
@pytest.mark.parametrize("kinds", ["", "q", "qq", "w", "qwq", "ww", "wqwq"])
def test_results_come_in_order(run: Run, kinds: str) -> None:
    works = [(quick if kind == "q" else waiting)(f"{kind}{n}") for n, kind in enumerate(kinds)]
    assert run(side_by_side(works)) == [f"{kind}{n}" for n, kind in enumerate(kinds)]


@RUNS
def test_whoever_waits_waits_with_the_others(run: Run) -> None:
    arrived: list[int] = []

    async def meet(number: int) -> None:
        await event_loop()
        arrived.append(number)
        if number == 2:
            met.set()
        await met.wait()

    met = asyncio.Event()

    run(side_by_side(meet(number) for number in range(3)))
    assert arrived == [0, 1, 2]


@RUNS
@pytest.mark.parametrize("most", [1, 3])
def test_workers_do_what_is_queued_meanwhile(run: Run, most: int) -> None:
    queue, done = deque(range(4)), list[int]()
    busy = 0

    async def perform(number: int) -> None:
        nonlocal busy
        busy += 1
        assert busy <= most
        if number % 5 == 2:
            await waiting("")
        done.append(number)
        if number < 20:
            queue.append(number + 10)
        busy -= 1

    workers = WorkerPool(queue, lambda: perform(queue.popleft()), most)
    run(workers.run())
    assert sorted(done) == [*range(4), *range(10, 14), *range(20, 24)]
    assert workers.busy == 0


@RUNS
@pytest.mark.parametrize("waits", [False, True])
def test_what_fails_fails(run: Run, waits: bool) -> None:
    async def fail() -> None:
        if waits:
            await waiting("")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run(side_by_side([quick("a"), fail()]))


def test_the_loop_of_a_caller_is_not_used() -> None:
    """A notebook calls from inside its own loop, which waits for what it has called."""

    async def cell() -> object:
        async def work() -> list[str]:
            assert not is_running()
            return await side_by_side([quick("a"), waiting("b")])

        assert is_running()
        return run_until_it_waits(work())

    assert asyncio.run(cell()) == ["a", "b"]


def test_something_may_run_beside_what_waits() -> None:
    beside: list[str] = []

    async def companion() -> None:
        while True:
            beside.append("tick")
            await asyncio.sleep(0)

    assert run_until_it_waits(quick("a"), companion) == "a"
    assert not beside
    assert run_until_it_waits(waiting("b"), companion) == "b"
    assert beside


def test_no_asyncio_is_imported_for_what_does_not_wait() -> None:
    import subprocess

    program = (
        "import sys; from nigari.event_loop import side_by_side, first_part\n"
        "async def quick(): return 1\n"
        "assert first_part(side_by_side([quick(), quick()])) == ([1, 1],)\n"
        "assert 'asyncio' not in sys.modules"
    )
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )

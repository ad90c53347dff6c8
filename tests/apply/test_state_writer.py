"""Storing the state beside the work: who waits for it, and who does not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from nigari.apply.state_writer import StateWriter
from nigari.state.model import EMPTY_STATE, State

_SHORT = 0.0
_LONG = 60.0
_COSTLY = 0.03
"""Seconds that a storing takes which is too much for short work to wait for."""


class _Place:
    """A place to store in that may take its time, and those who have results to store."""

    def __init__(self, workers: int = 1, cost: float = 0.0) -> None:
        self.stored = 0
        self.lasting: list[bool] = []
        self.cost = cost
        self.ready = asyncio.Event()
        self.ready.set()
        self.keeper = StateWriter(self._keep, lambda: EMPTY_STATE, lambda: workers)
        self._has_stored = asyncio.Event()

    async def _keep(self, state: State, lasting: bool) -> bool:
        await self.ready.wait()
        await asyncio.sleep(self.cost)
        self.stored += 1
        self.lasting.append(lasting)
        self._has_stored.set()
        return True

    async def next_storing(self) -> None:
        """Wait until something is stored that is not stored yet."""
        self._has_stored.clear()
        await self._has_stored.wait()

    async def learn(self) -> None:
        """Let the keeper learn what storing costs; the first time, which lasts, does not count."""
        await self.keeper.note(_LONG)
        await self.keeper.note(_LONG)


def _run(place: Callable[[], _Place], work: Callable[[_Place], Awaitable[None]]) -> _Place:
    async def run() -> _Place:
        made = place()
        made.keeper.begin()
        try:
            async with asyncio.timeout(60):
                await work(made)
        finally:
            await made.keeper.end()
        return made

    return asyncio.run(run())


def test_who_has_a_result_waits_until_it_is_stored() -> None:
    async def work(place: _Place) -> None:
        for done in range(1, 4):
            await place.keeper.note(_SHORT)
            assert place.stored == done

    _run(_Place, work)


def test_nobody_goes_on_while_nothing_can_be_stored() -> None:
    async def work(place: _Place) -> None:
        place.ready.clear()
        noting = [asyncio.create_task(place.keeper.note(_SHORT)) for _ in range(10)]
        await asyncio.sleep(0.1)
        assert not any(each.done() for each in noting)
        place.ready.set()
        await asyncio.gather(*noting)

    _run(lambda: _Place(10), work)


def test_one_storing_serves_all_who_wait() -> None:
    async def work(place: _Place) -> None:
        await place.learn()
        for _ in range(20):
            await asyncio.gather(*(place.keeper.note(_SHORT) for _ in range(10)))
        assert place.stored <= 2 + 20 + 1

    _run(lambda: _Place(10), work)


def test_nobody_waits_long_for_others_who_may_never_come() -> None:
    async def work(place: _Place) -> None:
        await place.learn()
        async with asyncio.timeout(1):
            await place.keeper.note(_SHORT)

    _run(lambda: _Place(10), work)


def test_short_work_does_not_wait_for_what_takes_longer() -> None:
    async def work(place: _Place) -> None:
        await place.learn()
        place.ready.clear()
        async with asyncio.timeout(1):
            for _ in range(200):
                await place.keeper.note(_SHORT)
        assert place.stored == 2
        place.ready.set()

    _run(lambda: _Place(cost=_COSTLY), work)


def test_long_work_waits_for_what_takes_less() -> None:
    async def work(place: _Place) -> None:
        await place.learn()
        for done in range(3, 6):
            await place.keeper.note(_COSTLY * 10)
            assert place.stored == done

    _run(lambda: _Place(cost=_COSTLY), work)


def test_what_nobody_waits_for_is_stored_soon() -> None:
    async def work(place: _Place) -> None:
        await place.learn()
        await place.keeper.note(_SHORT)
        assert place.stored == 2
        await place.next_storing()
        assert place.stored == 3

    _run(lambda: _Place(cost=_COSTLY), work)


def test_storing_takes_a_small_part_of_the_time() -> None:
    async def work(place: _Place) -> None:
        await place.learn()
        begun = time.monotonic()
        for _ in range(100):
            await place.keeper.note(_SHORT)
            await asyncio.sleep(0.005)
        assert 2 < place.stored <= 3 + (time.monotonic() - begun) / (_COSTLY * 9)

    _run(lambda: _Place(cost=_COSTLY), work)


def test_it_lasts_at_first_and_then_now_and_then() -> None:
    async def work(place: _Place) -> None:
        for _ in range(50):
            await place.keeper.note(_SHORT)

    assert _run(_Place, work).lasting == [True] + [False] * 49


def test_what_is_being_stored_is_finished() -> None:
    async def work(place: _Place) -> None:
        place.ready.clear()
        noting = asyncio.create_task(place.keeper.note(_SHORT))
        await asyncio.sleep(0.05)
        asyncio.get_running_loop().call_later(0.05, place.ready.set)
        noting.cancel()

    assert _run(_Place, work).stored == 1


def test_a_mistake_holds_nobody_up() -> None:
    async def fail(state: State, lasting: bool) -> bool:
        raise ValueError("no")

    async def run() -> None:
        keeper = StateWriter(fail, lambda: EMPTY_STATE, lambda: 1)
        keeper.begin()
        await asyncio.wait_for(keeper.note(_LONG), 5)
        await asyncio.wait_for(keeper.note(_LONG), 5)
        await asyncio.wait_for(keeper.end(), 5)

    asyncio.run(run())


def test_where_storing_asks_for_pauses_nobody_waits() -> None:
    """What is noted is stored after the pause, or at once when it may soon be over."""

    async def work() -> None:
        stored: list[bool] = []

        async def keep(_state: State, lasting: bool) -> bool:
            stored.append(lasting)
            return True

        keeper = StateWriter(keep, lambda: EMPTY_STATE, lambda: 1, pause=60.0)
        keeper.begin()
        await asyncio.wait_for(keeper.note(_LONG), 5)
        await asyncio.sleep(0.05)
        assert not stored
        keeper.hurry()
        await asyncio.sleep(0.05)
        assert len(stored) == 1
        await asyncio.wait_for(keeper.note(_LONG), 5)
        assert len(stored) == 2
        await keeper.end()

    asyncio.run(work())

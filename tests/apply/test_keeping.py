"""Storing the state beside the work: who waits for it, and who does not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from nigari.apply.keeping import Keeper
from nigari.state.model import EMPTY_STATE, State

_LONG = 1.0
_SHORT = 0.0


class _Disk:
    """Stores when it is allowed to."""

    def __init__(self) -> None:
        self.stored = 0
        self.ready = asyncio.Event()
        self.ready.set()

    async def keep(self, state: State) -> bool:
        await self.ready.wait()
        self.stored += 1
        return True


def _with_keeper(work: Callable[[Keeper, _Disk], Awaitable[None]]) -> _Disk:
    async def run() -> _Disk:
        disk = _Disk()
        keeper = Keeper(disk.keep, lambda: EMPTY_STATE)
        keeper.begin()
        try:
            await work(keeper, disk)
        finally:
            await keeper.end()
        return disk

    return asyncio.run(run())


async def _store_slowly(keeper: Keeper, disk: _Disk, seconds: float = 0.02) -> None:
    """Let the keeper learn that storing takes its time."""
    disk.ready.clear()
    asyncio.get_running_loop().call_later(seconds, disk.ready.set)
    await keeper.note(_LONG)


def test_long_work_waits() -> None:
    async def work(keeper: Keeper, disk: _Disk) -> None:
        for done in range(1, 4):
            await keeper.note(_LONG)
            assert disk.stored == done

    _with_keeper(work)


def test_short_work_does_not_wait() -> None:
    async def work(keeper: Keeper, disk: _Disk) -> None:
        await _store_slowly(keeper, disk)
        disk.ready.clear()
        for _ in range(20):
            await keeper.note(_SHORT)
        assert disk.stored == 1
        disk.ready.set()

    _with_keeper(work)


def test_not_too_much_piles_up() -> None:
    async def work(keeper: Keeper, disk: _Disk) -> None:
        await _store_slowly(keeper, disk)
        for _ in range(500):
            await keeper.note(_SHORT)
        assert 1 < disk.stored < 20

    _with_keeper(work)


def test_short_work_is_stored_while_nothing_else_ends() -> None:
    async def work(keeper: Keeper, disk: _Disk) -> None:
        await _store_slowly(keeper, disk)
        await keeper.note(_SHORT)
        await asyncio.sleep(0.5)
        assert disk.stored == 2

    _with_keeper(work)


def test_what_is_being_stored_is_finished() -> None:
    async def work(keeper: Keeper, disk: _Disk) -> None:
        await _store_slowly(keeper, disk)
        disk.ready.clear()
        await keeper.note(_SHORT)
        await asyncio.sleep(0.4)
        asyncio.get_running_loop().call_later(0.05, disk.ready.set)

    assert _with_keeper(work).stored == 2


def test_a_mistake_holds_nobody_up() -> None:
    async def fail(state: State) -> bool:
        raise ValueError("no")

    async def run() -> None:
        keeper = Keeper(fail, lambda: EMPTY_STATE)
        keeper.begin()
        await asyncio.wait_for(keeper.note(_LONG), 5)
        await asyncio.wait_for(keeper.note(_LONG), 5)
        with pytest.raises(ValueError, match="no"):
            await keeper.end()

    asyncio.run(run())

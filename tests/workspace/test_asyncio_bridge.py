"""Coroutines that wait get an event loop; those that do not get along without."""

import asyncio

import pytest

from nigari.workspace.context.asyncio_bridge import run_to_end, run_until_it_waits


async def _loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def _waiting() -> tuple[bool, bool, str]:
    before = await _loop()
    await asyncio.sleep(0)
    after = await _loop()
    return before is None, after is not None, await asyncio.sleep(0.001, "waited")


async def _failing(waits: bool) -> None:
    if waits:
        await asyncio.sleep(0)
    raise LookupError("for a test")


def test_what_does_not_wait_runs_without_a_loop() -> None:
    assert run_until_it_waits(_loop()) is None
    assert run_to_end(_loop()) is not None


def test_what_waits_goes_on_in_a_loop() -> None:
    assert run_until_it_waits(_waiting()) == (True, True, "waited")


def test_what_waits_inside_a_running_loop_goes_on_in_another() -> None:
    async def whole() -> tuple[bool, bool, str]:
        return run_until_it_waits(_waiting())

    assert run_to_end(whole()) == (False, True, "waited")


@pytest.mark.parametrize("waits", [False, True])
def test_failures_come_through(waits: bool) -> None:
    with pytest.raises(LookupError, match="for a test"):
        run_until_it_waits(_failing(waits))

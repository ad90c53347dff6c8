"""The order in which units are worked with."""

from __future__ import annotations

import asyncio

import pytest

from nigari.fleet.work.walk import Walk
from tests.limits import costs_little

_NEEDS = {"b": ["a"], "c": ["b"], "d": ["a", "x"], "e": ["c", "d"]}
_ALL = ["a", "b", "c", "d", "e", "x"]


def _walk(failing: set[str], stop_after: str = "") -> tuple[list[str], dict[str, str | None]]:
    done: list[str] = []
    skipped: dict[str, str | None] = {}

    async def whole() -> None:
        async def work(name: str) -> bool:
            await asyncio.sleep(0)
            done.append(name)
            if name == stop_after:
                walk.stop()
            return name not in failing

        walk = Walk(_ALL, _NEEDS, work, skipped.__setitem__)
        await walk.run()

    asyncio.run(whole())
    return done, skipped


def test_everything_comes_after_what_it_needs() -> None:
    done, skipped = _walk(set())
    assert sorted(done) == _ALL
    assert not skipped
    for name, needs in _NEEDS.items():
        assert all(done.index(each) < done.index(name) for each in needs)


def test_a_failure_is_the_reason_for_all_that_depends_on_it() -> None:
    done, skipped = _walk({"b"})
    assert sorted(done) == ["a", "b", "d", "x"]
    assert skipped == {"c": "b", "e": "b"}


def test_what_is_stopped_begins_nothing_more() -> None:
    done, skipped = _walk(set(), "x")
    assert set(done) <= {"a", "x"}
    assert set(done) | set(skipped) == set(_ALL)


def test_what_work_raises_is_raised() -> None:
    async def work(name: str) -> bool:
        raise RuntimeError(name)

    with pytest.raises(RuntimeError):
        asyncio.run(Walk(["a"], {}, work).run())


def test_many_units_cost_what_they_should() -> None:
    async def work(_: str) -> bool:
        return True

    names = [str(each) for each in range(100_000)]
    needs = {str(each): [str(each - 1000)] for each in range(1000, len(names))}
    with costs_little():
        asyncio.run(Walk(names, needs, work).run())

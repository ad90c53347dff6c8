"""Killing an apply at random moments, again and again, and looking at what is left each time."""

from __future__ import annotations

import random
import time

from tests.apply.journal import MANY, Yard, is_running, wait_until

RESOURCES = 200
_PARALLEL = 10


def kill_again_and_again(yard: Yard, times: int, seed: int = 0, pause: float = 0.1) -> None:
    """Kill an apply so many times; the state and the journal must agree up to calls in flight.

    A call of the provider takes as long as the pause.

    Each apply starts from what the one before has left. Once everything is there, the next one
    changes all of it.
    """
    chance = random.Random(seed)
    yard.write(MANY.format(count=RESOURCES, pause=pause))
    value = 0
    for _ in range(times):
        if list(yard.stored().values()) == [str(value)] * RESOURCES:
            value += 1
        before = _not_in_state(yard)
        _kill(yard, value, chance)
        now = _not_in_state(yard)
        assert len(now - before) <= _PARALLEL, f"{len(now - before)} results are not in the state"
    status, said = yard.apply(f"-var=value={value}")
    assert status == 0, said
    stored, world = yard.stored(), yard.world()
    assert list(stored.values()) == [str(value)] * RESOURCES
    assert stored.items() <= world.objects.items()


def _kill(yard: Yard, value: int, chance: random.Random) -> None:
    moment = yard.world().calls + chance.randrange(RESOURCES * 3 // 4)
    process = yard.start("apply", "-auto-approve", f"-var=value={value}")
    wait_until(lambda: process.poll() is not None or yard.world().calls >= moment)
    time.sleep(chance.random() * 0.03)
    process.kill()
    process.wait()
    wait_until(lambda: not any(is_running(pid) for pid in yard.world().processes))


def _not_in_state(yard: Yard) -> set[str]:
    """The objects that the state does not have, or not with the value that they have now."""
    stored, world = yard.stored(), yard.world()
    assert stored.keys() <= world.objects.keys(), "the state has what never was"
    return {each for each, value in world.objects.items() if stored.get(each) != value}

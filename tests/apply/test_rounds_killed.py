"""Applies in rounds that are killed, inside a round and between two of them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.apply.journal import Yard, is_running, wait_until

_COUNT = 12
_PARALLEL = 10
_ROUNDS = f"""\
provider "journal" {{
  journal = "journal.txt"
  pause   = 0.02
}}
resource "journal_entry" "a" {{
  count = {_COUNT}
  name  = "a${{count.index}}"
}}
resource "journal_entry" "b" {{
  for_each = toset([for each in journal_entry.a : each.id])
  name     = each.key
}}
resource "journal_entry" "c" {{
  for_each = toset([for each in journal_entry.b : each.id])
  name     = each.key
}}
"""


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    found = Yard(tmp_path)
    found.write(_ROUNDS)
    return found


def _unknown(yard: Yard) -> int:
    """How many objects there are that the state does not have."""
    stored, world = yard.stored(), yard.world()
    assert stored.keys() <= world.objects.keys(), "the state has what never was"
    return len(world.objects.keys() - stored.keys())


def _kill_at(yard: Yard, calls: int) -> None:
    process = yard.start("apply", "-auto-approve", "-allow-deferral")
    wait_until(lambda: process.poll() is not None or yard.world().calls >= calls)
    process.kill()
    process.wait()
    wait_until(lambda: not any(is_running(pid) for pid in yard.world().processes))


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param(_COUNT // 2, id="inside the first round"),
        pytest.param(_COUNT, id="between the first and the second"),
        pytest.param(_COUNT + _COUNT // 2, id="inside the second round"),
        pytest.param(2 * _COUNT, id="between the second and the third"),
    ],
)
def test_killed(yard: Yard, calls: int) -> None:
    _kill_at(yard, calls)
    lost = _unknown(yard)
    assert lost <= _PARALLEL
    status, said = yard.apply("-allow-deferral")
    assert status == 0, said
    assert _unknown(yard) == lost
    assert len(yard.stored()) == 3 * _COUNT
    assert yard.run("plan", "-detailed-exitcode")[0] == 0


def test_killed_again_and_again(yard: Yard) -> None:
    chance = random.Random(19)
    for _ in range(5):
        before = _unknown(yard)
        _kill_at(yard, yard.world().calls + chance.randrange(1, _COUNT))
        assert _unknown(yard) - before <= _PARALLEL
    status, said = yard.apply("-allow-deferral")
    assert status == 0, said
    assert len(yard.stored()) == 3 * _COUNT

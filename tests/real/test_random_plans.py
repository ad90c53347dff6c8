"""Random configurations, each changed a few times, planned and applied by both programs.

Ours carries out its operations in a random legal order.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.apply.orders import Watch, by_chance
from tests.real.beside import Pair
from tests.real.case_files import Step
from tests.real.random_configurations import Story

pytestmark = pytest.mark.real

_FIRST = int(os.environ.get("NIGARI_SEED", "0"))
_SEEDS = range(_FIRST, _FIRST + 24)
_STEPS = 3


@pytest.mark.parametrize("seed", _SEEDS)
def test_random(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story(seed)
    pair = Pair(tmp_path, monkeypatch)
    watch = Watch(monkeypatch)
    watch.order(by_chance(seed))
    for number in range(_STEPS):
        files = story.next()
        pair.step(f"step {number + 1} of\n{files['main.tf']}", Step(files))
    pair.step("destroy", Step(flags=["-destroy"]))
    assert not watch.early

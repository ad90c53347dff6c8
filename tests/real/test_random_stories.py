"""Random stories, gone through by both programs without a difference that nobody has explained."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.real import program

pytestmark = pytest.mark.real

_FIRST: Final = int(os.environ.get("NIGARI_SEED", "0"))
_ROOT: Final = Path(__file__).parents[2]
_EACH: Final = 5


@pytest.mark.parametrize("seed", range(_FIRST, _FIRST + 4 * _EACH, _EACH))
def test_random_stories(seed: int) -> None:
    program("tofu")
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.differential", "--count", str(_EACH), "--seed", str(seed)],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
